# SPDX-License-Identifier: Apache-2.0
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PASSED = pathlib.Path(__file__).resolve().parent / "passed"


class Passed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git("init", "-q")
        (self.root / "tools").mkdir()
        shutil.copy(PASSED, self.root / "tools/passed")
        self.write(".gitignore", "build\n")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.root, check=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "change")

    def passed(self, *words):
        return subprocess.run([self.root / "tools/passed", *words]).returncode == 0

    def test_only_what_was_noted(self):
        self.assertFalse(self.passed("full"))
        self.assertTrue(self.passed("--note", "sim.seeds", "--seeds", "100"))
        self.assertTrue(self.passed("sim.seeds", "--seeds", "100"))
        self.assertFalse(self.passed("sim.seeds"))
        self.assertFalse(self.passed("full"))

    def test_records_may_differ_and_nothing_else(self):
        self.passed("--note", "full")
        for name in ("docs/evidence/suites.jsonl", "docs/evidence.md", "docs/records/evidence.md", "docs/platforms.md", "tests/turn"):
            self.write(name, "more\n")
        self.commit()
        self.assertTrue(self.passed("full"))
        self.write("docs/wire.md", "more\n")
        self.commit()
        self.assertFalse(self.passed("full"))
        self.git("rm", "-q", "docs/wire.md")
        self.commit()
        self.assertTrue(self.passed("full"))

    def test_a_tree_with_changes_has_passed_nothing(self):
        self.write("new", "")
        self.assertTrue(self.passed("--note", "full"))
        self.assertFalse((self.root / "build").exists())
        (self.root / "new").unlink()
        self.passed("--note", "full")
        self.write("new", "")
        self.assertFalse(self.passed("full"))
        (self.root / "new").unlink()
        self.assertTrue(self.passed("full"))

    def test_a_commit_that_is_not_here(self):
        self.write("build/results/passed", "0123456789012345678901234567890123456789 full\n")
        self.assertFalse(self.passed("full"))

    def test_what_is_kept_counts_on_another_machine_until_the_sources_change(self):
        self.passed("--note", "sim", "--seeds", "1")
        self.passed("--note", "all")
        self.write("docs/evidence.md", "more\n")
        self.assertTrue(self.passed("--keep"))
        self.commit()
        shutil.rmtree(self.root / "build")
        self.assertTrue(self.passed("all"))
        self.assertTrue(self.passed("sim", "--seeds", "1"))
        self.assertFalse(self.passed("sim"))
        self.write("new", "")
        self.commit()
        self.assertFalse(self.passed("all"))
        self.passed("--note", "unit")
        self.assertTrue(self.passed("--keep"))
        self.assertEqual(["unit"], [line.split(" ", 1)[1] for line in
                                    (self.root / "docs/evidence/passed").read_text().splitlines()])


if __name__ == "__main__":
    unittest.main()
