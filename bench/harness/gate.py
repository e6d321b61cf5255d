# SPDX-License-Identifier: Apache-2.0
"""Whether a change has made anything slower: the library of an earlier commit, the same once more, and that of a newer one,
by turns in one run.

How far the old one is from itself is what the machine does: by its medians, and, since two medians may agree by chance, by
how its rounds scatter. A line fails if the median of the new one is worse than the old one's by more than 5 % and by more
than twice that; it says nothing if the old one is too far from itself. Either is then measured once more. Of some sixty lines
one or two are beyond their bounds by chance, so what failed is judged anew, by its second measurement alone; what said
nothing, by all. Exit 1 if one still fails, could not be measured, or says nothing. Nothing else should run on the machine: only the lines of
`instructions` do not mind. build/gate/figures.json has what each round found."""

import argparse
import contextlib
import json
import math
import os
import re
import select
import signal
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import contestants
import scenarios
import scenarios.a
import summaries
from bench import Bench
from deployment import Deployment
from driver import Driver, DriverFailed, Unsupported
from goals import figure
from server import Server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OLD, AGAIN, NEW = NAMES = ("old", "again", "new")
LEAST = 0.05
BLIND = 0.3
THREADS = (1, 2, 4, 8, 16, 64)
IDLE_S = 20
STARTS = 20
HELD = 4  # names that one tool holds until they are taken away


class Line(NamedTuple):
    """A figure of one round, which is where `path` leads in what a part has found of a contestant."""

    part: str
    text: str
    path: tuple
    more: bool = False  # is better
    grain: float = 0  # so much is nothing


def lines_of_scenarios():
    for threads in THREADS:
        yield Line("a", f"pairs a second, {threads} threads", (threads, "rate"), more=True)
    for layout in scenarios.b.LAYOUTS:
        yield Line("b", "sections a second, {} x {}".format(*layout), (layout, "rate"), more=True)
    yield Line("c", "hand-over, us", ("p50",))
    yield Line("d", "locks taken a second", (10_000, "rate"), more=True)
    yield Line("d", "bytes of the client a lock", (10_000, "bytes"))
    yield Line("d", "client, us a renewal", (10_000, "client_us"))
    yield Line("d", "server, us a renewal", (10_000, "server_us"))
    yield Line("e", "bytes of the client a waiter", ("bytes",))
    yield Line("e", "until all have been through, s", ("seconds",))
    yield Line("f", "sections a second", ("rate",), more=True)
    yield Line("f", "scripts a section", ("scripts",))
    for kind in scenarios.g.KINDS:
        for callers in scenarios.g.CALLERS:
            yield Line("g", f"pairs a second, {kind}, {callers} threads", ("pairs", (kind, callers), "rate"), more=True)
    for what in ("readers", "order", "mixed"):
        yield Line("g", f"sections a second, {what}", (what, "rate"), more=True)
    yield Line("g", "hand-over of a fair lock, us", ("hand_over", "p50"))
    for kind in scenarios.h.KINDS:
        yield Line("h", f"sections a second, {kind}", ((kind, 1, scenarios.h.CALLERS), "rate"), more=True)
    for layout in scenarios.h.LAYOUTS:
        yield Line("h", "sections a second, any, {} x {}".format(*layout), (("any", *layout), "rate"), more=True)


LINES = [
    *lines_of_scenarios(),
    Line("failover", "from a new primary to the next pair, ms", ("pause",)),
    Line("notice", "from a DEL to the end of holdfast run, ms", ("told",)),
    Line("instructions", "a pair, threads", ("holdfast",)),
    Line("instructions", "a pair, coroutines", ("holdfast-async",)),
    Line("idle", "threads", ("threads",)),
    Line("idle", "wake-ups a minute", ("wake_ups",), grain=60 / IDLE_S),
    Line("idle", "memory, bytes", ("bytes",)),
    Line("start", "of the tool, ms", ("start",)),
]


