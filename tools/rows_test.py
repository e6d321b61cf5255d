# SPDX-License-Identifier: Apache-2.0
"""Of tools/rows: which tests there are, and what is wrong with a line."""
import unittest

from script import script

rows = script("rows")

TESTS = {"unit.Lock.IsFree", "integration.Holds.AreLost", "scripts.LockTable.is_kept", "packaging.example_*"}


class Tests(unittest.TestCase):
    def test_every_macro_defines_one(self):
        self.assertEqual(rows.tests_in("unit", "TEST(A, B) {\n  TEST_F(C,\n       D) {}\nTEST_P(E, F) {}\n// TEST(G, H)\n"),
                         {"unit.A.B", "unit.C.D", "unit.E.F"})

    def test_of_packaging_from_cmake(self):
        self.assertEqual(rows.packaging_tests_in("holdfast_packaging_test(links x)\n  holdfast_packaging_test(a_${b} c)\n"),
                         {"packaging.links", "packaging.a_*"})

    def test_instances_and_parameters_do_not_matter(self):
        for name in ["unit.Lock.IsFree", "unit.With/Lock.IsFree/7", "unit.Lock/0.IsFree", "unit.Lock.*", "unit.*.IsFree",
                     "packaging.example_lock"]:
            self.assertTrue(rows.is_known(name, TESTS), name)
        for name in ["unit.Lock.IsTaken", "integration.Lock.IsFree", "unit.IsFree", "unit.Locks.*", "packaging.examples"]:
            self.assertFalse(rows.is_known(name, TESTS), name)


class Lines(unittest.TestCase):
    def wrong(self, text):
        return [what for _, what in rows.offences(text, TESTS, {"never-free"})]

    def test_that_are_right(self):
        self.assertEqual(self.wrong("# a comment\n\nA1 | unit.Lock.IsFree, scripts.In/LockTable.is_kept/* | never-free\n"
                                    "A2 | integration.Holds.AreLost | -: of the tests themselves\n"
                                    "A3 | -: stays as it is: see guarantees.md | -: nothing to plant\n"), [])

    def test_of_another_form(self):
        for line in ["A1", "A1 | unit.Lock.IsFree", "A1 | unit.Lock.IsFree | ", "| unit.Lock.IsFree | never-free"]:
            self.assertEqual(self.wrong(line), ["not of the form ROW | tests | mutants"], line)

    def test_that_name_what_is_not_there(self):
        self.assertEqual(self.wrong("A1 | unit.Lock.IsFree, unit.Lock.IsGone | never-free, ever-free"),
                         ["A1: there is no test 'unit.Lock.IsGone'", "A1: there is no mutant 'ever-free'"])

    def test_that_say_no_reason(self):
        self.assertEqual(self.wrong("A1 | -: | -:"),
                         ["A1 has no test and does not say why", "A1 has no mutant and does not say why"])

    def test_that_say_a_row_twice(self):
        self.assertEqual(self.wrong("A1 | unit.Lock.IsFree | never-free\nA1 | unit.Lock.IsFree | never-free"),
                         ["A1 has line 1 already"])


class Bug:
    def __init__(self, tests):
        self.name, self.suite, self.tests = "never-free", "unit", tests


class Filters(unittest.TestCase):
    def test_that_select_something(self):
        for tests in ["Lock.IsFree", "Lock.*", "*Lock.*:Lock.IsFree", "With/Lock.IsFree/*", "With/Lock.IsFree/7", "Lock/0.IsFree",
                      "With/Lock.*"]:
            self.assertEqual(list(rows.uncatchable([Bug(tests)], TESTS)), [], tests)

    def test_that_select_nothing(self):
        for tests in ["Lock.IsTaken", "unit.Lock.IsFree", "With/Lock.IsFree", "Lock.IsFree:With/Lock.IsFree"]:
            self.assertEqual(len(list(rows.uncatchable([Bug(tests)], TESTS))), 1, tests)


class Pages(unittest.TestCase):
    HEAD = "| can | what happens | seen by |\n| --- | :-- | --- |\n"

    def wrong(self, rows_of_it):
        return list(rows.page_offences(self.HEAD + rows_of_it + "\nText with `unit.Lock.IsGone`.\n", TESTS))

    def test_that_are_right(self):
        self.assertEqual(self.wrong("| a | `b` | `unit.Lock.IsFree`, `unit.In/Lock.*` |\n| c | d | a sentence only |"), [])

    def test_rows_without_a_test_or_with_one_that_is_gone(self):
        self.assertEqual(self.wrong("| a | `unit.Lock.IsFree` | never |\n| c | d | `unit.Lock.IsFree`, `unit.Lock.IsGone` |"),
                         [(3, "a row without a test"), (4, "there is no test 'unit.Lock.IsGone'")])


if __name__ == "__main__":
    unittest.main()
