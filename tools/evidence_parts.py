# SPDX-License-Identifier: Apache-2.0
"""The parts of docs/evidence.md and docs/records/evidence.md, each from its records. Pure."""
import re

from evidence_words import (NOT_RECORDED, by, commit_of, counted, duration, is_known, kinds, last_commit, latest,
                            milliseconds, number, origins, ran_on, table, total)


def controls(records):
    return [record for record in records if record.get("control")]


def runs(records):
    return [record for record in records if not record.get("control")]


# ---- chaos ----


def worst(records, figure):
    values = [record[figure] for record in records if record.get(figure)]
    return milliseconds(max(values)) if values else "–"


def not_promised(faults_source, all_acks):
    """Under which faults exclusion is not promised, by what tests/chaos/faults.cpp says of each."""
    found = re.findall(r'^\s*\{\w+, "([^"]+)", \w+, (\w+)', faults_source, re.M)
    return [kind for kind, exclusion in found if exclusion in ("counted", "data_lost") or (exclusion == "with_all_acks" and not all_acks)]


def control_of(records, shape):
    of_shape = [record for record in controls(records) if record["shape"] == shape]
    if not of_shape:
        return "not run"
    last = of_shape[-1]
    broken = last.get("violations_by_promise", {})
    return f"{duration(last['seconds'])}: {counted(broken) if broken else '**found nothing**'}"


def why(shape, group, faults_source):
    """What overlaps, forgotten holds and lost updates of a shape come from."""
    struck = kinds(group, "faults")
    lifted = {kind: struck[kind] for kind in not_promised(faults_source, shape.endswith("-acks")) if struck.get(kind)}
    words = [f"struck: {counted(lifted)}" if lifted else "no fault under which exclusion is not promised"]
    late = struck.get("process stopped past its lease", 0)
    if late and total(group, "lost_updates"):
        words.append(f"stopped past the lease, as between check and write: {number(late)}")
    for title, by_cause in (("overlaps", "overlaps_counted_by"), ("forgotten", "forgotten_by"),
                            ("updates lost", "lost_updates_by")):
        if causes := kinds(group, by_cause):
            words.append(f"{title}: {counted(causes)}")
    if older := [record for record in group if "forgotten_by" not in record]:
        words.append(f"the cause of each is {NOT_RECORDED} in {len(older)} of {len(group)} runs")
    return "; ".join(words)


def violations(count):
    return f"{number(count)} violation{'' if count == 1 else 's'}"


def hangs(count):
    return f"{number(count)} hang{'' if count == 1 else 's'}"


def explanations(records):
    """Of each run in which a promise was broken, or seemed to be, a call did not end, or a process grew: what that was."""
    def what(record):
        if record.get("promised_violations"):
            return violations(record["promised_violations"])
        return hangs(record["hangs"]) if record.get("hangs") else f"{number(record['grown'])} grew"
    return [f"- {record['shape']}, seed {record['seed']}, on {commit_of(record)}: {what(record)}; "
            f"{record.get('explained', '**not explained**')}."
            for record in records if any(record.get(kind) for kind in ("promised_violations", "hangs", "grown"))]


def lives(records):
    """What was seen of the processes of runs in which none is killed."""
    old = [record for record in records if record.get("aged")]
    return [] if not old else [
        f"In {number(len(old))} of the runs no process was killed, for up to "
        f"{duration(max(record['seconds'] for record in old))}, and the memory, descriptors and threads of "
        f"{number(total(old, 'aged'))} processes were counted all the while: {number(total(old, 'grown'))} used more and more.", ""]


