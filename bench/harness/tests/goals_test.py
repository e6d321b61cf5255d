# SPDX-License-Identifier: Apache-2.0
import unittest

import goals
from stats import spread


def rate(value):
    return {"rate": spread([value])}


def only(found, text):
    matching = [goal for goal in found if text in goal.text]
    assert len(matching) == 1, matching
    return matching[0]


class Goals(unittest.TestCase):
    def test_without_results_nothing_is_met_or_missed(self):
        found = goals.evaluate({})
        self.assertEqual({goal.value for goal in found}, {None})
        self.assertEqual({goal.met for goal in found}, {None})

    def test_a_ratio_is_to_the_best_of_both_redissons(self):
        summary = {"holdfast": {(1, 16): rate(1000)}, "redisson-3": {(1, 16): rate(5)},
                   "redisson-4": {(1, 16): rate(8)}}
        goal = only(goals.hot(summary), "1 process")
        self.assertEqual(goal.value, 125)
        self.assertTrue(goal.met)

    def test_a_limit_itself_is_met(self):
        summary = {"holdfast": {(4, 8): {"least_process": spread([0.5])}}}
        self.assertTrue(only(goals.hot(summary), "4 processes of 8 threads, the least").met)

    def test_the_lowest_is_the_best_where_less_is_better(self):
        summary = {"holdfast": {"p50": spread([120])}, "redisson-3": {"p50": spread([200])},
                   "redisson-4": {"p50": spread([300])}, "push-floor": {"p50": spread([100])}}
        floor, redisson, rueidislock = goals.hand_over(summary)
        self.assertEqual((floor.value, floor.met), (1.2, True))
        self.assertEqual((redisson.value, redisson.met), (0.6, False))
        self.assertIsNone(rueidislock.met)

    def test_the_ceiling_is_no_peer(self):
        summary = {"holdfast": {16: rate(90)}, "redsync": {16: rate(30)}, "script-ceiling": {None: rate(100)}}
        found = list(goals.uncontended(summary))
        self.assertEqual(only(found, "16 threads, pairs per second, of what").value, 90)
        self.assertEqual(only(found, "16 threads, pairs per second, against the best other").value, 3)

    def test_few_threads_are_judged_where_they_are_worst(self):
        summary = {"holdfast": {1: rate(95), 2: rate(60), 64: rate(500), "beside": {2: rate(30)}},
                   "raw-scripts": {1: rate(100), 2: rate(120), 64: rate(100), "beside": {2: rate(30)}},
                   "redsync": {2: rate(30), "beside": {2: rate(60)}}}
        found = list(goals.few_threads(summary))
        scripts, peer, beside_scripts, beside_peer = [(goal.value, goal.met) for goal in found]
        self.assertEqual((scripts, peer), ((0.5, False), (2, True)))
        self.assertEqual((beside_scripts, beside_peer), ((1, True), (0.5, False)))
        self.assertIn("least with 2", found[0].text)

    def test_the_best_face_with_coroutines_against_the_best_with_threads(self):
        summary = {"holdfast": {64: rate(70)}, "holdfast-pipelined": {64: rate(100)},
                   "holdfast-async": {64: rate(80)}, "holdfast-async-pipelined": {64: rate(90)},
                   "redsync": {64: rate(500)}}
        goal = only(goals.uncontended(summary), "its best with threads")
        self.assertEqual((goal.value, goal.met), (0.9, True))
        del summary["holdfast-async-pipelined"]
        goal = only(goals.uncontended(summary), "its best with threads")
        self.assertEqual((goal.value, goal.met), (0.8, False))
        self.assertIsNone(only(goals.uncontended({"holdfast": {64: rate(70)}}), "its best with threads").met)

    def test_coroutines_are_judged_beside_the_peers_as_threads_are(self):
        summary = {"holdfast-async": {64: rate(90)}, "redisson-3": {64: rate(20)}, "redsync": {64: rate(60)}}
        found = list(goals.uncontended(summary))
        self.assertEqual(only(found, "64 coroutines of one thread, pairs per second, against the best Redisson").value, 4.5)
        self.assertEqual(only(found, "64 coroutines of one thread, pairs per second, against the best other").value, 1.5)

    def test_the_worst_number_of_threads_decides_about_server_cpu(self):
        summary = {"holdfast": {1: {"server_us": spread([50])}, 16: {"server_us": spread([10])}},
                   "redisson-3": {1: {"server_us": spread([80])}, 16: {"server_us": spread([40])}}}
        goal = only(goals.uncontended(summary), "server CPU")
        self.assertEqual((goal.value, goal.met), (0.625, False))

    def test_each_kind_of_lock_is_judged_at_its_worst_number_of_callers(self):
        def pairs(one, sixteen):
            return {"pairs": {("fair", 1): {"server_us": spread([one])}, ("fair", 16): {"server_us": spread([sixteen])}}}
        summary = {"holdfast": pairs(20, 20), "redisson-3": pairs(50, 80), "redisson-4": pairs(60, 40)}
        found = list(goals.kinds(summary))
        self.assertEqual(only(found, "fair lock, server CPU").value, 0.5)
        self.assertIsNone(only(found, "spin lock").met)

    def test_any_lock_is_judged_by_script_calls_of_each_process(self):
        found = list(goals.few({"holdfast": {("any", 4, 16): {"scripts_each": spread([1.5])}}}))
        self.assertFalse(only(found, "in 4 processes").met)
        self.assertIsNone(only(found, "in 64 processes").met)

    def test_crowds_are_judged_by_the_worst_time_inside_and_less_their_polls(self):
        rows = [{"kind": "lock", "clients": 2000, "inside_ms": inside, "took_ms": took, "asked": asked, "cpu_ms": 9}
                for inside, took, asked in ((1, 8, 20.8), (1000, 1002, 105))]
        rows += [{"kind": "floor", "clients": 2000, "took_ms": 2, "cpu_ms": 9}, {**rows[0], "clients": 100, "asked": 500}]
        found = list(goals.crowds({"holdfast-async": rows}))
        scripts = only(found, "(lock), scripts")
        self.assertEqual((scripts.value, scripts.met), (20, False))
        self.assertEqual(only(found, "(lock), from grant to grant").value, 5)
        self.assertIsNone(only(found, "(fair), scripts").met)

    def test_held_locks_are_judged_at_the_largest_size(self):
        summary = {"holdfast": {100: {"bytes": 1000, "server_us": 2}, 1000: {"bytes": 200, "server_us": 1}},
                   "redisson-3": {100: {"server_us": 5}}}
        found = list(goals.held(summary))
        self.assertEqual(only(found, "client memory").value, 200)
        self.assertEqual(only(found, "server CPU").value, 0.4)


if __name__ == "__main__":
    unittest.main()
