# SPDX-License-Identifier: Apache-2.0
"""Of tools/house: what it finds wrong, and what it counts."""
import pathlib
import tempfile
import unittest

from house_classes import Class
from script import script

house = script("house")

PAGE = """
| room | holds | may touch |
| --- | --- | --- |
| `base` | values | |
| `a/pure`, pure | decisions | base |
| `a` | what acts | base a/pure boost/asio |
| `face` | the faces | a faces |
"""


class Rooms(unittest.TestCase):
    def offences(self, file, text):
        """Without what the table has that no file touches."""
        return [it.split(": ", 1)[1] for it in house.offences_in(file, text, house.rooms_of(PAGE))]

    def test_a_room_includes_its_own_headers_and_those_that_its_row_names(self):
        self.assertEqual(self.offences("src/a/x.cpp", '#include "a/y.hpp"\n#include "a/pure/z.hpp"\n#include <vector>\n'), [])
        self.assertEqual(self.offences("src/a/pure/x.cpp", '#include "a/y.hpp"\n'),
                         ['a/pure may not include a ("a/y.hpp")'])

    def test_a_grant_of_a_room_is_none_of_what_lies_in_it(self):
        self.assertEqual(len(self.offences("src/face/x.cpp", '#include "a/pure/z.hpp"\n')), 1)

    def test_every_source_lies_in_a_room_and_every_include_leads_to_one(self):
        self.assertEqual(self.offences("src/other/x.cpp", ""), ["lies in no room of docs/rooms.md"])
        self.assertEqual(len(self.offences("src/a/x.cpp", '#include "y.hpp"\n')), 1)

    def test_what_is_pure_has_no_clock_and_no_thread(self):
        self.assertEqual(len(self.offences("src/a/pure/x.cpp", "#include <mutex>\nnow = Clock::now();\n")), 2)
        self.assertEqual(self.offences("src/a/x.cpp", "#include <mutex>\nnow = Clock::now();\n"), [])

    def test_boost_is_granted_by_parts(self):
        self.assertEqual(self.offences("src/a/x.cpp", "#include <boost/asio/post.hpp>\n#include <boost/asio.hpp>\n"), [])
        self.assertEqual(self.offences("src/a/x.cpp", "#include <boost/json.hpp>\n"),
                         ["a may not include <boost/json.hpp>"])
        self.assertEqual(self.offences("include/holdfast/async.hpp", "#include <boost/asio/post.hpp>\n"), [])
        self.assertEqual(len(self.offences("include/holdfast/lock.hpp", "#include <boost/asio/post.hpp>\n")), 1)

    def test_only_faces_know_faces(self):
        self.assertEqual(self.offences("src/face/x.cpp", "#include <holdfast/client.hpp>\n"), [])
        self.assertEqual(self.offences("src/a/x.cpp", "#include <holdfast/error.hpp>\n"), [])
        for file in ("src/a/x.cpp", "include/holdfast/error.hpp"):
            self.assertEqual(len(self.offences(file, "#include <holdfast/client.hpp>\n")), 1)

    def test_a_library_of_its_own_is_for_itself(self):
        self.assertEqual(len(self.offences("src/face/x.cpp", "#include <holdfast/probe.hpp>\n")), 1)

    def test_a_public_header_includes_nothing_of_the_inside(self):
        self.assertEqual(len(self.offences("include/holdfast/lock.hpp", '#include "a/x.hpp"\n')), 1)

    def test_no_file_is_too_long(self):
        self.assertEqual(self.offences("tests/x.cpp", "// x\n" * 400 + "int x;\n" * 500), [])
        self.assertEqual(len(self.offences("tests/x.cpp", "int x;\n" * 501)), 1)

    def test_the_table_grants_what_is_used_and_leads_one_way(self):
        rooms = house.rooms_of("| `a` | | b |\n| `b` | | a c |\n| `c` | | |\n")
        rooms["a"].may("b"), rooms["b"].may("a")
        self.assertEqual(list(house.offences_of(rooms)),
                         ["docs/rooms.md:1: b does not touch c", "docs/rooms.md:1: not one way: a, b"])