def chaos(records, _, faults_source):
    real = runs(records)
    rows = [[shape, duration(total(group, "seconds")), number(total(group, "operations")), number(total(group, "faults_struck")),
             number(total(group, "promised_violations")), number(total(group, "hangs")), number(total(group, "not_done")), control_of(records, shape),
             worst(group, "told_worst_ms"), worst(group, "wait_worst_ms"), number(total(group, "safety_poll_wakes")),
             number(total(group, "overlaps_counted")), number(total(group, "forgotten_holds")),
             f"{number(total(group, 'lost_updates'))} of {number(total(group, 'updates'))}",
             f"{number(total(group, 'lost_updates_unchecked'))} of {number(total(group, 'updates_unchecked'))}",
             why(shape, group, faults_source)]
            for shape, group in by(real, "shape").items()]
    faults = kinds(real, "faults")
    # What judges outcomes is built with the clients of other languages; newer records name these.
    second = total([record for record in real if record.get("protocol") == 2], "operations")
    in_python = sum(record.get("operations_by", {}).get("Python", 0) for record in real)
    beside = total([record for record in real if record.get("others", record.get("outcomes_judged"))], "operations")
    return [
        f"**{number(total(real, 'operations'))} operations, {number(total(real, 'faults_struck'))} faults of "
        f"{len(faults)} kinds, {violations(total(real, 'promised_violations'))} of a promise, "
        f"{hangs(total(real, 'hangs'))}.**", "",
        *([*told, ""] if (told := explanations(real)) else []),
        *table(["servers", "time", "operations", "faults", "violations", "hangs", "not done",
                "control: without shared locks",
                "notified, worst", "longest wait", "found free by a safety poll", "overlaps", "forgotten", "updates lost",
                "without a check", "causes of overlaps, forgotten holds and lost updates"], rows),
        "Real servers and real processes using all faces of the library, with Redisson and redis-py alongside if the machine "
        f"had them ({number(beside)} of the operations), and with processes that use it in Python in later runs "
        f"({number(in_python)} operations of theirs), under faults that are chosen by a seed; {number(second)} operations were with "
        "servers that know RESP2 only (`HOLDFAST_TEST_RESP2=1`). A *violation* breaks something "
        "that is promised under the faults at that time. The *control* is the same load under the same faults with the lock "
        "switched off: each process has locks of its own, and what it finds are the violations that a lock prevents. *Overlaps* "
        "and *forgotten* holds are counted where exclusion is not promised: data lost, locks broken by force, failovers without "
        "acks. *Notified* is how long after the fault the last holder of a forgotten lock knew. A *hang* is a call that did not "
        "end within its bound. *Not done* are faults that could not be carried out, and checks at the end that were impossible "
        "because the servers themselves did not settle. An update changes a number that the lock guards, with a check of "
        "`valid_for()` before the write, or without.", "",
        "**Why updates are lost even with acks.** Acks let a grant survive a failover. They do not help against what is "
        "replicated like any other write: FLUSHALL, and a lock that is broken by force "
        "([acks](../acks-and-clusters.md#acks-what-survives-a-failover)). "
        "And no lock can stop a process that was paused between its check and its write from writing when it continues: such an "
        "update is counted as lost, and is not a violation (tests/README.md, judges). One late write overwrites what others have "
        "counted since, so one fault may cost many updates. *Nothing that is known* is a hold of another library, which asks for "
        "no acks and is not notified; for one of ours it would be a violation.", "",
        *([f"Among the holds were {number(shared)} of readers and of leased permits, and {number(total(real, 'tokens'))} "
           "grants whose fencing token was compared with those before it (later records only).", ""]
          if (shared := total(real, "shared_holds")) else []),
        f"Outcomes judged by Porcupine: {number(total(real, 'outcomes_judged'))}, in "
        f"{number(total(real, 'outcome_pieces'))} pieces, of which {number(total(real, 'outcome_pieces_undecided'))} could "
        f"not be decided in time. The longest run took {duration(max(record['seconds'] for record in real))}.", "",
        *lives(real),
        *table(["fault", "times"], [[kind, number(count)] for kind, count in sorted(faults.items())]),
        f"Seeds: {', '.join(dict.fromkeys(str(record['seed']) for record in real))}.", "", *ran_on(records),
    ]


# ---- what models and simulates ----


def failed_seeds(records):
    """Of each run of the simulator in which a seed failed: what that was."""
    return [f"- {number(record['seeds'])} seeds from {number(record['first_seed'])} on, on {commit_of(record)}: "
            f"{record['failures']} failed; {record.get('explained', '**not explained**')}."
            for record in records if record["failures"]]


def sim(records, *_):
    scenarios, faults = kinds(records, "scenarios"), kinds(records, "faults")
    failed = failed_seeds(records)
    return [
        f"**{number(total(records, 'seeds'))} seeds, {number(total(records, 'failures'))} failures.**", "",
        *([*failed, ""] if failed else []),
        "Whole clients of the real code, everything above the system calls, against model servers in simulated time, on one "
        "thread. A seed determines everything; one that fails is printed, can be repeated byte for byte, and is shrunk.", "",
        *table(["seeds", "time of one core", "seeds a minute", "simulated", "calls", "grants", "contended", "losses reported"],
               [[number(total(records, "seeds")), duration(total(records, "processor_seconds")),
                 number(round(60 * total(records, "seeds") / max(total(records, "processor_seconds"), 1))),
                 duration(total(records, "simulated_seconds")),
                 *(number(total(records, figure)) for figure in ("calls", "grants", "contended", "losses_told"))]]),
        "Scenarios: " + ", ".join(f"{name} {number(count)}" for name, count in sorted(scenarios.items())) + ". Faults: "
        + ", ".join(f"{kind} {number(count)}" for kind, count in sorted(faults.items())) + ".", "",
        *ran_on(records, with_server=False),
    ]


