# SPDX-License-Identifier: Apache-2.0
"""Of tests/mutants/planted.py: where a bug goes."""
import pathlib
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "mutants"))
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


if __name__ == "__main__":
    unittest.main()
