# SPDX-License-Identifier: Apache-2.0
import pathlib
import unittest

import drift


def result(commit="abc1234567de"):
    return {"date": "2026-11-21 09:25 UTC", "machine": {"commit": commit}}


def history(said):
    """Instead of git: what it says, and what it was asked."""
    asked = []

    def ask(*words):
        asked.append(words)
        return said
    return ask, asked


class Drift(unittest.TestCase):
    def test_every_pattern_names_files_that_there_are(self):
        root = pathlib.Path(drift.ROOT)
        for letter, patterns in drift.MEASURED.items():
            for pattern in patterns:
                self.assertTrue(list(root.glob(pattern)), f"{letter}: {pattern}")

    def test_every_scenario_says_what_it_measures(self):
        scenarios = {path.stem for path in (pathlib.Path(drift.ROOT) / "bench/harness/scenarios").glob("?.py")}
        self.assertEqual(set(drift.MEASURED), scenarios)

    def test_commits_are_counted_from_the_one_that_was_measured(self):
        ask, asked = history("1111111\n2222222\n")
        self.assertEqual(drift.commits_since("abc1234-dirty", "d", ask), 2)
        self.assertIn("abc1234..HEAD", asked[0])
        self.assertIn(":(glob)src/kinds/lua/*/renew.lua", asked[0])

    def test_without_the_commit_nobody_knows(self):
        self.assertIsNone(drift.commits_since("abc1234", "d", history(None)[0]))
        self.assertIsNone(drift.commits_since(None, "d", history("1111111")[0]))

    def test_a_note_says_which_scenario_how_much_has_changed_and_what_to_do(self):
        self.assertEqual(list(drift.notes({"d": result()}, {"d": 2})),
                         ["bench: scenario d was measured on 2026-11-21 at abc1234; 2 commits since touched what it "
                          "measures: measure again"])

    def test_there_is_no_note_where_nothing_has_changed(self):
        self.assertEqual(list(drift.notes({"d": result()}, {"d": 0})), [])

    def test_a_commit_that_is_not_in_the_history_is_a_note(self):
        self.assertIn("which this history does not have", "".join(drift.notes({"d": result()}, {"d": None})))

    def test_a_tree_with_changes_stays_marked(self):
        self.assertEqual(drift.short("abc1234567de-dirty"), "abc1234+")
        self.assertEqual(drift.short("abc1234567de"), "abc1234")
        self.assertEqual(drift.short(None), "unknown")


if __name__ == "__main__":
    unittest.main()
