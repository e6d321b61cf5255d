# SPDX-License-Identifier: Apache-2.0
"""Of tools/soak: who is next, and what is kept of what was found."""
import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

from script import script

soak = script("soak")


class Soaked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        soak.KEPT, soak.PROCESSORS = pathlib.Path(folder.name), 1
        self.calls, self.failing, self.state = [], set(), {}

    def run_it(self, command):
        self.calls.append(" ".join(command))
        return not any(word in self.calls[-1] for word in self.failing), 100, "what it said"

    def pieces(self, count, kinds=("sim", "chaos")):
        it = soak.Soak(self.state, self.run_it, "abc")
        for _ in range(count):
            it.piece(soak.next_kind(self.state, kinds))
        return it.news

    def test_no_seed_is_used_twice_also_by_a_later_call(self):
        self.pieces(3, ["sim"])
        self.pieces(2, ["sim"])
        firsts = [call.split("--first ")[1].split()[0] for call in self.calls]
        self.assertEqual(firsts, ["10000000", "10020000", "10040000", "10060000", "10080000"])

    def test_the_simulator_has_a_process_for_each_processor_and_seeds_of_its_own(self):
        soak.PROCESSORS, self.failing = 2, {"--first 10020000"}
        news = self.pieces(2, ["sim"])
        self.assertEqual(sorted({call.split("--first ")[1].split()[0] for call in self.calls}),
                         ["10000000", "10020000", "10040000", "10060000"])
        self.assertEqual([what["seed"] for what in news], [10020000])
        self.assertEqual(self.state["kinds"]["sim"]["seconds"], 200)

    def test_the_kinds_take_turns_and_what_finds_more_gets_more(self):
        self.pieces(8)
        self.assertEqual(sum("simulate" in call for call in self.calls), 4)
        self.failing = {"simulate"}
        self.pieces(2)
        self.failing, self.calls = set(), []
        self.pieces(12)
        self.assertGreater(sum("simulate" in call for call in self.calls), 7)

    def test_what_is_found_is_run_again_and_kept_with_its_command(self):
        self.failing = {"--first 10020000"}
        news = self.pieces(2, ["sim"])
        command = "build/tests/simulate --first 10020000 --seeds 20000"
        self.assertEqual(self.calls.count(command), 2)
        self.assertEqual(news, [{"kind": "sim", "seed": 10020000, "command": command, "commit": "abc", "again": True}])
        self.assertEqual(self.state["findings"], news)
        self.assertEqual((soak.KEPT / "1.log").read_text(), "what it said")

    def test_a_planted_bug_is_looked_for_in_each_hour_of_a_kind(self):
        self.assertEqual(self.pieces(73, ["chaos"]), [])
        controls = [call for call in self.calls if "--control" in call]
        self.assertEqual([call.split()[-1] for call in controls], ["one", "tls"])
        self.assertEqual(self.state["kinds"]["chaos"]["canaries"], 2)

    def test_a_planted_bug_that_is_not_found_is_one_of_the_run_itself(self):
        self.failing = {"--control"}
        news = self.pieces(36, ["chaos"])
        self.assertEqual([what["missed"] for what in news], ["build/tests/chaos --control 8 --shape one"])
        self.assertEqual(self.state["kinds"]["chaos"]["missed"], 1)

    def test_an_hour_in_one_piece_begins_only_where_it_fits(self):
        done = []
        with mock.patch.object(soak, "STATE", soak.KEPT / "state.json"), mock.patch.object(
                soak, "TAKEN_OVER", soak.KEPT / "none.json"), mock.patch.dict(soak.os.environ), mock.patch.object(
                soak.origin, "commit", lambda: "abc"), mock.patch.object(
                soak, "run_here", lambda command: (done.append(command), (True, 1e6, ""))[1]):
            for hours, expected in (("1", ["sim"]), ("1.2", ["old"])):
                clock = iter(range(0, 10 ** 9, 100))
                with mock.patch.object(soak.time, "monotonic", lambda: next(clock)), contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(soak.main(["--hours", hours, "--only", "old", "--only", "sim"]), 0)
                self.assertEqual(["old" if "--old" in command else "sim" for command in done[:1]], expected)
                self.assertEqual(soak.os.environ["HOLDFAST_COMMIT"], "abc")  # a record names what was run
                done.clear()

    def test_it_goes_on_from_the_later_state_of_this_machine_and_the_committed_one(self):
        here, committed = soak.KEPT / "here.json", soak.KEPT / "committed.json"
        with mock.patch.object(soak, "STATE", here), mock.patch.object(soak, "TAKEN_OVER", committed):
            self.assertEqual(soak.last_state(), {})
            committed.write_text('{"at": "2026-01-02T10:00:00Z"}')
            self.assertEqual(soak.last_state()["at"], "2026-01-02T10:00:00Z")
            for at, later in (("2026-01-01T10:00:00Z", "2026-01-02T10:00:00Z"), ("2026-01-03T10:00:00Z",) * 2):
                here.write_text(f'{{"at": "{at}"}}')
                self.assertEqual(soak.last_state()["at"], later)

    def test_the_time_counts_by_commit(self):
        self.pieces(3)
        self.assertEqual(self.state["seconds_by_commit"], {"abc": 300})

    def test_each_kind_has_planted_bugs_and_commands(self):
        for kind, known in soak.KINDS.items():
            self.assertTrue(known.command(known.first), kind)
            self.assertTrue(not known.canary or known.canary(3)[-1], kind)


if __name__ == "__main__":
    unittest.main()
