# SPDX-License-Identifier: Apache-2.0
import unittest

import summaries
from monitor import top_level
from table import number, replace_between, spread, table
from stats import Spread


def entry(contestant, case, answers, commands=None, **more):
    return {"round": 0, "contestant": contestant, "case": case, "answers": answers,
            "server": {"cpu_us": 1000, "seconds": 2.0, "commands": commands or {}}, **more}


class Summaries(unittest.TestCase):
    def test_pairs_by_second_and_costs_by_pair(self):
        answer = {"pairs": 100, "seconds": 2.0, "p50_us": 5, "p99_us": 9, "cpu_us": 300}
        figures = summaries.pairs({"rounds": [entry("raw", {"threads": 1}, [answer])]})["raw"][1]
        self.assertEqual([figures[name].median for name in ("rate", "server_us", "client_us", "p50")], [50, 10, 3, 5])
        self.assertEqual(figures["busy"].median, (1000 + 300) / 1e6 / 2)

    def test_pairs_beside_programs_that_compute_are_apart(self):
        answer = {"pairs": 100, "seconds": 2.0, "p50_us": 5, "p99_us": 9, "cpu_us": 300}
        slow = {**answer, "pairs": 10}
        summary = summaries.pairs({"rounds": [entry("x", {"threads": 4}, [answer]), entry("x", {"threads": 4, "beside": 2}, [slow])]})
        self.assertEqual((summary["x"][4]["rate"].median, summary["x"]["beside"][4]["rate"].median), (50, 5))
        self.assertEqual(summaries.callers(summary), [4])

    def test_a_hot_lock_adds_sections_and_takes_the_worst_wait(self):
        waits = [{"wait_p50_us": 1, "wait_p99_us": 5, "wait_max_us": 9},
                 {"wait_p50_us": 3, "wait_p99_us": 4, "wait_max_us": 8}]
        answers = [{"sections": 30, "served": [10, 20], "seconds": 2, **waits[0]},
                   {"sections": 10, "served": [5, 5], "seconds": 2, **waits[1]}]
        figures = summaries.hot({"rounds": [entry("x", {"processes": 2, "threads": 2}, answers)]})["x"][(2, 2)]
        self.assertEqual(figures["rate"].median, 20)
        self.assertEqual([figures[name].median for name in ("wait_p50", "wait_p99", "wait_max")], [3, 5, 9])
        self.assertEqual([figures[name].median for name in ("least_process", "least_caller")], [0.5, 0.5])

    def test_renewals_are_of_locks_though_a_lock_has_several_keys(self):
        case = {"count": 10, "lease_ms": 6000}
        take = {"held": 10, "seconds": 1, "rss_before_bytes": 0, "rss_after_bytes": 1000}
        rounds = [entry("x", {**case, "phase": "take"}, [take], server_memory_bytes=500, keys=30),
                  entry("x", {**case, "phase": "quiet"}, [{"seconds": 4, "cpu_us": 40}],
                        {"evalsha": 60, "pexpire": 60}),
                  entry("x", {**case, "phase": "sampled"},
                        [{"shortest_pttl_ms": 3500, "looks": 100, "gone": 0}], keys_left=29)]
        figures = summaries.held({"rounds": rounds})["x"][10]
        self.assertEqual((figures["server_us"], figures["script_calls"], figures["bytes"]), (50, 30, 100))
        self.assertEqual((figures["late_ms"], figures["late_limit_ms"], figures["lost"]), (500, 1000, 1))

    def test_a_large_crowd_stands_beside_the_small_one(self):
        small = {"waiting": 10, "seconds": 1, "rss_before_bytes": 0, "rss_after_bytes": 1000}
        large = {"waiting": 1000, "seconds": 1, "rss_before_bytes": 500, "rss_after_bytes": 200_500,
                 "go": {"grants": 1000, "seconds": 2.0, "cpu_us": 5000}}
        rounds = [entry("x", {"phase": "gather"}, [small]), entry("y", {"phase": "gather"}, [small]),
                  entry("x", {"phase": "large", "waiters": 1000, "locks": 10}, [large])]
        figures = summaries.crowd({"rounds": rounds, "top_level": {}})
        self.assertEqual(figures["x"]["bytes"].median, 100)
        self.assertNotIn("large", figures["y"])
        found = figures["x"]["large"]
        self.assertEqual((found["waiters"], found["locks"]), (1000, 10))
        self.assertEqual([found[name].median for name in ("bytes", "seconds", "rate", "client_us")], [200, 2, 500, 5])

    def test_kinds_of_lock_stand_by_kind_and_callers_and_the_rest_by_what_was_done(self):
        answer = {"pairs": 100, "seconds": 2.0, "p50_us": 5, "p99_us": 9, "cpu_us": 300}
        hot = {"sections": 500, "served": [250, 250], "seconds": 2, "wait_p50_us": 1, "wait_p99_us": 2, "wait_max_us": 3,
               "cpu_us": 1000}
        rounds = [entry("x", {"what": "pairs", "kind": "fair", "threads": 16}, [answer]),
                  entry("x", {"what": "readers", "threads": 2}, [hot]),
                  entry("x", {"what": "hand_over"}, [{"hand_over_us": [3, 1, 2]}]),
                  entry("x", {"what": "order"}, [{**hot, "displacement": 0.25}, hot], {"evalsha": 3000})]
        figures = summaries.kinds({"rounds": rounds})["x"]
        self.assertEqual(figures["pairs"][("fair", 16)]["server_us"].median, 10)
        self.assertEqual(figures["readers"]["rate"].median, 250)
        self.assertIsNone(figures["readers"]["displacement"])
        self.assertEqual(figures["hand_over"]["p50"].median, 2)
        self.assertEqual([figures["order"][name].median for name in ("displacement", "scripts", "server_us", "client_us")],
                         [0.25, 3, 1, 2])

    def test_the_script_calls_of_any_lock_are_for_each_process_and_grant(self):
        hot = {"sections": 10, "served": [10], "seconds": 2, "wait_p50_us": 1, "wait_p99_us": 2, "wait_max_us": 3, "cpu_us": 40}
        rounds = [entry("x", {"kind": "any", "processes": 4, "threads": 1}, [hot] * 4, {"evalsha": 80}),
                  entry("x", {"kind": "leased", "threads": 1}, [hot], {"evalsha": 20})]
        figures = summaries.few({"rounds": rounds})["x"]
        self.assertEqual(figures[("any", 4, 1)]["scripts_each"].median, 0.5)
        self.assertEqual(figures[("leased", 1, 1)]["scripts"].median, 2)

    def test_commands_of_scripts_are_not_the_contestants_own(self):
        lines = [b'1.5 [0 127.0.0.1:5] "EVALSHA" "abc"\r\n', b'1.6 [0 lua] "set" "a"\r\n',
                 b'1.7 [0 127.0.0.1:5] "SET" "a] " "b"\r\n', b'1.8 [0 lua] "publish" "c"\r\n', b"OK\r\n"]
        shares = top_level(lines)
        self.assertEqual(shares, {"evalsha": 1.0, "set": 0.5, "publish": 0.0})
        found = entry("x", {}, [], {"evalsha": 4, "set": 6, "publish": 4, "client|setinfo": 1})
        self.assertEqual(summaries.own_commands(found, shares), {"evalsha": 4, "set": 3, "client|setinfo": 1})


class Text(unittest.TestCase):
    def test_numbers_have_three_digits_that_mean_something(self):
        self.assertEqual([number(value) for value in (None, 0, 0.1234, 1.234, 12.34, 123.4, 1234.5, 1234567)],
                         ["–", "0", "0.123", "1.23", "12.3", "123", "1,230", "1,230,000"])

    def test_a_spread_shows_its_ends_if_there_were_several_rounds(self):
        self.assertEqual(spread(Spread(2, 1, 3)), "2.00 (1.00–3.00)")
        self.assertEqual(spread(Spread(2, 2, 2)), "2.00")

    def test_a_table_has_its_numbers_to_the_right(self):
        self.assertEqual(table(["a", "b"], [["x", 1]]), ["| a | b |", "| --- | ---: |", "| x | 1 |"])

    def test_only_what_is_between_the_marks_is_replaced(self):
        text = "a\n<!-- m -->\nold\n<!-- /m -->\nb\n"
        self.assertEqual(replace_between(text, "m", ["new"]), "a\n<!-- m -->\nnew\n<!-- /m -->\nb\n")
        self.assertIsNone(replace_between("a\n<!-- m -->\n", "m", ["new"]))


if __name__ == "__main__":
    unittest.main()
