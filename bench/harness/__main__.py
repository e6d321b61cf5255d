# SPDX-License-Identifier: Apache-2.0
"""Measures, and makes docs/benchmarks.md and its plots. Started by bench/run; bench/README.md says what it is about."""

import argparse
import os
import resource
import signal
import sys
import time

import contestants
import machine
import report
import results
from bench import Bench
from scenarios import ALL
from server import Server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments():
    parser = argparse.ArgumentParser(prog="bench/run", description="Measures Holdfast beside its peers.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=f"of {' '.join(ALL)}; all if none is named")
    parser.add_argument("--full", action="store_true", help="every scenario at full size")
    parser.add_argument("--most", metavar="N", type=int, help="in d: hold no more locks than that")
    parser.add_argument("--rounds", metavar="N", type=int, help="no more rounds than that")
    parser.add_argument("--only", metavar="NAMES", help="only these contestants, separated by commas")
    parser.add_argument("--report", action="store_true", help="make the page from the results there are")
    parser.add_argument("--goals", action="store_true", help="measure nothing; say of each goal whether it is met, for each kind of machine")
    parser.add_argument("--aside", action="store_true", help="the results of the page stay; these stand in its table of kinds of machine")
    parser.add_argument("--drivers", metavar="FOLDER", default="build/bench/drivers", help="where the drivers are")
    parser.add_argument("--out", metavar="FOLDER", default=".", help="write results and page below this folder")
    found = parser.parse_args()
    unknown = [name for name in found.scenarios if name not in ALL]
    if unknown:
        parser.error(f"no such scenario: {' '.join(unknown)}")
    return found


def allow_many_files():
    """Thousands of connections: as many open files as are allowed, here and in all that is started from here."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def command_line(found):
    """How this was started, as one would type it."""
    words = [*(["--full"] if found.full else []), *([f"--most {found.most}"] if found.most else []),
             *([f"--rounds {found.rounds}"] if found.rounds else []),
             *([f"--only {found.only}"] if found.only else []), *(["--aside"] if found.aside else []), *found.scenarios]
    return " ".join(["./bench/run", *words])


def measure(found):
    allow_many_files()
    entrants = contestants.find(os.path.join(ROOT, found.drivers), found.only and found.only.split(","))
    if not entrants.names:
        sys.exit(f"bench: no driver in {found.drivers}")
    with Server() as server:
        about = machine.describe(ROOT, server.version())
    logs = os.path.join(ROOT, "build", "bench", "logs")
    os.makedirs(logs, exist_ok=True)
    bench = Bench(ROOT, entrants, found.full, logs, found.most, found.rounds)
    for name, why in entrants.skipped.items():
        bench.say(f"without {name}: {why}")
    for letter in found.scenarios or ALL:
        bench.begin(letter)
        date, load, start, watch = machine.now(), machine.load(), time.monotonic(), machine.Watch()
        ALL[letter].run(bench)
        results.write(found.out, letter, {
            "scenario": letter, "title": ALL[letter].TITLE, "form": "full" if found.full else "quick",
            "command": command_line(found), "date": date, "seconds": round(time.monotonic() - start, 1),
            "load_before": load, "load_after": machine.load(), "others_busy": watch.others_busy(),
            "machine": about, "versions": entrants.versions, "skipped": entrants.skipped, "commands": bench.commands,
            "top_level": bench.top_level, "left_out": bench.left_out, "rounds": bench.rounds}, found.aside)


def main():
    found = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: told to stop"))  # so that servers and drivers are ended
    os.chdir(ROOT)
    if found.goals:
        print(*report.goal_lines(results.by_kind(found.out, [*ALL, "crowd"])), sep="\n")
        return
    if not found.report:
        measure(found)
    report.write(found.out, results.read_all(found.out, ALL), results.read_all(found.out, ALL, ".earlier"),
                 results.by_kind(found.out, ALL))


main()
