# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

import report
from stats import spread


def result(commit="abc1234567de", cores=2):
    return {"date": "2026-11-21 09:25 UTC", "form": "quick", "load_before": 0.5, "load_after": 9.75,
            "machine": {"cpu": "Something", "cores": cores, "virtual": False, "memory_gb": 8.0, "kernel": "Linux 6.1.0",
                        "server": "Redis 7.0.15", "commit": commit}}


class Report(unittest.TestCase):
    def test_each_figure_of_the_short_table_names_its_scenario_day_and_commit(self):
        summary = {"d": {"holdfast": {10_000: {"server_us": spread([4.2])}}}}
        rows = report.short_table({"d": result("abc1234567de-dirty")}, summary)
        self.assertEqual(len(rows), 3)
        self.assertTrue(rows[2].endswith("| d, 2026-11-21, `abc1234+` |"), rows[2])

    def test_a_section_says_of_which_commit_it_is_and_what_has_come_since(self):
        self.assertIn("at commit `abc1234`, quick form, on 2 cores", report.measured_at(result(), 0))
        self.assertIn("load average 0.5 before and 9.75 after", report.measured_at(result(), 0))
        self.assertIn("nothing that it measures had changed", report.measured_at(result(), 0))
        self.assertIn("**When this page was made, 1 commit since then", report.measured_at(result(), 1))
        self.assertIn("could not be asked", report.measured_at(result(), None))

    def test_a_section_says_what_others_made_of_the_machine(self):
        self.assertIn("**The machine was busy: other programs took 1.5 processors",
                      report.measured_at({**result(), "others_busy": 1.5}, 0))
        self.assertIn("Other programs kept 0.02 processors busy.", report.measured_at({**result(), "others_busy": 0.02}, 0))
        self.assertNotIn("ther programs", report.measured_at(result(), 0))

    def test_the_readme_names_the_machines_of_what_it_shows_and_says_whether_that_is_of_older_code(self):
        found = {"a": result(), "b": result(cores=4), "d": result(cores=8)}
        lines = report.conditions_in_short(found, {"a": 0, "b": 3, "d": None}, {})
        self.assertTrue(lines[0].startswith("Something, 2 cores"), lines)
        self.assertTrue(lines[1].startswith("Something, 4 cores"), lines)
        self.assertEqual(lines[2], "The library has changed since.")

    def test_the_readme_shows_three_figures_beside_the_best_of_others(self):
        a = {"holdfast": {1: {"p50": spread([70.0])}, 16: {"rate": spread([42_000.0])}},
             "redsync": {1: {"p50": spread([95.0])}, 16: {"rate": spread([49_000.0])}}}
        b = {"holdfast": {(1, 16): {"rate": spread([2_000_000.0])}}}
        rows = report.readme_table({"a": a, "b": b})
        self.assertEqual(len(rows), 5)
        self.assertIn("two round trips | **70.0 µs** |", rows[2])
        self.assertIn("49,000 (redsync)", rows[3])

    def test_the_readme_says_nothing_of_changes_where_there_are_none(self):
        self.assertNotIn("changed", "".join(report.conditions_in_short({"a": result(), "d": result()}, {"a": 0, "d": 2}, {})))

    def test_sizes_that_were_not_measured_again_stay_with_their_own_commit(self):
        def held(*counts):
            return {"holdfast": {count: {"server_us": spread([1.0])} for count in counts}}
        before = {**result("fffffff999"), "command": "./bench/run --full d"}
        lines = list(report.not_again(before, held(10_000, 1_000_000), held(10_000)))
        self.assertIn("at commit `fffffff`, by `./bench/run --full d` on 2 cores", lines[0])
        self.assertEqual([line for line in lines if "locks |" in line][0].split(" |")[0], "| 1,000,000 locks")
        self.assertEqual(list(report.not_again(before, held(10_000), held(10_000))), [])

    def test_goals_are_told_for_each_kind_of_machine_of_what_was_measured_there(self):
        hand_over = {**result(), "rounds": [], "top_level": {}}
        lines = list(report.goal_lines({"Something": {"c": hand_over}}))
        self.assertEqual(lines[0], "Something")
        self.assertTrue(all(line.startswith("  open    c: ") for line in lines[1:]), lines)
        self.assertEqual(len(lines), 4)

    @staticmethod
    def pairs(name, threads, us):
        answer = {"pairs": 1e6 / us, "seconds": 1.0, "p50_us": us, "p99_us": us, "cpu_us": 1}
        return {"contestant": name, "case": {"threads": threads}, "answers": [answer], "server": {"cpu_us": 1}}

    def test_the_readme_has_the_ratios_of_all_kinds_of_machine(self):
        def kind(us):
            rounds = [self.pairs("holdfast", n, us) for n in (1, 16)]
            return {"a": {**result(), "rounds": [*rounds, self.pairs("raw", 1, 100), *(self.pairs("redsync", n, 80) for n in (1, 16))]}}
        self.assertEqual(list(report.over_kinds({"Something": kind(60)})), [])
        self.assertEqual(list(report.over_kinds({"Something": kind(60), "Another": kind(120), "None": {"e": {}}})),
                         ["On 2 kinds of machine and server one thread took 0.60–1.20 × the time of bare `SET NX PX`, 0.75–1.50 × "
                          "the best peer's; 16 threads made 0.67–1.33 × its pairs."])

    def test_kinds_of_machine_are_told_by_ratios(self):
        pairs = self.pairs
        a = {**result(), "rounds": [pairs("holdfast", 1, 50), pairs("raw", 1, 100), pairs("raw-scripts", 1, 40),
                                    pairs("holdfast", 4, 20), pairs("redsync", 4, 10)]}
        lines = list(report.kinds_of_machine({"Something": {"a": a}, "Nothing": {"e": {**result(), "rounds": [], "top_level": {}}}}))
        self.assertEqual(lines[-2], "| Something | 2026-11-21 | – | 50.0 | 0.500 | 1.25 | – | 0.500 | – | – | – | – |")
        self.assertFalse(any("Nothing" in line for line in lines))

    def test_a_crowd_stands_beside_its_floor(self):
        row = {"contestant": "rueidislock", "clients": 2000, "took_ms": 22.94, "cpu_ms": 16.064, "date": "today", "commit": "abc"}
        lock = {**row, "kind": "lock", "inside_ms": 1.0, "asked": 50.04, "messages": 1.089, "grants": 221}
        crowd = {"machine": {"server": "Redis 7.0.15", "cores": 2, "cpu": "New CPU"}, "processes": 4, "rounds": [
            lock, {**row, "kind": "floor"}, {**lock, "kind": "fair", "clients": 100, "commit": "def"}, {**lock, "clients": 500},
            {**lock, "contestant": "holdfast-async", "kind": "any"}]}
        lines = list(report.sections.crowd_costs(crowd))
        self.assertIn("from today to today at commits `abc`, `def`, Redis 7.0.15, New CPU, 2 cores", lines[2])
        self.assertEqual(lines[-6:], ["| **holdfast-async** | any | 2000 | 1 | 22.9 | 50.0 | 1.09 | 16.06 | 221 |  |",
                                      "| rueidislock | lock | 500 | 1 | 22.9 | 50.0 | 1.09 | 16.06 | 221 |  |",
                                      "| rueidislock | lock | 2000 | 1 | 22.9 | 50.0 | 1.09 | 16.06 | 221 |  |",
                                      "| rueidislock |  | 2000 | a message to all | 22.9 |  | 1 | 16.06 |  |  |",
                                      "| rueidislock | fair | 100 | 1 | 22.9 | 50.0 | 1.09 | 16.06 | 221 |  |", ""])

    def test_results_of_another_kind_of_machine_are_kept_aside(self):
        with tempfile.TemporaryDirectory() as base:
            for cpu, commit in (("Old CPU @ 2 GHz", "a"), ("New CPU", "b"), ("New CPU", "c")):
                machine = {"cpu": cpu, "cores": 2, "virtual": True, "server": "Redis 7.0.15", "commit": commit}
                report.results.write(base, "a", {"machine": machine, "rounds": []})
            report.results.write(base, "a", {"machine": {**machine, "server": "Valkey 9.1.2", "commit": "d"}, "rounds": []}, True)
            kinds = report.results.by_kind(base, "ab")
            self.assertEqual([(kind, found["a"]["machine"]["commit"]) for kind, found in kinds.items()],
                             [("New CPU, 2 cores, virtual; Redis 7.0.15", "c"), ("New CPU, 2 cores, virtual; Valkey 9.1.2", "d"),
                              ("Old CPU @ 2 GHz, 2 cores, virtual; Redis 7.0.15", "a")])

    def test_what_was_measured_apart_is_taken_over(self):
        with tempfile.TemporaryDirectory() as base:
            folder = pathlib.Path(base, "bench", "results")
            folder.mkdir(parents=True)
            (folder / "counting.md").write_text("## What measuring costs\n")
            self.assertEqual(list(report.apart(base, None)), ["## What measuring costs\n"])


if __name__ == "__main__":
    unittest.main()