class Gate(Bench):
    """A scenario once, in its quick form; whose turn it is goes on from round to round."""

    turn = 0

    @property
    def names(self):
        return self.order(self.entrants.names, 0, 1)

    def rounds_of(self, quick, full):
        return 1

    def order(self, names, number, rounds):
        return super().order(list(names), self.turn % len(names), len(names)) if names else names

    @contextlib.contextmanager
    def driver(self, name, url, kind="holdfast", before=()):
        """Of a kind that was built beside that of `name`."""
        folder = os.path.join(self.entrants.folders[name], "..", kind)
        started = Driver(folder, url, {}, os.path.join(self.logs, f"{self.scenario}-{name}.log"), before)
        try:
            started.wait_ready()
            yield started
        finally:
            started.end(patience=60)

    def tool(self, name):
        return os.path.join(self.entrants.folders[name], "..", "..", "..", "bin", "holdfast")


# ---- parts that are no scenarios: what they find of each contestant in one round ----


def scenario(letter):
    def part(bench):
        bench.begin(letter)
        scenarios.ALL[letter].run(bench, *([THREADS, (0,)] if letter == "a" else []))
        return summaries.ALL[letter]({"rounds": bench.rounds, "top_level": bench.top_level})
    return part


def instructions(bench):
    return {name: {kind: instructions_a_pair(bench, name, kind) for kind in ("holdfast", "holdfast-async")}
            for name in bench.names}


def instructions_a_pair(bench, name, kind):
    """By all threads of a client. What is left when the start and the end, which a shorter run has as well, are taken away."""
    few, short = run_counted(bench, name, kind, 0.5)
    many, long, seconds = few, short, 1
    while many < few + 500:
        seconds *= 2
        many, long = run_counted(bench, name, kind, seconds)
    return (long - short) / (many - few)


def run_counted(bench, name, kind, seconds):
    """Pairs and instructions of a process. On one processor, as no thread then spins for an answer, which takes as long as
    it takes."""
    out = os.path.join(bench.logs, f"callgrind-{name}")
    counter = ("taskset", "-c", str(max(os.sched_getaffinity(0))), "valgrind", "--tool=callgrind", "--trace-children=yes",
               f"--callgrind-out-file={out}")
    with Server() as server:
        with bench.driver(name, server.url, kind, counter) as driver:
            pairs = driver.ask(f"pairs threads=1 seconds={seconds} keys=i")["pairs"]
    with open(out, encoding="utf-8") as counts:
        return pairs, int(re.search(r"^totals: (\d+)", counts.read(), re.M)[1])


def idle(bench):
    """All at the same time: nobody does anything."""
    with contextlib.ExitStack() as stack:
        drivers = {name: stack.enter_context(bench.driver(name, stack.enter_context(Server()).url)) for name in bench.names}
        for driver in drivers.values():
            driver.ask("pairs threads=1 seconds=0.1 keys=i")
        time.sleep(2)
        before = {name: slept(driver.process.pid) for name, driver in drivers.items()}
        time.sleep(IDLE_S)
        return {name: {"threads": threads, "wake_ups": (times - before[name][1]) * 60 / IDLE_S,
                       "bytes": driver.ask("usage")["rss_bytes"]}
                for name, driver in drivers.items() for threads, times in [slept(driver.process.pid)]}


def slept(process):
    """How many threads there are, and how often they have gone to sleep so far."""
    tasks = f"/proc/{process}/task"
    times = 0
    for task in os.listdir(tasks):
        with open(f"{tasks}/{task}/status", encoding="utf-8") as status:
            times += int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read(), re.M)[1])
    return len(os.listdir(tasks)), times


def start(bench):
    found = {name: {"start": []} for name in bench.names}
    for _ in range(STARTS):
        for name in bench.names:
            begun = time.monotonic()
            subprocess.run([bench.tool(name), "--version"], stdout=subprocess.DEVNULL, check=True)
            found[name]["start"].append(1000 * (time.monotonic() - begun))
    return {name: {"start": statistics.median(of["start"])} for name, of in found.items()}