def includes(edges):
    """Of `a>b` for each include."""
    return [(*edge.split(">"), "file:1") for edge in edges.split()]


class Includes(unittest.TestCase):
    def read(self, sources):
        return list(house.includes_of(sources))

    def test_a_header_and_its_source_are_one_component(self):
        self.assertEqual(self.read({"src/a/x.hpp": "", "src/a/x.cpp": '#include "a/x.hpp"\n'}), [])

    def test_each_is_found_with_its_line_whatever_its_brackets(self):
        self.assertEqual(self.read({"include/holdfast/x.hpp": "", "src/a/y.hpp": "",
                                    "src/a/z.cpp": '// z\n#include <holdfast/x.hpp>\n # include "a/y.hpp"\n'}),
                         [("a/z", "holdfast/x", "src/a/z.cpp:2"), ("a/z", "a/y", "src/a/z.cpp:3")])

    def test_what_is_not_ours_does_not_count(self):
        self.assertEqual(self.read({"src/a/z.cpp": '#include <vector>\n// #include "a/y.hpp"\n', "src/a/y.hpp": ""}), [])


class Knots(unittest.TestCase):
    def knots(self, edges):
        return [knot for knot, _ in house.knots_of(includes(edges))]

    def test_one_direction_is_none(self):
        self.assertEqual(self.knots("a>b a>c b>c c>d"), [])

    def test_two_that_include_each_other(self):
        self.assertEqual(self.knots("a>b b>a b>c"), [["a", "b"]])

    def test_all_that_several_circles_have_in_common_are_one(self):
        self.assertEqual(self.knots("a>b b>a b>c c>d d>b e>a d>f"), [["a", "b", "c", "d"]])

    def test_the_largest_comes_first(self):
        self.assertEqual(self.knots("a>b b>a c>d d>e e>c"), [["c", "d", "e"], ["a", "b"]])


class Offences(unittest.TestCase):
    def offences(self, edges):
        return list(house.too_large(house.knots_of(includes(edges))))

    def test_two_are_none_and_three_are_one(self):
        self.assertEqual(self.offences("a>b b>a"), [])
        self.assertEqual(self.offences("a>b b>c c>a"),
                         ["file:1: 3 components include each other in a circle: a, b, c"])


class Warnings(unittest.TestCase):
    def warnings(self, one, exceptions=()):
        return list(house.warnings([one], dict.fromkeys(exceptions, "a reason")))

    def test_more_than_the_limit_is_told(self):
        self.assertEqual(self.warnings(Class("A", "a:1", 25, 20, record=False)), [])
        self.assertEqual(len(self.warnings(Class("A", "a:1", 26, 0, record=False))), 1)
        self.assertEqual(len(self.warnings(Class("A", "a:1", 0, 21, record=False))), 1)

    def test_a_record_may_have_many_fields(self):
        self.assertEqual(self.warnings(Class("A", "a:1", 0, 40)), [])

    def test_a_reason_spares_and_one_that_is_not_needed_is_told(self):
        self.assertEqual(self.warnings(Class("A", "a:1", 26, 0, record=False), ["A"]), [])
        self.assertIn("A needs no exception", self.warnings(Class("A", "a:1", 1, 1, record=False), ["A"])[0])

