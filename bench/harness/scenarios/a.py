# SPDX-License-Identifier: Apache-2.0
"""a. The uncontended pair: take and release, back to back, each caller on a lock of its own.

All drivers stay up, on one server; rounds go by turns. The script ceiling is measured in the same rounds. Then the same
again beside programs that only compute, for those with threads, and for what they are measured by."""

import subprocess
import sys

import ceiling
from bench import Fleet
from contestants import COROUTINES
from server import Server
from summaries import CEILING

TITLE = "An uncontended lock: take and release"
BUSY = 2  # programs that compute


class Computing:
    """So many programs that only compute, meanwhile. A context manager."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self.count)]

    def __exit__(self, *_):
        for program in self.programs:
            program.kill()
            program.wait()


def run(bench, threads=(1, 2, 3, 4, 8, 16, 64), computing=(0, BUSY)):
    rounds = bench.rounds_of(3, 7)
    seconds = bench.size(0.3, 2)
    bench.note_command(f"pairs threads=T seconds={seconds} keys=PREFIX")
    with Server() as server, Fleet(bench, server, bench.names) as fleet:
        fleet.warm_up()
        for number in range(rounds):
            bench.say(f"round {number + 1} of {rounds}")
            bench.measure(server, CEILING, {}, number, lambda: [ceiling.measure(server, bench.root, seconds)])
            for beside in computing:
                with Computing(beside):
                    for count in threads:
                        measure(fleet, [name for name in bench.order(fleet.names, number, rounds)
                                        if not beside or name not in COROUTINES], count, seconds, number, beside)


def measure(fleet, names, count, seconds, number, beside):
    case = {"threads": count, **({"beside": beside} if beside else {})}
    for name in names:
        command = f"pairs threads={count} seconds={seconds} keys=a:{name}:{number}:{beside}"
        fleet.measure(name, case, number, lambda drivers: [drivers[0].ask(command)])
