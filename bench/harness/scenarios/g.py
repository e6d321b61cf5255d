# SPDX-License-Identifier: Apache-2.0
"""g. The kinds of lock: what a pair of each costs, readers together, the hand-over and the order of a fair lock, and a
mix of readers and writers."""

from bench import Fleet
from scenarios.b import together
from scenarios.c import LOW_PAUSE_S, hand_overs, random_pauses
from server import Server
from stats import displacement

TITLE = "Fenced, fair, spin and read-write locks"
KINDS = ("fenced", "read", "write", "fair", "spin")
CALLERS = (1, 16)
READERS = 16
PROCESSES = 4  # of the line before the fair lock, and of the mix
IN_LINE = 4  # callers in each process
MIXED = 8
INSIDE_US = 1000  # of the fair lock, so that who asks first is known


def run(bench):
    rounds = bench.rounds_of(2, 5)
    seconds = bench.size(0.3, 2)
    order_s = bench.size(1, 5)
    count = bench.size(20, 100)
    note(bench, seconds, order_s)
    with Server() as server, Fleet(bench, server, bench.names, PROCESSES) as fleet:
        fleet.warm_up()
        for number in range(rounds):
            bench.say(f"round {number + 1} of {rounds}")
            for kind in KINDS:
                for callers in CALLERS:
                    command = f"pairs threads={callers} seconds={seconds} kind={kind}"
                    each(bench, fleet, number, rounds, {"what": "pairs", "kind": kind, "threads": callers},
                         lambda drivers, key: [drivers[0].ask(f"{command} keys={key}")])
            each(bench, fleet, number, rounds, {"what": "readers", "threads": READERS}, lambda drivers, key: [
                drivers[0].ask(f"hot threads={READERS} seconds={seconds} kind=read inside_us=0 key={key}")])
            each(bench, fleet, number, rounds, {"what": "hand_over"}, lambda drivers, key: [
                hand_overs(drivers[:2], key, random_pauses(number, LOW_PAUSE_S, count), " kind=fair")])
            each(bench, fleet, number, rounds, {"what": "order"},
                 lambda drivers, key: in_order(drivers, key, order_s))
            each(bench, fleet, number, rounds, {"what": "mixed"}, lambda drivers, key: together(
                drivers, f"hot threads={MIXED} seconds={2 * seconds} kind=mixed inside_us=0 key={key}", 2 * seconds))


def note(bench, seconds, order_s):
    bench.note_command(f"pairs threads=T seconds={seconds} kind=KIND keys=PREFIX")
    bench.note_command(f"hot threads={READERS} seconds={seconds} kind=read inside_us=0 key=KEY")
    bench.note_command("take key=KEY wait_s=20 kind=fair")
    bench.note_command(f"hot threads={IN_LINE} seconds={order_s} kind=fair inside_us={INSIDE_US} entries=1 key=KEY")
    bench.note_command(f"hot threads={MIXED} seconds={2 * seconds} kind=mixed inside_us=0 key=KEY")


def each(bench, fleet, number, rounds, case, act):
    """act(drivers, key) of each contestant, by turns, with a name of its own."""
    for name in bench.order(fleet.names, number, rounds):
        key = ":".join(["g", name, str(number), *(str(value) for value in case.values())])
        fleet.measure(name, case, number, lambda drivers: act(drivers, key))


def in_order(drivers, key, seconds):
    """What the drivers answer, and how far from its place each caller entered, instead of all the times."""
    command = f"hot threads={IN_LINE} seconds={seconds} kind=fair inside_us={INSIDE_US} entries=1 key={key}"
    answers = together(drivers, command, seconds)
    asked = [ns for answer in answers for ns in answer.pop("asked_ns")]
    entered = [ns for answer in answers for ns in answer.pop("entered_ns")]
    # Those that ask when all begin do it at the same moment.
    answers[0]["displacement"] = displacement(asked, entered, IN_LINE * len(drivers))
    return answers
