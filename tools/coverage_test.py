# SPDX-License-Identifier: Apache-2.0
"""Of tools/coverage: what it makes of what gcovr has counted."""
import unittest

from script import script

coverage = script("coverage")


def file(name, *figures):
    return {"filename": name, **dict(zip(("line_total", "line_covered", "branch_total", "branch_covered"), figures))}


class Rooms(unittest.TestCase):
    def test_a_room_is_a_folder_of_src(self):
        rooms = coverage.by_room([file("src/lock/decide/a.hpp", 10, 5, 4, 1), file("src/lock/decide/b.cpp", 2, 2, 0, 0),
                                  file("src/base/c.cpp", 1, 1, 2, 2), file("include/holdfast/detail/d.hpp", 1, 0, 0, 0)])
        self.assertEqual(list(rooms), ["base", "include", "lock/decide", "all"])
        self.assertEqual(rooms["lock/decide"], dict(zip(coverage.FIGURES, (12, 7, 4, 1))))
        self.assertEqual(rooms["all"], dict(zip(coverage.FIGURES, (14, 8, 6, 3))))

    def test_a_room_without_branches_has_no_share_of_them(self):
        text = coverage.table(coverage.by_room([file("include/holdfast/d.hpp", 4, 1, 0, 0)]))
        self.assertEqual([line.split() for line in text[1:]], [["include", "4", "25.0%", "0", "-"], ["all", "4", "25.0%", "0", "-"]])


class Unreached(unittest.TestCase):
    FILES = [{"file": "src/lock/decide/a.cpp", "lines": [{"line_number": 1, "count": 0}, {"line_number": 2, "count": 3},
                                                         {"line_number": 3, "count": 0, "gcovr/noncode": True},
                                                         {"line_number": 4, "count": 0}]}]
    TEXT = ["  a();", "  b();", "", "  c();"]

    def missed(self):
        return list(coverage.unreached(self.FILES, lambda _: self.TEXT))

    def test_is_what_never_ran(self):
        self.assertEqual(self.missed(), [("a.cpp", "a();", 1), ("a.cpp", "c();", 4)])

    def test_each_needs_a_reason_and_each_reason_something(self):
        known = coverage.reasons("# head\nNobody does that.\n  a.cpp: a();\n  a.cpp: c();\n")
        lines, good = coverage.explained(self.missed(), known)
        self.assertTrue(good)
        self.assertIn("    Nobody does that.", lines[0].splitlines())
        del known["a.cpp", "c();"]
        self.assertFalse(coverage.explained(self.missed(), known)[1])
        known["a.cpp", "c();"] = known["a.cpp", "d();"] = "Because."
        self.assertFalse(coverage.explained(self.missed(), known)[1])

    def test_the_lines_with_reasons_are_in_the_sources(self):
        known = coverage.reasons(coverage.REASONS.read_text())
        self.assertTrue(known)
        for file, code in known:
            self.assertIn(code, [line.strip() for line in (coverage.ROOT / coverage.DECISIONS / file).read_text().splitlines()])


if __name__ == "__main__":
    unittest.main()
