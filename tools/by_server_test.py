# SPDX-License-Identifier: Apache-2.0
"""Of tools/by_server: what is counted, and what is said of holes."""
import unittest

from script import script

by_server = script("by_server")

SKIPPED = "[ RUN      ] A.B\n/tests/a_test.cpp:7: Skipped\nit has no\n  such command\n\n[  SKIPPED ] A.B (0 ms)\n"


def junit(*cases):
    """Of (status, output)."""
    return "<testsuite>" + "".join(f'<testcase name="a" status="{status}"><system-out>{output}</system-out></testcase>'
                                   for status, output in cases) + "</testsuite>"


class Outcomes(unittest.TestCase):
    def test_are_counted_by_their_words(self):
        counts, reasons = by_server.outcome(junit(("run", ""), ("run", ""), ("fail", "x"), ("notrun", SKIPPED)))
        self.assertEqual(counts, {"passed": 2, "failed": 1, "skipped": 1})
        self.assertEqual(reasons, {"it has no such command": 1})

    def test_a_skipped_test_that_says_nothing_is_named_so(self):
        self.assertEqual(by_server.reason("a_test.cpp:7: Skipped\n\n[  SKIPPED ] A.B"), "says no reason")
        self.assertEqual(by_server.reason(None), "says no reason")


class Page(unittest.TestCase):
    FOUND = {("scripts", "redis-6.0"): by_server.outcome(junit(("run", ""), ("notrun", SKIPPED))),
             ("scripts", "redis-8.0"): by_server.outcome(junit(("run", ""), ("fail", ""))),
             ("async", "redis-8.0"): by_server.outcome(junit(("run", "")))}

    def test_the_table_has_a_cell_for_each_pair(self):
        self.assertEqual(by_server.table(self.FOUND, ["redis-6.0", "redis-8.0"]),
                         ["passed+skipped  redis-6.0  redis-8.0",
                          "scripts         1+1        1, 1 FAILED",
                          "async           -          1"])

    def test_a_hole_has_its_reason_and_its_servers(self):
        self.assertEqual(by_server.holes(self.FOUND), ["hole: scripts: 1 on redis-6.0: it has no such command"])


if __name__ == "__main__":
    unittest.main()