class Numbers(unittest.TestCase):
    def test_code_is_neither_comment_nor_blank(self):
        self.assertEqual(house.code(['// a\n\nint x;  /* b\n c */\nauto s = "// no comment";\n']), 2)

    def test_a_header_is_lone_with_one_component_besides_its_own(self):
        files = {"src/a/x.hpp": "", "src/a/x.cpp": '#include "a/x.hpp"\n', "src/a/y.cpp": '#include "a/x.hpp"\n'}
        self.assertEqual(house.lone_headers(files), ["a/x"])
        files["src/a/z.hpp"] = '#include "a/x.hpp"\n'
        self.assertEqual(house.lone_headers(files), [])

    def test_an_interface_is_lone_with_one_heir(self):
        files = {"src/a.hpp": "class A {\n  virtual void f() = 0;\n};\nstruct B {\n  int x = 0;\n};\n",
                 "src/b.hpp": "class C final : public A {\n};\nclass D : private B {\n};\n"}
        self.assertEqual(house.lone_interfaces(files), ["A"])
        files["src/d.hpp"] = "class E : public ns::A {\n};\n"
        self.assertEqual(house.lone_interfaces(files), [])

    def test_what_a_member_has_in_braces_is_not_its_class(self):
        files = {"src/a.hpp": "class A {\n  class In {\n    virtual void f() = 0;\n  };\n};\nclass B : public A {\n};\n"}
        self.assertEqual(house.lone_interfaces(files), [])

    def test_a_flag_is_a_member_and_no_question(self):
        self.assertEqual(len(house.OVER.findall("  bool closed() const;\n  bool closed_ = false;\n"
                                                "  std::atomic<bool> over_{false};\n")), 2)


class Licences(unittest.TestCase):
    def test_each_source_and_each_program_names_its_own(self):
        line = "// " + house.LICENCE + "\n"
        self.assertEqual(house.unlicensed([("src/a.cpp", line + "// A."), ("tools/a", "#!/bin/sh\n# " + house.LICENCE + "\n"),
                                           ("docs/a.md", "# A"), ("a/words.txt", "a")]), [])
        found = house.unlicensed([("src/a.lua", "return 1"), ("tools/a", "#!/bin/sh\n"), ("CMakeLists.txt", ""),
                                  ("src/b.hpp", "// B.\n\n\n" + line)])
        self.assertEqual([each.partition(":")[0] for each in found], ["src/a.lua", "tools/a", "CMakeLists.txt", "src/b.hpp"])


class Walks(unittest.TestCase):
    def test_a_name_is_written_once_and_each_walk_has_its_file(self):
        root = house.ROOT
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            (out / "out.1").write_text("desc: Trigger: Client Request: acquire\n"
                                       f"fl=(1) {root}/src/a/x.cpp\nfn=(1) f\n12 3\n"
                                       "fl=(2) /usr/include/vector\nfn=(2) push_back\n1 1\nfl=(1)\nfn=(3) g\n1 1\n")
            (out / "out").write_text("desc: Trigger: Program termination\n")
            self.assertEqual(house.walks(out), {"acquire": {"a/x": {"f", "g"}}})

    def test_the_steps_of_a_walk_are_the_block_under_its_heading(self):
        page = "# Walks\n\n## An acquire\n\n1. text\n\n```\na/x  a/y\nb/z\n```\n\n## A loss\n\ntext\n"
        self.assertEqual(house.steps_of(page), {"acquire": ["a/x", "a/y", "b/z"]})

    def test_a_trace_has_the_components_of_ours_in_order(self):
        places = {"0x1": "/r/src/a/x.cpp:3", "0x2": "/usr/include/c++/12/vector:3", "0x3": "/r/b/../include/holdfast/y.hpp:4"}
        self.assertEqual(house.trace_of("acquire\n0x1\n0x2\n0x1\n0x3\nloss\n0x1\n", places),
                         {"acquire": ["a/x", "holdfast/y"], "loss": ["a/x"]})

    def test_the_first_step_that_is_missed(self):
        self.assertIsNone(house.missed(["a", "c", "a"], ["a", "b", "c", "a"]))
        self.assertEqual(house.missed(["c", "b", "a"], ["a", "b", "c"]), "b")


if __name__ == "__main__":
    unittest.main()
