# SPDX-License-Identifier: Apache-2.0
import types
import unittest

from bench import Bench


class Contestants(unittest.TestCase):
    def names(self, scenario, *names):
        bench = Bench("", types.SimpleNamespace(names=list(names)), False, "")
        bench.begin(scenario)
        return bench.names

    def test_only_those_with_other_kinds_of_lock_take_part_where_these_are_measured(self):
        self.assertEqual(self.names("g", "raw", "holdfast", "redisson-4", "redsync"), ["holdfast", "redisson-4"])

    def test_one_that_nobody_knows_takes_part_where_any_lock_will_do(self):
        self.assertEqual(self.names("a", "new", "redsync-auto"), ["new", "redsync-auto"])
        self.assertEqual(self.names("f", "new", "redsync-auto"), ["new"])
        self.assertEqual(self.names("h", "new"), [])

    def test_rounds_can_be_limited(self):
        bench = Bench("", None, True, "", rounds=1)
        self.assertEqual(bench.rounds_of(3, 7), 1)
        self.assertEqual(Bench("", None, True, "").rounds_of(3, 7), 7)


if __name__ == "__main__":
    unittest.main()
