# SPDX-License-Identifier: Apache-2.0
"""Of the page of evidence: what is pure, and that nothing is filled in that a record does not say."""
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import evidence_parts as parts
import evidence_words as words
import origin
from script import script

evidence = script("evidence")

OLD = {"commit": "aaaaaaa", "at": "2026-01-01T10:00:00Z"}
NEW = {"commit": "bbbbbbb", "at": "2026-01-02T10:00:00Z", "server": "Redis 7.0.15", "kernel": "Linux 6.1.0",
       "processors": "2 x Something"}
FAULTS = '''    {flushed, "all keys flushed", kServers, data_lost},
    {failed_over, "failover", kServers, with_all_acks, 0, 0, 60},
    {links_cut, "links cut", kClients, promised},'''


def chaos_record(origin_fields, **more):
    return {**origin_fields, "shape": "one", "seconds": 10.0, "operations": 100, "faults_struck": 2, "seed": 1,
            "faults": {"all keys flushed": 2}, "promised_violations": 0, "hangs": 0, **more}


class Soak(unittest.TestCase):
    STATE = {"commit": "bbbbbbb", "at": "2026-01-02T10:00:00Z", "seconds_by_commit": {"aaaaaaa": 90, "bbbbbbb": 7200},
             "kinds": {"sim": {"seconds": 7290, "pieces": 4, "found": 1, "canaries": 2, "missed": 1}}}

    def test_each_kind_and_commit_has_its_time(self):
        page = "\n".join(parts.soak([self.STATE]))
        self.assertIn("| sim | 4 | 2.0 h | 1 | 2 | 1 |", page)
        self.assertIn("| `aaaaaaa` | 90 s |", page)
        self.assertIn("The latest of these, `bbbbbbb`, has run for 2.0 h.", page)

    def test_what_failed_is_said_with_its_reason_or_that_there_is_none(self):
        findings = [{"kind": "sim", "seed": 7, "command": "simulate --first 7", "commit": "aaaaaaa", "again": False},
                    {"kind": "chaos", "missed": "chaos --control", "commit": "aaaaaaa", "explained": "the machine stood still"}]
        page = "\n".join(parts.soak([{**self.STATE, "findings": findings}]))
        self.assertIn("- sim: `simulate --first 7` failed on `aaaaaaa`, but not when it was repeated; **not explained**.", page)
        self.assertIn("- chaos: the bug planted by `chaos --control` was not found, on `aaaaaaa`; the machine stood still.", page)

    def test_it_has_a_row_of_the_summary(self):
        page = "\n".join(parts.summary({"soak": [self.STATE]}, []))
        self.assertIn("| [Soak](records/evidence.md#soak) | 2.0 h of 1 kinds, by turns | 1 of 4 pieces | 2 of 3 planted bugs found "
                      "| `bbbbbbb`, 2026-01-02 |", page)
        short = {**self.STATE, "kinds": {"old": {**self.STATE["kinds"]["sim"], "canaries": 0, "missed": 0}}}
        self.assertIn("none was due yet", "\n".join(parts.summary({"soak": [short]}, [])))


class Origins(unittest.TestCase):
    def test_what_an_old_record_does_not_say_is_not_recorded(self):
        rows = words.origins([OLD, NEW])
        self.assertEqual(rows, [["`aaaaaaa`", "2026-01-01", "not recorded", "not recorded", "not recorded", "1"],
                                ["`bbbbbbb`", "2026-01-02", "Redis 7.0.15", "Linux 6.1.0", "2 x Something", "1"]])

    def test_runs_of_one_place_are_one_row_from_the_first_day_to_the_last(self):
        rows = words.origins([NEW, {**NEW, "commit": "ccccccc", "at": "2026-01-05T00:00:00Z"}])
        self.assertEqual(rows, [["`bbbbbbb`, `ccccccc`", "2026-01-02 to 2026-01-05", *rows[0][2:5], "2"]])

    def test_an_empty_commit_is_not_recorded(self):
        for commit in ("", "unknown"):
            self.assertEqual(words.commit_of({"commit": commit}), "not recorded")

    def test_a_new_record_says_all_of_it(self):
        with mock.patch.dict(os.environ, {"HOLDFAST_COMMIT": "abc1234"}):
            record = origin.origin("model")
        self.assertEqual((record["part"], record["commit"]), ("model", "abc1234"))
        self.assertRegex(record["kernel"], r"^\w+ \d")
        self.assertRegex(record["processors"], r"^\d+ x .")
        self.assertNotIn("server", record)

    def test_the_server_is_what_the_program_says(self):
        with mock.patch.object(origin, "said_by", return_value="Valkey server v=8.1.1 sha=0"):
            self.assertEqual(origin.server(), "Valkey 8.1.1")


