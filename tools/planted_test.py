# SPDX-License-Identifier: Apache-2.0
"""Of tests/mutants/planted.py: where a bug goes."""
import pathlib
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "mutants"))
import equivalents  # noqa: E402
import planted  # noqa: E402

HEAD = "Breaks: it\nPromise: there\nCaught-by: unit.A.*\n"


class Tests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tree = pathlib.Path(self.folder.name)
        self.write("src/a/one.cpp", "void f() {\n  if (x >= limit) return lose(\n      why());\n  go();\n}\n")
        self.write("src/b/two.lua", "return 1\n")

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def plant(self, changes):
        bug = planted.Bug("bug", HEAD + changes, "here")
        sources = planted.Sources(self.tree)
        files = bug.files(sources)
        bug.plant(sources)
        return files

    def test_is_found_however_lines_are_broken(self):
        files = self.plant("find:\n  if (x >= limit)\n    return lose(why());\nput:\n  if (false) stop();\n")
        self.assertEqual(files, ["src/a/one.cpp"])
        self.assertEqual((self.tree / files[0]).read_text(), "void f() {\n  if (false) stop();\n  go();\n}\n")

    def test_takes_away_and_changes_several_places(self):
        self.plant("find:\n  go();\nput:\nfind:\n  return 1\nput:\n  return 2\n")
        self.assertNotIn("go", (self.tree / "src/a/one.cpp").read_text())
        self.assertEqual((self.tree / "src/b/two.lua").read_text(), "return 2\n")

    def test_what_is_not_there_or_twice_is_an_error(self):
        for code in ["stop();", "return", "f()f"]:
            with self.assertRaises(planted.OutOfDate):
                self.plant(f"find:\n  {code}\nput:\n")

    def test_no_part_of_a_word(self):
        with self.assertRaises(planted.OutOfDate):
            self.plant("find:\n  o();\nput:\n")


class Equivalents(unittest.TestCase):
    TEXT = "# Says.\n\nsrc/a.cpp: not true\n| void f() {\n| done = true;\nIt is done,\nalways.\n"

    def among(self, text, *lines):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src").mkdir()
            (root / "src/a.cpp").write_text("void g() {\n  done = true;\n}\n void f() {\n  done = true;\n}\n")
            mutants = {number: planted.Place("src/a.cpp", line, "not true", 0) for number, line in enumerate(lines)}
            return equivalents.among(mutants, root, text)

    def test_are_told_by_what_stands_above_them(self):
        found, unmatched = self.among(self.TEXT, 2, 5)
        self.assertEqual({number: each.why for number, each in found.items()}, {1: "It is done, always."})
        self.assertEqual(unmatched, [])

    def test_that_are_no_mutants_any_more_are_said(self):
        found, unmatched = self.among(self.TEXT, 2)
        self.assertEqual((found, len(unmatched)), ({}, 1))

    def test_of_one_line_share_its_reason(self):
        both = equivalents.read(self.TEXT.replace("not true", "not true | left out: done = true"))
        self.assertEqual([each.what for each in both], ["not true", "left out: done = true"])

    def test_need_a_reason(self):
        with self.assertRaises(ValueError):
            self.among("src/a.cpp: not true\n| done = true;\n", 2)

    def test_of_the_list_have_one(self):
        self.assertTrue(all(each.why for each in equivalents.read(equivalents.FILE.read_text())))


if __name__ == "__main__":
    unittest.main()
