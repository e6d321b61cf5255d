"""Of tools/house: what it counts."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

LOADER = importlib.machinery.SourceFileLoader("house", str(pathlib.Path(__file__).resolve().parent / "house"))
house = importlib.util.module_from_spec(importlib.util.spec_from_loader("house", LOADER))
LOADER.exec_module(house)


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
        self.assertEqual(len(house.OVER.findall("  bool closed() const;\n  bool closed_ = false;\n  std::atomic<bool> over_{false};\n")), 2)


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


if __name__ == "__main__":
    unittest.main()
