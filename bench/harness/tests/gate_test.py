# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import os
import subprocess
import tempfile
import types
import unittest
from unittest import mock

import gate
from driver import DriverFailed
from gate import AGAIN, NEW, OLD, Line, judge

MORE, LESS = Line("x", "pairs a second", ("rate",), more=True), Line("x", "us", ("us",))


def figures(old, again, new):
    return {OLD: [old] * 3, AGAIN: [again] * 3, NEW: [new] * 3}


class Verdicts(unittest.TestCase):
    def test_five_percent_are_allowed(self):
        self.assertFalse(judge(MORE, figures(100, 100, 95.1)).failed)
        self.assertTrue(judge(MORE, figures(100, 100, 94)).failed)
        self.assertFalse(judge(LESS, figures(100, 100, 104)).failed)
        self.assertTrue(judge(LESS, figures(100, 100, 106)).failed)

    def test_and_twice_what_the_old_one_is_from_itself(self):
        self.assertFalse(judge(MORE, figures(105, 95, 81)).failed)
        self.assertTrue(judge(MORE, figures(105, 95, 79)).failed)

    def test_and_twice_what_its_rounds_scatter_though_their_medians_agree(self):
        rounds = [80, 90, 100, 110, 120] * 2
        noisy = {OLD: rounds, AGAIN: rounds, NEW: [90] * 10}
        self.assertFalse(judge(MORE, noisy).failed)
        self.assertTrue(judge(MORE, {**noisy, NEW: [80] * 10}).failed)
        self.assertTrue(judge(MORE, {**noisy, OLD: [100] * 9 + [1], AGAIN: [100] * 10}).failed, "one bad round")

    def test_more_rounds_allow_less(self):
        rounds = [80, 90, 100, 110, 120]
        once, often = (judge(MORE, {OLD: rounds * n, AGAIN: rounds * n, NEW: rounds * n}).allowed for n in (2, 8))
        self.assertAlmostEqual(once, 2 * often)

    def test_better_never_fails(self):
        self.assertFalse(judge(MORE, figures(100, 100, 300)).failed)
        self.assertFalse(judge(LESS, figures(100, 100, 3)).failed)

    def test_the_median_counts(self):
        self.assertFalse(judge(MORE, {OLD: [100] * 3, AGAIN: [100] * 3, NEW: [1, 100, 100]}).failed)

    def test_a_grain_is_nothing_and_more_than_that_after_nothing_is_much(self):
        line = Line("idle", "wake-ups a minute", ("wake_ups",), grain=2)
        self.assertFalse(judge(line, figures(0, 0, 2)).failed)
        self.assertTrue(judge(line, figures(0, 0, 4)).failed)
        self.assertTrue(judge(LESS, figures(0, 0, 1)).failed)
        self.assertFalse(judge(LESS, figures(0, 0, 0)).failed)

    def test_one_that_is_too_far_from_itself_says_nothing(self):
        self.assertEqual([judge(MORE, figures(old, 100, 100)).word for old in (100, 120)],
                         ["", "says nothing: the machine is too busy"])

    def test_what_could_not_be_measured_fails(self):
        self.assertTrue(judge(LESS, {OLD: [1], AGAIN: [1]}).failed)
        self.assertIn("FAILED", gate.table([judge(LESS, {})]))


class Rounds(unittest.TestCase):
    def run_with(self, part, rounds=3):
        with tempfile.TemporaryDirectory() as logs, mock.patch.dict(gate.PARTS, start=part), \
             contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
            os.mkdir(os.path.join(logs, "logs"))
            bench = gate.Gate("", types.SimpleNamespace(names=list(gate.NAMES)), False, os.path.join(logs, "logs"))
            verdicts = gate.run(bench, ["start"], rounds)
            with open(os.path.join(logs, "figures.json"), encoding="utf-8") as kept:
                self.kept = json.load(kept)
        return verdicts, said.getvalue()

    def test_each_round_begins_with_another_one(self):
        orders = []

        def part(bench):
            orders.append(bench.names)
            return {name: {"start": 1.0} for name in bench.names}
        verdicts, said = self.run_with(part)
        self.assertEqual(orders, [[OLD, AGAIN, NEW], [AGAIN, NEW, OLD], [NEW, OLD, AGAIN]])
        self.assertFalse(any(each.failed for each in verdicts))
        self.assertEqual(said, "")
        self.assertEqual(self.kept, {"start: of the tool, ms": {name: [1.0] * 3 for name in gate.NAMES}})

    def test_what_fails_is_judged_anew_by_a_second_measurement(self):
        rounds = []

        def part(bench):
            rounds.append(bench.turn)
            return {OLD: {"start": 1.0}, AGAIN: {"start": 1.0}, NEW: {"start": 9.0 if len(rounds) <= 3 else 1.0}}
        verdicts, said = self.run_with(part)
        self.assertEqual(rounds, [0, 1, 2, 3, 4, 5])
        self.assertIn("once more: start", said)
        self.assertFalse(any(each.failed for each in verdicts))
        self.assertEqual(self.kept["start: of the tool, ms"][NEW], [9.0] * 3 + [1.0] * 3)

    def test_what_fails_twice_fails(self):
        verdicts, said = self.run_with(lambda _: {OLD: {"start": 1.0}, AGAIN: {"start": 1.0}, NEW: {"start": 1.06}})
        self.assertTrue(all(each.failed for each in verdicts))
        self.assertIn("once more: start", said)

    def test_what_cannot_be_measured_again_fails(self):
        rounds = []

        def part(bench):
            rounds.append(bench.turn)
            if len(rounds) > 3:
                raise DriverFailed("it ended")
            return {OLD: {"start": 1.0}, AGAIN: {"start": 1.0}, NEW: {"start": 2.0}}
        self.assertTrue(all(each.failed for each in self.run_with(part)[0]))

    def test_what_says_nothing_is_measured_once_more(self):
        rounds = []

        def part(bench):
            rounds.append(bench.turn)
            return {OLD: {"start": 3.0 if len(rounds) < 3 else 1.0}, AGAIN: {"start": 1.0}, NEW: {"start": 1.0}}
        verdicts, said = self.run_with(part)
        self.assertEqual(len(rounds), 6)
        self.assertIn("says nothing", said)
        self.assertEqual([each.word for each in verdicts], [""])

    def test_one_that_dies_fails(self):
        def part(_):
            raise DriverFailed("it ended")
        self.assertTrue(all(each.failed for each in self.run_with(part)[0]))


class Ends(unittest.TestCase):
    def test_an_end_is_awaited_but_not_for_ever(self):
        ending = subprocess.Popen(["true"])
        gate.await_end(ending)
        self.assertEqual(ending.returncode, 0)
        lasting = subprocess.Popen(["sleep", "60"])
        with self.assertRaises(DriverFailed):
            gate.await_end(lasting, 0.01)
        lasting.kill()
        gate.await_end(lasting)


class Lines(unittest.TestCase):
    def test_each_part_has_lines_and_each_line_a_part(self):
        self.assertEqual({line.part for line in gate.LINES}, set(gate.PARTS))


if __name__ == "__main__":
    unittest.main()
