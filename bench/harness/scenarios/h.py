# SPDX-License-Identifier: Apache-2.0
"""h. Permits, and any one of several locks: callers who want one of a few."""

from bench import Fleet
from contestants import REDISSON
from scenarios.b import together
from server import Server

TITLE = "Semaphores, and any one of several locks"
KINDS = ("semaphore", "leased")
CALLERS, PERMITS = 16, 4
LAYOUTS = ((4, 16), (64, 1))  # processes, callers in each: 64 who wait for any of
NAMES = 8
INSIDE_US = 1000


def run(bench):
    rounds = bench.rounds_of(2, 5)
    seconds = bench.size(0.6, 5)
    bench.note_command(f"hot threads={CALLERS} seconds={seconds} kind=KIND of={PERMITS} inside_us=0 key=KEY")
    bench.note_command(f"hot threads=T seconds={seconds} kind=any of={NAMES} inside_us={INSIDE_US} key=KEY start_ns=NS")
    with Server() as server, Fleet(bench, server, bench.names) as fleet:
        fleet.warm_up()
        for number in range(rounds):
            for kind in KINDS:
                bench.say(f"round {number + 1} of {rounds}, {kind}")
                for name in bench.order(fleet.names, number, rounds):
                    command = (f"hot threads={CALLERS} seconds={seconds} kind={kind} of={PERMITS} inside_us=0 "
                               f"key=h:{name}:{number}:{kind}")
                    fleet.measure(name, {"kind": kind, "threads": CALLERS}, number,
                                  lambda drivers: [drivers[0].ask(command)])
    any_of(bench, rounds, seconds)


def any_of(bench, rounds, seconds):
    """Which Redisson does not have."""
    for processes, callers in LAYOUTS:
        names = [name for name in bench.names if name not in REDISSON]
        with Server() as server, Fleet(bench, server, names, processes) as fleet:
            for number in range(rounds):
                bench.say(f"round {number + 1} of {rounds}, any, {processes} x {callers}")
                command = (f"hot threads={callers} seconds={seconds} kind=any of={NAMES} inside_us={INSIDE_US} "
                           f"key={{h}}:{number}")
                for name in fleet.names:
                    fleet.measure(name, {"kind": "any", "processes": processes, "threads": callers}, number,
                                  lambda drivers: together(drivers, command, seconds))