def oracle(records, *_):
    return [
        "The model servers of the simulator are compared with real ones, step by step, on random histories: each reply, each "
        "message and each key.", "",
        *table(["server", "histories", "steps", "differences"],
               [[server, *(number(total(group, figure)) for figure in ("histories", "steps", "differences"))]
                for server, group in sorted(by(records, "server").items())]),
        *(f"{number(total(group, 'differences'))} of the differences: {why}." for why, group in unlike(records).items()),
        *([""] if unlike(records) else []), *ran_on(records),
    ]


def unlike(records):
    """Those runs of the oracle in which a model and a server differed, by what that was."""
    return by([{"explained": "**not explained**", **record} for record in records if record["differences"]], "explained")


def model(records, *_):
    record = records[-1]
    rows = [[f"`{name}`", number(states), number(record["transitions"][name]), number(record["depth"][name]),
             ", ".join(f"{mutant.partition('.')[2].replace('_', ' ')} ({steps})"
                       for mutant, steps in record["counterexample_steps"].items() if mutant.startswith(name + "."))]
            for name, states in record["states"].items()]
    return [
        f"**{record['models_searched']} models, {record['violations']} violations; {record['mutants_caught']} of "
        f"{record['mutants']} mutants fail.**", "",
        "Spin searches all their states, within the bounds given at the top of each `tests/model/*.pml`. The library's own state "
        "machines run in them. A mutant is the model, or the code in it, with a planted bug; the number is the length of the "
        "counterexample.", "",
        *table(["model", "states", "transitions", "depth", "mutants"], rows), *ran_on(records[-1:], with_server=False),
    ]


# ---- what takes turns ----


def found_by_soak(finding):
    if "missed" in finding:
        return f"- {finding['kind']}: the bug planted by `{finding['missed']}` was not found, on `{finding['commit']}`; " \
               f"{finding.get('explained', '**not explained**')}."
    return f"- {finding['kind']}: `{finding['command']}` failed on `{finding['commit']}`, {'and again' if finding['again'] else 'but not'} " \
           f"when it was repeated; {finding.get('explained', '**not explained**')}."


def soak(records, *_):
    state = records[-1]
    rows = [[kind, number(known["pieces"]), duration(known["seconds"]), number(known["found"]), number(known["canaries"]),
             number(known["missed"])] for kind, known in state["kinds"].items()]
    commits = state["seconds_by_commit"]
    return [
        "The simulator, chaos, processes that live on for an hour, answers that come late, the simulator's servers beside real ones, "
        "and fuzzers, by turns, with seeds that were never used before. What each run did is counted in its own part of this page. In "
        "each hour of its own time a kind must find a bug that was planted for it.", "",
        *table(["kind", "pieces", "time", "failed", "planted bugs found", "not found"], rows),
        *([*map(found_by_soak, state["findings"]), ""] if state.get("findings") else []),
        *table(["commit", "time"], [[f"`{commit}`", duration(seconds)] for commit, seconds in commits.items()]),
        f"The latest of these, `{state['commit']}`, has run for {duration(commits[state['commit']])}.", "",
    ]


# ---- what attacks the code ----


def crashes(group, findings):
    """How many, which findings they may have been, and how many runs there were since the last one without any."""
    found = [record for record in group if record["crashes"]]
    if not found:
        return "0"
    since = [record for record in group if record["at"] > found[-1]["at"]]
    told = [record["crash"] for record in found if record.get("crash")]
    known = [str(i) for i, finding in enumerate(findings, 1) if finding.get("fuzz") == group[0]["target"]]
    words = [f"{total(group, 'crashes')}"]
    if told:
        words.append(": " + "; ".join(told))
    elif known:
        words.append(f", fixed: defect {' or '.join(known)} below"
                     + ("" if len(known) == 1 else f" (which of them is {NOT_RECORDED})"))
    else:
        words.append(f": the cause is {NOT_RECORDED}")
    return "".join(words) + f"; none in {number(total(since, 'runs'))} runs since"


def fuzz(records, findings, *_):
    rows = [[target, number(total(group, "runs")), duration(total(group, "seconds")), number(group[-1]["coverage"]),
             number(group[-1]["corpus"]), crashes(group, findings)]
            for target, group in sorted(by(records, "target").items())]
    return ["By libFuzzer, with the address and undefined-behaviour sanitizers. A crash is any broken promise of a target: "
            "the run ends there, and its input becomes part of the corpus.", "",
            *table(["target", "runs", "time", "edges covered", "corpus", "crashes"], rows),
            *ran_on(records, with_server=False)]


