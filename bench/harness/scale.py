# SPDX-License-Identifier: Apache-2.0
"""Locks over several primaries: pairs of take and release, and many held locks. Two tables on stdout.

Usage: scale.py DRIVERS [SECONDS [ROUNDS [LOCKS]]]    bench/run or the drivers' build scripts make DRIVERS

All servers and clients share one machine, so pairs per second say little about several machines. What the servers use
for each pair says more: as long as it stays the same, each primary adds what it can do."""

import contextlib
import os
import statistics
import sys
import tempfile
import time

from cluster import Cluster
from driver import Driver
from scenarios import d
from server import Server
from table import number, table

CONTESTANTS = ("holdfast", "holdfast-async")
CALLERS = 64  # of each primary
LEASE_MS = 30_000


class Deployment:
    """One server, or a cluster of so many primaries without replicas."""

    def __init__(self, stack, primaries):
        self.title = f"cluster of {primaries}" if primaries else "one server"
        self.primaries = max(1, primaries)
        made = stack.enter_context(Cluster(primaries) if primaries else Server())
        self.url = made.url
        self.servers = made.nodes if primaries else [made]

    def cpu_us(self):
        return sum(server.cpu_us() for server in self.servers)

    def calls(self):
        """Of scripts, which is what a client sends here."""
        return sum(counts.get(name, 0) for server in self.servers for counts in [server.counts()]
                   for name in ("evalsha", "eval"))


def start(stack, drivers, name, deployment, logs):
    log = os.path.join(logs, f"{name}-{deployment.title}.log")
    driver = Driver(os.path.join(drivers, name), deployment.url, {"lease_ms": LEASE_MS}, log)
    stack.callback(driver.end)
    driver.wait_ready()
    return driver


def pairs(drivers, seconds, rounds):
    """Rows: the deployments take turns."""
    found = {}
    with contextlib.ExitStack() as stack:
        logs = stack.enter_context(tempfile.TemporaryDirectory())
        places = [Deployment(stack, primaries) for primaries in (0, 1, 2, 3)]
        running = [(name, place, callers, start(stack, drivers, name, place, logs)) for name in CONTESTANTS
                   for place in places for callers in sorted({CALLERS, CALLERS * place.primaries})]
        for _, _, callers, driver in running:
            driver.ask(f"pairs threads={callers} seconds=1 keys=p")
        for number_ in range(rounds):
            first = number_ * len(running) // rounds
            for name, place, callers, driver in running[first:] + running[:first]:
                before = place.cpu_us()
                answer = driver.ask(f"pairs threads={callers} seconds={seconds} keys=p")
                used = place.cpu_us() - before
                found.setdefault((name, place.primaries, place.title, callers), []).append(
                    (answer["pairs"] / answer["seconds"], used / answer["pairs"], answer["cpu_us"] / answer["pairs"]))
    return [[title, name, callers, *(number(statistics.median(column)) for column in zip(*found[key]))]
            for key in sorted(found, key=lambda key: (key[0], key[3], key[1], key[2] != "one server"))
            for name, _, title, callers in [key]]


def held(drivers, locks):
    """Rows: what it takes to renew so many locks for one and a half leases, and how late that was at worst."""
    rows = []
    for primaries in (0, 3):
        with contextlib.ExitStack() as stack:
            logs = stack.enter_context(tempfile.TemporaryDirectory())
            place = Deployment(stack, primaries)
            driver = start(stack, drivers, "holdfast", place, logs)
            taken = driver.ask(f"hold count={locks} keys=d", 300)
            calls, cpu, began = place.calls(), place.cpu_us(), time.monotonic()
            watched = d.watch(driver, 1.5 * LEASE_MS / 1000)
            took = time.monotonic() - began
            renewals = locks * took / (LEASE_MS / 3000)
            row = [place.title, number(locks / taken["seconds"]), number((place.calls() - calls) / took),
                   number((place.cpu_us() - cpu) / renewals), number(watched["cpu_us"] / renewals)]
            looks = [d.sample(server, d.keys_of(server), LEASE_MS / 3000) for server in place.servers]
            shortest = min(look["shortest_pttl_ms"] for look in looks)
            left = sum(len(d.keys_of(server)) for server in place.servers)
            rows.append([*row, number(max(0, LEASE_MS * 2 // 3 - shortest)), number(locks - left)])
    return rows


def main():
    drivers = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    locks = int(sys.argv[4]) if len(sys.argv) > 4 else 100_000
    head = ["", "contestant", "callers", "pairs/s", "CPU of all servers, µs/pair", "client CPU µs/pair"]
    print("\n".join(table(head, pairs(drivers, seconds, rounds))), flush=True)
    print()
    head = [f"{locks:,} locks", "taken/s", "renewal commands/s", "CPU of all servers, µs/renewal", "client CPU µs/renewal",
            "late ms", "lost"]
    print("\n".join(table(head, held(drivers, locks))))


if __name__ == "__main__":
    main()
