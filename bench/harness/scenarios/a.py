# SPDX-License-Identifier: Apache-2.0
"""a. The uncontended pair: take and release, back to back, each caller on a lock of its own.

All drivers stay up, on one server; rounds go by turns. The script ceiling is measured in the same rounds."""

import ceiling
from bench import Fleet
from server import Server
from summaries import CEILING

TITLE = "An uncontended lock: take and release"


def run(bench, threads=None):
    threads = threads or bench.size([1, 16, 64], [1, 2, 4, 16, 64])
    rounds = bench.rounds_of(3, 7)
    seconds = bench.size(0.3, 2)
    bench.note_command(f"pairs threads=T seconds={seconds} keys=PREFIX")
    with Server() as server, Fleet(bench, server, bench.names) as fleet:
        fleet.warm_up()
        for number in range(rounds):
            bench.say(f"round {number + 1} of {rounds}")
            bench.measure(server, CEILING, {}, number, lambda: [ceiling.measure(server, bench.root, seconds)])
            for count in threads:
                for name in bench.order(fleet.names, number, rounds):
                    command = f"pairs threads={count} seconds={seconds} keys=a:{name}:{number}"
                    fleet.measure(name, {"threads": count}, number, lambda drivers: [drivers[0].ask(command)])