def notice(bench):
    """The name is taken away from a tool that runs a command."""
    with Server() as server:
        running = {(name, i): subprocess.Popen([bench.tool(name), "run", "-q", "--on-lost", "kill", f"n:{name}:{i}", "--url",
                                                server.url, "--", "sleep", "60"], stderr=subprocess.DEVNULL)
                   for i in range(HELD) for name in bench.names}
        time.sleep(3)  # until each has the server watch its name
        found = {name: {"told": []} for name in bench.names}
        for (name, i), process in running.items():
            begun = time.monotonic()
            server.connection.call("DEL", f"n:{name}:{i}")
            await_end(process)
            found[name]["told"].append(1000 * (time.monotonic() - begun))
        return {name: {"told": statistics.median(of["told"])} for name, of in found.items()}


def await_end(process, limit=60):
    """At once: wait() with a limit looks every few milliseconds."""
    handle = os.pidfd_open(process.pid)
    try:
        if not select.select([handle], [], [], limit)[0]:
            raise DriverFailed(f"it has not ended after {limit} s")
        process.wait()
    finally:
        os.close(handle)


def failover(bench):
    """Each with servers of its own, all at the same time: they mostly wait."""
    with contextlib.ExitStack() as stack:
        places = {name: stack.enter_context(Deployment(1, down_after_ms=1000)) for name in bench.names}
        drivers = {name: stack.enter_context(bench.driver(name, place.url)) for name, place in places.items()}
        for driver in drivers.values():
            driver.ask("pairs threads=4 seconds=0.2 pause_us=20000 keys=warm")
        for driver in drivers.values():
            driver.tell("pairs threads=4 seconds=12 pause_us=20000 keys=f")
        time.sleep(1)
        killed = {name: (place.primary.process.kill(), time.monotonic())[1] for name, place in places.items()}
        took = {}
        while len(took) < len(places):
            if time.monotonic() > max(killed.values()) + 60:
                raise DriverFailed("no failover within a minute")
            for name, place in places.items():
                if name not in took and place.promoted():
                    took[name] = 1000 * (time.monotonic() - killed[name])
            time.sleep(0.005)
        return {name: {"pause": driver.answer()["max_us"] / 1000 - took[name]} for name, driver in drivers.items()}


PARTS = {**{letter: scenario(letter) for letter in scenarios.ALL}, "failover": failover, "notice": notice,
         "instructions": instructions, "idle": idle, "start": start}


# ---- the verdict ----


class Verdict(NamedTuple):
    line: Line
    old: float
    new: float
    worse: float  # by which part of the old; below 0: better
    allowed: float

    @property
    def failed(self):
        return not self.worse <= self.allowed

    @property
    def word(self):
        if self.failed:
            return "FAILED"
        return "says nothing: the machine is too busy" if self.allowed > BLIND else ""


def judge(line, figures):
    """Of the figures of all rounds, {contestant: [figure]}."""
    if not all(figures.get(name) for name in NAMES):
        return Verdict(line, math.nan, math.nan, math.nan, LEAST)
    old, again, new = (statistics.median(figures[name]) for name in NAMES)
    base = (old + again) / 2
    worse = base - new if line.more else new - base
    if worse <= line.grain:
        worse = min(worse, 0)
    noise = max(abs(old - again), scatter(figures[OLD] + figures[AGAIN], len(figures[NEW])))
    return Verdict(line, base, new, part_of(worse, base), max(LEAST, 2 * part_of(noise, base)))


def scatter(olds, rounds):
    """The standard error of the difference between the old median and one of so many rounds, if nothing had changed: from the
    median deviation of the old one's rounds, so that one bad round changes little."""
    middle = statistics.median(olds)
    sigma = 1.4826 * statistics.median(abs(each - middle) for each in olds)
    return 1.2533 * sigma * math.sqrt(1 / len(olds) + 1 / rounds)