class Chaos(unittest.TestCase):
    def test_a_control_counts_as_one_and_not_as_a_run(self):
        records = [chaos_record(NEW), chaos_record(NEW, control=True, promised_violations=5,
                                                   violations_by_promise={"exclusion": 4, "lost update": 1})]
        page = "\n".join(parts.chaos(records, [], FAULTS))
        self.assertIn("**100 operations, 2 faults of 1 kinds, 0 violations", page)
        self.assertIn("10 s: exclusion 4, lost update 1", page)

    def test_shared_holds_and_tokens_are_named_where_they_were_recorded(self):
        self.assertNotIn("fencing token", "\n".join(parts.chaos([chaos_record(NEW)], [], FAULTS)))
        page = "\n".join(parts.chaos([chaos_record(OLD), chaos_record(NEW, shared_holds=1200, tokens=34)], [], FAULTS))
        self.assertIn("Among the holds were 1,200 of readers and of leased permits, and 34 grants whose fencing token", page)

    def test_processes_that_lived_on_are_counted_and_those_that_grew_are_explained_or_not(self):
        self.assertNotIn("used more and more", "\n".join(parts.chaos([chaos_record(NEW, aged=0, grown=0)], [], FAULTS)))
        page = "\n".join(parts.chaos([chaos_record(NEW), chaos_record(NEW, seconds=3600.0, aged=9, grown=2)], [], FAULTS))
        self.assertIn("In 1 of the runs no process was killed, for up to 60 min", page)
        self.assertIn("of 9 processes were counted all the while: 2 used more and more.", page)
        self.assertIn("- one, seed 1, on `bbbbbbb`: 2 grew; **not explained**.", page)

    def test_a_control_that_finds_nothing_stands_out(self):
        self.assertIn("**found nothing**", parts.control_of([chaos_record(NEW, control=True)], "one"))
        self.assertEqual(parts.control_of([chaos_record(NEW)], "one"), "not run")

    def test_acks_leave_only_the_faults_that_they_do_not_cover(self):
        self.assertEqual(parts.not_promised(FAULTS, all_acks=False), ["all keys flushed", "failover"])
        self.assertEqual(parts.not_promised(FAULTS, all_acks=True), ["all keys flushed"])

    def test_the_reason_is_what_the_judges_have_found_and_not_guessed_for_older_runs(self):
        new = chaos_record(NEW, forgotten_by={"all keys flushed": 3}, lost_updates_by={}, overlaps_counted_by={})
        self.assertEqual(parts.why("one", [chaos_record(OLD), new], FAULTS),
                         "struck: all keys flushed 4; forgotten: all keys flushed 3; "
                         "the cause of each is not recorded in 1 of 2 runs")


class Oracle(unittest.TestCase):
    def test_a_difference_is_explained_or_not(self):
        record = {**NEW, "histories": 1, "steps": 200, "differences": 1}
        page = "\n".join(parts.oracle([record, {**record, "explained": "the oracle's own"}, {**record, "differences": 0}]))
        self.assertIn("1 of the differences: **not explained**.", page)
        self.assertIn("1 of the differences: the oracle's own.", page)
        self.assertNotIn("of the differences", "\n".join(parts.oracle([{**record, "differences": 0}])))


class Fuzz(unittest.TestCase):
    def crash(self, **more):
        return [{**OLD, "target": "url", "crashes": 1, "runs": 5, **more}, {**NEW, "target": "url", "crashes": 0, "runs": 70}]

    def test_a_crash_names_its_finding_and_the_runs_since(self):
        findings = [{}, {"fuzz": "url"}]
        self.assertEqual(parts.crashes(self.crash(), findings), "1, fixed: defect 2 below; none in 70 runs since")

    def test_a_crash_that_said_what_it_was_says_so(self):
        self.assertEqual(parts.crashes(self.crash(crash="BROKEN x"), []), "1: BROKEN x; none in 70 runs since")

    def test_of_several_findings_none_is_picked(self):
        self.assertIn("defect 1 or 2 below (which of them is not recorded)",
                      parts.crashes(self.crash(), [{"fuzz": "url"}, {"fuzz": "url"}]))


class Violations(unittest.TestCase):
    def test_each_is_explained_or_said_not_to_be(self):
        broken = {**NEW, "shape": "one", "seed": 7, "promised_violations": 1}
        self.assertEqual(parts.explanations([{**broken, "promised_violations": 0}]), [])
        self.assertEqual(parts.explanations([broken, {**broken, "promised_violations": 2, "explained": "a reason"}]),
                         ["- one, seed 7, on `bbbbbbb`: 1 violation; **not explained**.",
                          "- one, seed 7, on `bbbbbbb`: 2 violations; a reason."])