def mutants(records, *_):
    last = latest(records, "mutant")
    rows = [[record["mutant"], record["what"], f"`{record['suite']}.{record['caught_by']}`" if record["caught_by"] else "nothing",
             commit_of(record)]
            for record in last]
    return [f"**{sum(bool(record['caught_by']) for record in last)} of {len(last)} are caught.**", "",
            "Bugs that are planted in the code, one at a time (`tests/mutants/*.txt`); each must make a test fail that passes "
            "without it.", "",
            *table(["mutant", "what it breaks", "caught by", "last on"], rows), *ran_on(records)]


def of_score(record):
    return record.get("caught", 0), sum(record.get(how, 0) for how in ("caught", "survives", "not reached"))


def score(records, *_):
    rows = []
    for record in latest(records, "room"):
        caught, tried = of_score(record)
        rows.append([f"`{record['room']}`", ", ".join(record["suites"]),
                     f"{number(record['sample'])}, seed {record['seed']}" if record["sample"] else "all", number(tried),
                     number(record.get("survives", 0)), number(record.get("not reached", 0)),
                     number(record.get("equivalent", 0)), f"{100 * caught / tried:.1f} %",
                     commit_of(record)])
    return ["Mutants that nobody chose: each operator, condition, number and statement of the code, changed by itself. "
            "`tests/mutants/equivalents.list` says which do what they were made from does, and why; they are not counted.", "",
            *table(["room", "by the suites", "of them", "mutants", "survive", "not reached", "equivalents", "caught", "last on"], rows),
            *ran_on(records)]


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "–"


def coverage(records, *_):
    run = [record for record in records if record["at"] == records[-1]["at"]]
    rows = [[record["room"], number(record["lines"]), share(record["lines_reached"], record["lines"]),
             number(record["branches"]), share(record["branches_reached"], record["branches"])] for record in run]
    return [f"What {', '.join(run[0]['suites'])} reach, in the last run. Branches that only an exception takes are not counted.",
            "", *table(["room", "lines", "reached", "branches", "reached"], rows), *ran_on(run[:1])]


def starvation(records, *_):
    rows = [[record["path"], number(record["failed"]), record["outcomes"], commit_of(record)]
            for record in latest(records, "path")]
    return ["On each path every allocation fails once, or there are no descriptors, or the server has no memory or disk. Nothing may "
            "leak, hang or report something untrue.", "", *table(["path", "failures injected", "outcomes", "last on"], rows), *ran_on(records)]


def suites(records, *_):
    rows = [[record["suite"], number(record["passed"]), number(record["failed"]), number(record["skipped"]), commit_of(record),
             record["at"][:10]] for record in latest(records, "suite")]
    return ["The last recorded run of each suite; `findings` are the tests in the table of defects.", "",
            *table(["suite", "passed", "failed", "skipped", "commit", "day"], rows), *ran_on(records)]


# ---- what was found ----


def found_again(finding, mutant_records, suite_records):
    """By what, and on which commit, the defect was found when it was planted once more; else, when its test passed."""
    planted = [record for record in latest(mutant_records, "mutant")
               if record["mutant"] in finding.get("mutants", []) and record["caught_by"]]
    if planted:
        return "; ".join(f"`{record['suite']}.{record['caught_by']}`, planted as {record['mutant']}, {commit_of(record)}"
                         for record in planted)
    passed = [record for record in suite_records if finding["test"] in record["findings"] and is_known(record["commit"])]
    if passed:
        return f"not planted again; its test passes, {commit_of(passed[-1])}"
    return f"not planted again; last run of its test {NOT_RECORDED}"


def findings_table(findings, mutant_records, suite_records):
    rows = [[i, finding["what"], finding["found_by"], f"`{finding['mended']}`", f"`{finding['test']}`",
             found_again(finding, mutant_records, suite_records)]
            for i, finding in enumerate(findings, 1)]
    return ["What was wrong, with the test that fails if the defect is still there: `ctest --test-dir build -R TEST`. If a mutant "
            "plants the same defect again, the last column says which test found it, and on which commit.", "",
            *table(["#", "what", "found by", "fixed in", "test", "found again by, last on"], rows)]


# ---- the beginning ----


