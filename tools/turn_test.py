# SPDX-License-Identifier: Apache-2.0
"""Of tools/turn: what each turn is, and when it is taken."""
import pathlib
import re
import subprocess
import unittest

from script import script

FOLDER = pathlib.Path(__file__).resolve().parent
turn = script("turn")


class Turns(unittest.TestCase):
    def test_every_part_comes_to_every_server_before_they_repeat(self):
        first = [turn.turn(it) for it in range(12)]
        self.assertEqual({(server, *suites) for server, suites, *_ in first},
                         {(server, *part) for server in turn.SERVERS for part in turn.PARTS})
        self.assertEqual(turn.turn(12)[:4], first[0][:4])

    def test_each_sanitizer_comes_to_all_that_check_takes_of_it(self):
        known = (FOLDER.parent / "check").read_text()
        for sanitizer in ("asan", "tsan"):
            self.assertEqual(sorted(suite for it in range(12) if turn.turn(it)[2] == sanitizer for suite in set(turn.turn(it)[3])),
                             sorted(3 * re.search(rf"in_process_{sanitizer}=\((.*)\)", known)[1].split()))

    def test_every_platform_and_the_score_come_before_they_repeat(self):
        self.assertEqual({turn.turn(it)[4] for it in range(len(turn.BEHIND))}, {*turn.PLATFORMS, "score"})
        self.assertIn("tests/mutants/score", (FOLDER.parent / "check").read_text())

    def test_every_way_of_conformance_comes_in_two_turns(self):
        known = (FOLDER.parent / "check").read_text()
        ways = sorted(turn.turn(0)[5] + turn.turn(1)[5])
        self.assertEqual(ways, ["all", "cluster", "off", "resp2"])
        for way in ways:
            self.assertIn(f"conformance.{way}.short", known)

    def test_every_server_and_platform_is_one_that_there_is(self):
        for tool, names in (("servers", turn.SERVERS), ("platforms", turn.PLATFORMS)):
            known = subprocess.run([str(FOLDER / tool), "list"], capture_output=True, text=True, check=True).stdout
            self.assertLessEqual(set(names), {it.split()[0] for it in known.splitlines()})


class TheNumber(unittest.TestCase):
    def test_is_what_is_no_comment(self):
        self.assertEqual(turn.number_in("# a 7\n\n12\n"), 12)
        self.assertIsNone(turn.number_in(None))

    def test_is_replaced_and_nothing_else(self):
        self.assertEqual(turn.with_number("# a 7\n12\n", 13), "# a 7\n13\n")

    def test_must_grow_with_the_last_commit_or_after_it(self):
        self.assertIsNone(turn.trouble(here=8, last=8, before=7))
        self.assertIsNone(turn.trouble(here=8, last=7, before=7))
        self.assertIn("tools/turn next", turn.trouble(here=7, last=7, before=7))
        self.assertIn("7", turn.trouble(here=7, last=8, before=7))
        self.assertIn("passed over", turn.trouble(here=9, last=7, before=6))
        self.assertIn("passed over", turn.trouble(here=9, last=9, before=7))

    def test_is_new_where_there_was_none(self):
        self.assertIsNone(turn.trouble(here=1, last=None, before=None))
        self.assertIsNone(turn.trouble(here=1, last=1, before=None))


if __name__ == "__main__":
    unittest.main()
