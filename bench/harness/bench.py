# SPDX-License-Identifier: Apache-2.0
"""What all scenarios share: the contestants' drivers, the looks at the server around a command, and the record."""

import math
import os
import sys
import time

from contestants import look
from driver import Driver, DriverFailed, Unsupported, ask_each, end_all

WARM_THREADS = 16


class Bench:
    def __init__(self, root, entrants, full, logs, most=None, rounds=None):
        self.root = root
        self.entrants = entrants
        self.full = full
        self.most = most or math.inf  # held locks
        self.most_rounds = rounds or math.inf
        self.logs = logs
        self.began = time.monotonic()
        self.begin("")

    def begin(self, scenario):
        """Forgets what the last scenario recorded."""
        self.scenario = scenario
        self.rounds = []
        self.left_out = []
        self.commands = []
        self.top_level = {}  # contestant: what monitor.py found

    def say(self, text):
        print(f"bench: {time.monotonic() - self.began:4.0f} s  {self.scenario}  {text}", file=sys.stderr, flush=True)

    @property
    def names(self):
        """Who takes part in this scenario."""
        return [name for name in self.entrants.names if self.scenario in look(name).scenarios]

    def size(self, quick, full):
        return full if self.full else quick

    def rounds_of(self, quick, full):
        return min(self.size(quick, full), self.most_rounds)

    def leave_out(self, contestant, why, case=None):
        entry = {"contestant": contestant, "case": case or {}, "why": str(why)}
        if entry not in self.left_out:
            self.left_out.append(entry)
            self.say(f"without {contestant}: {why}")

    def order(self, names, number, rounds):
        """The names for this round: each round begins with another one."""
        start = number * len(names) // rounds
        return names[start:] + names[:start]

    def note_command(self, command):
        """The page shows each kind of command once."""
        if command not in self.commands:
            self.commands.append(command)

    def measure(self, server, contestant, case, number, act, **more):
        """Calls act() between two looks at the server and records its answers. None if that failed."""
        server.reset_counts()
        cpu = server.cpu_us()
        start = time.monotonic()
        try:
            answers = act()
        except (Unsupported, DriverFailed) as problem:
            self.leave_out(contestant, reason(problem), case)
            return None
        seconds = time.monotonic() - start
        self.rounds.append({
            "round": number, "contestant": contestant, "case": case, "answers": answers,
            "server": {"cpu_us": server.cpu_us() - cpu, "seconds": round(seconds, 4), "commands": server.counts()},
            **more})
        return self.rounds[-1]


def reason(problem):
    return str(problem) if isinstance(problem, Unsupported) else f"failed: {problem}"


class Fleet:
    """The drivers of some contestants, the same number of processes each, on one server. A context manager."""

    def __init__(self, bench, server, names, processes=1, **options):
        self.bench, self.server, self.processes, self.options = bench, server, processes, options
        self.drivers = {name: [] for name in names}

    def __enter__(self):
        bench = self.bench
        options = "".join(f" {key}={value}" for key, value in self.options.items())
        bench.note_command(f"build/bench/drivers/CONTESTANT/run redis://127.0.0.1:PORT{options}")
        try:
            for name in self.names:
                self.attempt(name, lambda drivers: self.start(name, drivers))
            for name in self.names:
                self.attempt(name, lambda drivers: [driver.wait_ready() for driver in drivers])
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, name, drivers):
        for i in range(self.processes):
            log = os.path.join(self.bench.logs, f"{self.bench.scenario}-{name}-{i}.log")
            drivers.append(Driver(self.bench.entrants.folders[name], self.server.url, self.options, log))

    def __exit__(self, *_):
        end_all([driver for drivers in self.drivers.values() for driver in drivers])

    def __getitem__(self, name):
        return self.drivers[name]

    @property
    def names(self):
        """Those that still take part."""
        return list(self.drivers)

    def attempt(self, name, act):
        """act(drivers); the contestant is out if that fails, because its drivers may be anywhere after it."""
        try:
            return act(self.drivers[name])
        except (Unsupported, DriverFailed) as problem:
            self.bench.leave_out(name, reason(problem))
            self.drop(name)
            return None

    def drop(self, name):
        end_all(self.drivers.pop(name))

    def warm_up(self):
        for name in self.names:
            seconds = look(name).warm_s * self.bench.size(1, 3)
            command = f"pairs threads={WARM_THREADS} seconds={seconds} keys=warm:{name}"
            commands = [f"{command}:{i}" for i in range(self.processes)]
            self.attempt(name, lambda drivers: ask_each(drivers, commands))

    def measure(self, name, case, number, act, **more):
        """The same as Bench.measure, and out if it fails."""
        found = self.bench.measure(self.server, name, case, number, lambda: act(self.drivers[name]), **more)
        if found is None:
            self.drop(name)
        return found
