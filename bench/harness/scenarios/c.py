# SPDX-License-Identifier: Apache-2.0
"""c. The hand-over: one process waits for the lock that another one holds. From the call of release in the one to the
return of take in the other. The floor, a push and a round trip, is measured by the raw driver in the same rounds."""

import random
import time

from bench import Fleet
from contestants import FLOOR
from driver import DriverFailed
from server import Server

TITLE = "A hand-over between two processes"
WAIT_S = 20
FLOOR_COUNT = 100
LOW_PAUSE_S = (0.02, 0.04)


def run(bench):
    rounds = bench.rounds_of(2, 5)
    count = bench.size(40, 500) // rounds
    # The long one goes through all phases of those that poll, but it takes its time.
    pause = bench.size(LOW_PAUSE_S, (0.02, 0.22))
    bench.note_command(f"take key=KEY wait_s={WAIT_S}")
    bench.note_command("release key=KEY")
    bench.note_command(f"push_floor count={FLOOR_COUNT}")
    waiters = [name for name in bench.names if name != FLOOR]
    floor = [name for name in bench.names if name == FLOOR]
    with Server() as server, Fleet(bench, server, waiters, 2) as fleet, Fleet(bench, server, floor) as raw:
        fleet.warm_up()
        for number in range(rounds):
            bench.say(f"round {number + 1} of {rounds}")
            if raw.names:
                raw.measure(FLOOR, {}, number, lambda drivers: [drivers[0].ask(f"push_floor count={FLOOR_COUNT}")])
            for name in bench.order(fleet.names, number, rounds):
                pauses = random_pauses(number, pause, count)
                fleet.measure(name, {"pause_ms": [1000 * s for s in pause]}, number,
                              lambda drivers: [hand_overs(drivers, f"c:{name}:{number}", pauses)])


def random_pauses(number, limits, count):
    """The same in this round for everybody."""
    chosen = random.Random(number)
    return [chosen.uniform(*limits) for _ in range(count)]


def hand_overs(drivers, key, pauses, how=""):
    """One hand-over after each of these pauses, back and forth. Their times in microseconds."""
    holder, waiter = drivers
    found = []
    take = f"take key={key} wait_s={WAIT_S}{how}"
    if not holder.ask(take)["taken"]:
        raise DriverFailed("it did not take a free lock")
    for pause in pauses:
        waiter.tell(take)
        time.sleep(pause)
        released = holder.ask(f"release key={key}")
        taken = waiter.answer(WAIT_S + 10)
        if not taken["taken"]:
            raise DriverFailed(f"it waited {WAIT_S} s for a lock that had been released")
        found.append(round((taken["at_ns"] - released["before_ns"]) / 1000, 1))
        holder, waiter = waiter, holder
    holder.ask(f"release key={key}")
    return {"hand_over_us": found}