def part_of(difference, base):
    if difference == 0:
        return 0.0
    return difference / base if base > 0 else math.copysign(math.inf, difference)


def table(verdicts):
    return "\n".join([f"{'':58}{'old':>14}{'new':>14}{'worse by':>10}{'allowed':>9}"] + [
        f"{each.line.part + ': ' + each.line.text:58}{each.old:14,.1f}{each.new:14,.1f}{each.worse:10.1%}{each.allowed:9.1%}"
        f"  {each.word}".rstrip() for each in verdicts])


# ---- the run ----


def measure(bench, parts, rounds, found):
    for _ in range(rounds):
        for part in parts:
            bench.begin(part)
            bench.say(f"round {bench.turn + 1}")
            try:
                summary = PARTS[part](bench)
            except (DriverFailed, Unsupported, subprocess.SubprocessError) as problem:
                bench.leave_out("one of them", problem)
                continue
            for line in (line for line in LINES if line.part == part):
                for name in NAMES:
                    value = figure(summary, name, *line.path)
                    if value is not None:
                        found.setdefault(line, {}).setdefault(name, []).append(value)
        bench.turn += 1


def run(bench, parts, rounds):
    first, second = {}, {}
    measure(bench, parts, rounds, first)
    verdicts = verdicts_of(parts, first)
    again = [part for part in parts if any(each.word and each.line.part == part for each in verdicts)]
    if again:
        print(table(verdicts), "\nonce more: " + ", ".join(again), sep="\n", flush=True)
        measure(bench, again, rounds, second)
    keep(both(first, second), os.path.join(bench.logs, "..", "figures.json"))
    return [last_word(each, first, second) for each in verdicts]


def last_word(verdict, first, second):
    if not verdict.word:
        return verdict
    counting = second if verdict.failed else both(first, second)
    return judge(verdict.line, counting.get(verdict.line, {}))


def both(first, second):
    return {line: {name: first.get(line, {}).get(name, []) + second.get(line, {}).get(name, []) for name in NAMES}
            for line in {**first, **second}}


def keep(found, path):
    with open(path, "w", encoding="utf-8") as out:
        json.dump({f"{line.part}: {line.text}": of for line, of in found.items()}, out, indent=1)


def verdicts_of(parts, found):
    return [judge(line, found.get(line, {})) for line in LINES if line.part in parts]


def build(commit):
    """The folder of its driver."""
    made = subprocess.run(["tools/yesterday", commit, "bench_drivers", "holdfast_tool"], stdout=subprocess.PIPE, text=True, check=True)
    return os.path.join(made.stdout.strip(), "bench", "drivers", "holdfast")


def arguments():
    parser = argparse.ArgumentParser(prog="bench/gate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--old", metavar="COMMIT", required=True)
    parser.add_argument("--new", metavar="COMMIT", default="HEAD")
    parser.add_argument("--lines", metavar="PART,...", default=",".join(PARTS), help=f"of {','.join(PARTS)}; all if none is named")
    parser.add_argument("--rounds", metavar="N", type=int, default=9)
    found = parser.parse_args()
    found.parts = found.lines.split(",")
    if unknown := [part for part in found.parts if part not in PARTS]:
        parser.error(f"no such lines: {','.join(unknown)}")
    return found


def main():
    asked = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("gate: told to stop"))  # so that servers and drivers are ended
    os.chdir(ROOT)
    subprocess.run(["tools/setup", "test", "bench", "gate"], check=True)
    logs = os.path.join(ROOT, "build", "gate", "logs")
    os.makedirs(logs, exist_ok=True)
    old, new = build(asked.old), build(asked.new)
    folders = {OLD: old, AGAIN: old, NEW: new}
    bench = Gate(ROOT, contestants.Entrants(folders, {}, {}), False, logs)
    verdicts = run(bench, asked.parts, asked.rounds)
    print(table(verdicts))
    return 1 if any(each.word for each in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