def summary(records, findings):
    """A row for each part: what was tested, what failed, and how we know that a failure would show."""
    rows = []

    def row(name, title, tried, wrong, control):
        if records.get(name):
            rows.append([f"[{title}](records/evidence.md#{title.lower().replace(' ', '-').replace(chr(39), '')})", tried, wrong, control,
                         last_commit(records[name])])

    real, without = runs(records.get("chaos", [])), controls(records.get("chaos", []))
    last_controls = latest(without, "shape")
    shapes = {record["shape"] for record in real}
    row("chaos", "Chaos", f"{number(total(real, 'operations'))} operations, {number(total(real, 'faults_struck'))} faults of "
        f"{len(kinds(real, 'faults'))} kinds", f"{violations(total(real, 'promised_violations'))}"
        + (" ([why](records/evidence.md#chaos))" if explanations(real) else "") + ", "
        f"{hangs(total(real, 'hangs'))}",
        f"without shared locks: {number(total(last_controls, 'promised_violations'))} violations, in "
        f"{sum(bool(record['promised_violations']) for record in last_controls)} of {len(shapes)} shapes")
    of = records.get("sim", [])
    row("sim", "Simulator", f"{number(total(of, 'seeds'))} seeds, {number(total(of, 'calls'))} calls",
        f"{number(total(of, 'failures'))} failures"
        + (" ([why](records/evidence.md#simulator))" if total(of, "failures") else ""), "deliberate errors are found and shrunk (suite sim)")
    of = (records.get("soak") or [{"kinds": {}}])[-1]
    each = list(of["kinds"].values())
    row("soak", "Soak", f"{duration(total(each, 'seconds'))} of {len(each)} kinds, by turns", f"{total(each, 'found')} of "
        f"{number(total(each, 'pieces'))} pieces" + (" ([why](records/evidence.md#soak))" if of.get("findings") else ""),
        f"{total(each, 'canaries')} of {due} planted bugs found" if (due := total(each, "canaries") + total(each, "missed"))
        else "a planted bug in each hour of a kind: none was due yet")
    of = records.get("oracle", [])
    row("oracle", "The simulator's servers", f"{number(total(of, 'steps'))} steps, {len(by(of, 'server'))} servers",
        f"{number(total(of, 'differences'))} differences"
        + (" ([why](records/evidence.md#the-simulators-servers))" if total(of, "differences") else ""), "ten models with one error each are found (suite oracle)")
    of = records.get("model", [])[-1:]
    row("model", "Models", f"{total(of, 'models_searched')} models, {number(sum(kinds(of, 'states').values()))} states",
        f"{total(of, 'violations')} violations", f"{total(of, 'mutants_caught')} of {total(of, 'mutants')} mutants fail")
    of = latest(records.get("mutants", []), "mutant")
    row("mutants", "Mutants", f"{len(of)} bugs planted", f"{sum(not record['caught_by'] for record in of)} survive",
        "each test passes without its mutant")
    of = latest(records.get("score", []), "room")
    caught, tried = map(sum, zip(*map(of_score, of))) if of else (0, 0)
    row("score", "Mutants by chance", f"{number(tried)} mutants in {len(of)} rooms", f"{number(tried - caught)} survive", "–")
    of = records.get("coverage", [])[-1:]  # of all rooms
    row("coverage", "Coverage", f"{number(total(of, 'lines'))} lines, {number(total(of, 'branches'))} branches",
        f"{share(total(of, 'lines_reached'), total(of, 'lines'))} of the lines and "
        f"{share(total(of, 'branches_reached'), total(of, 'branches'))} of the branches are reached", "–")
    of = records.get("fuzz", [])
    now = [group[-1] for group in by(of, "target").values()]
    row("fuzz", "Fuzzers", f"{number(total(of, 'runs'))} runs of {len(now)} targets",
        f"{total(now, 'crashes')} crashes in the last run of each; {total(of, 'crashes')} in all, fixed", "–")
    of = latest(records.get("starvation", []), "path")
    row("starvation", "Starvation of resources", f"{number(total(of, 'failed'))} failures injected on {len(of)} paths",
        "no leak, hang or wrong report", "–")
    of = latest(records.get("suites", []), "suite")
    row("suites", "Suites", f"{number(total(of, 'passed') + total(of, 'failed'))} tests of {len(of)} {'suite' if len(of) == 1 else 'suites'}",
        f"{number(total(of, 'failed'))} fail; {number(total(of, 'skipped'))} skipped", "–")
    planted = sum(bool(finding.get("mutants")) for finding in findings)
    return [*table(["", "what was tested", "what failed", "control", "last on"], rows),
            f"Found and fixed on the way: [{len(findings)} defects](records/evidence.md#defects-found), of which {planted} are planted again in each run "
            "of the mutants. What nobody has tested is listed under [blind spots](#blind-spots).", ""]