class FailedSeeds(unittest.TestCase):
    def test_each_run_is_explained_or_said_not_to_be(self):
        run = {**NEW, "seeds": 20_000, "first_seed": 1, "failures": 0}
        self.assertEqual(parts.failed_seeds([run]), [])
        self.assertEqual(parts.failed_seeds([{**run, "failures": 2}, {**run, "failures": 1, "explained": "the judge was wrong"}]),
                         ["- 20,000 seeds from 1 on, on `bbbbbbb`: 2 failed; **not explained**.",
                          "- 20,000 seeds from 1 on, on `bbbbbbb`: 1 failed; the judge was wrong."])


class Findings(unittest.TestCase):
    FINDING = {"test": "unit.A.B", "mutants": ["m"]}

    def test_found_again_by_the_last_run_of_its_mutant(self):
        runs = [{**each, "mutant": "m", "suite": "unit", "caught_by": "A.B"} for each in (OLD, NEW)]
        self.assertEqual(parts.found_again(self.FINDING, runs, []), "`unit.A.B`, planted as m, `bbbbbbb`")

    def test_a_mutant_that_survived_has_not_found_it(self):
        runs = [{**OLD, "mutant": "m", "suite": "unit", "caught_by": "A.B"},
                {**NEW, "mutant": "m", "suite": "unit", "caught_by": ""}]
        self.assertIn("not recorded", parts.found_again(self.FINDING, runs, []))

    def test_without_a_mutant_the_last_commit_on_which_its_test_passes(self):
        suites = [{**NEW, "suite": "unit", "findings": ["unit.A.B"]}]
        self.assertEqual(parts.found_again({"test": "unit.A.B"}, [], suites),
                         "not planted again; its test passes, `bbbbbbb`")

    def test_a_suite_says_which_of_them_passed_and_a_failure_of_any_counts(self):
        junit = """<testsuite><testcase name="unit.A.B" status="run"/><testcase name="unit.A.C" status="fail"/>
                   <testcase name="unit.D.E" status="notrun"/></testsuite>"""
        found = evidence.outcomes(junit)
        self.assertEqual({outcome: len(names) for outcome, names in found.items()},
                         {"passed": 1, "failed": 1, "skipped": 1})
        self.assertEqual(evidence.stand(found, ["unit.A.", "unit.A.B", "unit.D.E"]), ["unit.A.B"])


class Collecting(unittest.TestCase):
    def test_only_records_of_commits_are_taken_over_and_each_once(self):
        with tempfile.TemporaryDirectory() as folder:
            fresh, kept = pathlib.Path(folder) / "fresh", pathlib.Path(folder) / "kept"
            fresh.mkdir()
            kept.mkdir()
            line = '{"part": "model", "commit": "%s", "at": "2026"}\n'
            (fresh / "model.jsonl").write_text("".join(line % commit for commit in ("", "unknown", "abc+", "lost", "abc", "abc")))
            with mock.patch.object(evidence, "FRESH", fresh), mock.patch.object(evidence, "RECORDS", kept), \
                    mock.patch.object(evidence, "in_history", lambda commit: commit == "abc"), mock.patch("builtins.print"):
                evidence.collect()
                evidence.collect()
            self.assertEqual((kept / "model.jsonl").read_text(), line % "abc")

    def test_the_state_of_the_soak_is_taken_over_if_it_is_the_later_one(self):
        with tempfile.TemporaryDirectory() as folder:
            fresh, kept = pathlib.Path(folder) / "fresh", pathlib.Path(folder) / "kept"
            fresh.mkdir()
            kept.mkdir()
            with mock.patch.object(evidence, "FRESH", fresh), mock.patch.object(evidence, "RECORDS", kept), \
                    mock.patch.object(evidence.subprocess, "run"):
                for day, expected in (("02", "02"), ("01", "02"), ("03", "03")):
                    (fresh / "soak.json").write_text(f'{{"at": "2026-01-{day}"}}')
                    evidence.collect()
                    self.assertEqual(evidence.soak_state(), {"at": f"2026-01-{expected}"})


class Page(unittest.TestCase):
    def titles(self, page):
        return [line for line in page.splitlines() if line.startswith("## ")]

    def test_begins_with_results_and_has_no_empty_commit(self):
        front, tables = evidence.pages().values()
        self.assertEqual(self.titles(front), ["## Results", "## Blind spots"])
        self.assertEqual(self.titles(tables)[-2:], ["## Defects found", "## Older records"])
        self.assertNotIn("``", front + tables)


if __name__ == "__main__":
    unittest.main()
