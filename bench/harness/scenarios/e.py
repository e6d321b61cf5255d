# SPDX-License-Identifier: Apache-2.0
"""e. The crowd: many waiters on a few locks; they cost something while they wait, and all get their turn in the end.

Coroutines form a much larger one as well."""

import time

import monitor
from bench import Fleet
from contestants import COROUTINES
from server import Server

TITLE = "A crowd of waiters"
LARGE = (100_000, 1000)  # waiters, locks


def run(bench):
    waiters, locks = bench.size((1000, 100), (10000, 1000))
    rounds = bench.rounds_of(1, 3)
    watch_s = bench.size(1, 5)
    limit_s = bench.size(60, 600)
    bench.note_command(f"crowd waiters={waiters} locks={locks} keys=PREFIX")
    bench.note_command("crowd_go")
    for number in range(rounds):
        for name in bench.order(bench.names, number, rounds):
            bench.say(f"round {number + 1} of {rounds}, {name}")
            with Server() as server, Fleet(bench, server, [name]) as fleet:
                one_crowd(bench, server, fleet, name, number, (waiters, locks), watch_s, limit_s)
    large_crowds(bench, rounds, limit_s)


def large_crowds(bench, rounds, limit_s):
    names = [name for name in bench.names if name in COROUTINES]
    waiters, locks = LARGE
    if names:
        bench.note_command(f"crowd waiters={waiters} locks={locks} keys=PREFIX")
    for number in range(rounds):
        for name in bench.order(names, number, rounds):
            bench.say(f"round {number + 1} of {rounds}, {name}, {waiters} waiters")
            with Server() as server, Fleet(bench, server, [name]) as fleet:
                fleet.measure(name, {"phase": "large", "waiters": waiters, "locks": locks}, number,
                              lambda drivers: [large_crowd(drivers[0], limit_s)])


def large_crowd(driver, limit_s):
    waiters, locks = LARGE
    return {**driver.ask(f"crowd waiters={waiters} locks={locks} keys=large", limit_s),
            "go": driver.ask("crowd_go", limit_s)}


def one_crowd(bench, server, fleet, name, number, size, watch_s, limit_s):
    waiters, locks = size

    def gather(drivers):
        return [drivers[0].ask(f"crowd waiters={waiters} locks={locks} keys=e", limit_s)]

    def wait(_):
        time.sleep(watch_s)
        return []

    def let_in(drivers):
        return [drivers[0].ask("crowd_go", limit_s)]

    for phase, act in (("gather", gather), ("wait", wait), ("go", let_in)):
        if name in fleet.names:
            fleet.measure(name, {"phase": phase}, number, act)
    if name in fleet.names and number == 0:
        profile(bench, server, fleet, name)


def profile(bench, server, fleet, name):
    """A small crowd more, under MONITOR, to tell the commands of scripts from those of the driver."""
    with monitor.Monitor(server) as seen:
        fleet.attempt(name, lambda drivers: (drivers[0].ask("crowd waiters=40 locks=4 keys=profile"),
                                             drivers[0].ask("crowd_go")))
    bench.top_level[name] = seen.top_level()
