# SPDX-License-Identifier: Apache-2.0
"""b. The hot lock: everybody wants the same one, all the time, and does nothing under it."""

import time

from bench import Fleet
from driver import ask_all
from server import Server

TITLE = "A hot lock: everybody wants the same one"
LAYOUTS = ((1, 16), (2, 8), (4, 8))  # processes, callers in each
BEGIN_S = 0.1  # from the command to the common start


def run(bench):
    rounds = bench.rounds_of(1, 3)
    seconds = bench.size(1.2, 10)
    bench.note_command(f"hot threads=T seconds={seconds} key=KEY inside_us=0 start_ns=NS")
    most = max(processes for processes, _ in LAYOUTS)
    with Server() as server, Fleet(bench, server, bench.names, most) as fleet:
        fleet.warm_up()
        for number in range(rounds):
            for processes, threads in LAYOUTS:
                bench.say(f"round {number + 1} of {rounds}, {processes} x {threads}")
                for name in bench.order(fleet.names, number, rounds):
                    command = f"hot threads={threads} seconds={seconds} key=b:{name}:{number}:{processes} inside_us=0"
                    fleet.measure(name, {"processes": processes, "threads": threads}, number,
                                  lambda drivers: together(drivers[:processes], command, seconds))


def together(drivers, command, seconds):
    """The command to all of these drivers, to begin at the same moment."""
    start_ns = time.monotonic_ns() + round(BEGIN_S * 1e9)
    return ask_all(drivers, f"{command} start_ns={start_ns}", timeout=seconds + 60)
