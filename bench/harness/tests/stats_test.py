# SPDX-License-Identifier: Apache-2.0
import unittest

from stats import Spread, displacement, least_share, percentile, ratio, spread


class Stats(unittest.TestCase):
    def test_a_spread_is_the_middle_the_lowest_and_the_highest(self):
        self.assertEqual(spread([3, 1, 2]), Spread(2, 1, 3))
        self.assertEqual(spread([4, 1, 2, 3]), Spread(2.5, 1, 4))

    def test_rounds_without_a_value_do_not_count(self):
        self.assertEqual(spread([None, 5]), Spread(5, 5, 5))
        self.assertIsNone(spread([None]))

    def test_percentiles_are_values_that_occurred(self):
        values = list(range(100, 0, -1))
        self.assertEqual(percentile(values, 0.5), 50)
        self.assertEqual(percentile(values, 0.99), 99)
        self.assertEqual(percentile(values, 1), 100)
        self.assertEqual(percentile([7], 0.99), 7)

    def test_a_ratio_to_nothing_is_unknown(self):
        self.assertEqual(ratio(1, 4), 0.25)
        self.assertIsNone(ratio(None, 4))
        self.assertIsNone(ratio(1, None))
        self.assertIsNone(ratio(1, 0))

    def test_whoever_enters_in_turn_is_not_displaced(self):
        self.assertEqual(displacement([30, 10, 20], [31, 11, 21], 0), 0)

    def test_who_overtakes_one_displaces_that_one_as_well(self):
        self.assertEqual(displacement([10, 20, 30, 40], [12, 32, 22, 42], 0), 0.5)

    def test_those_that_ask_first_do_not_count(self):
        self.assertEqual(displacement([1, 2, 30, 40], [9, 8, 31, 41], 2), 0)
        self.assertIsNone(displacement([1, 2], [9, 8], 2))

    def test_the_least_share_is_one_when_all_get_the_same(self):
        self.assertEqual(least_share([5, 5, 5]), 1)
        self.assertEqual(least_share([1, 3]), 0.5)
        self.assertIsNone(least_share([0, 0]))


if __name__ == "__main__":
    unittest.main()
