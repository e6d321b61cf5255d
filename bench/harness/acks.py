# SPDX-License-Identifier: Apache-2.0
"""Pairs of take and release per second with acknowledgement by replicas, behind Sentinels: a table on stdout.

Usage: acks.py DRIVERS [SECONDS [ROUNDS]]    bench/run or the drivers' build scripts make DRIVERS"""

import os
import statistics
import sys
import tempfile

from deployment import Deployment
from driver import Driver

CALLERS = (1, 16, 64)
CONTESTANTS = (
    ("Holdfast, acks=none", "holdfast", "?acks=none"),
    ("Holdfast, acks=1", "holdfast", "?acks=1"),
    ("Holdfast, acks=all", "holdfast", "?acks=all"),
    ("Redisson 3.52.0", "redisson-3", ""),
    ("Redisson 4.7.0", "redisson-4", ""),
)


def measure(drivers, replicas, seconds, rounds):
    """{(contestant, callers): [pairs per second of each round]}; the contestants take turns."""
    found = {}
    with Deployment(replicas) as deployment, tempfile.TemporaryDirectory() as logs:
        running = []
        for title, name, parameters in CONTESTANTS:
            folder = os.path.join(drivers, name)
            if not os.access(os.path.join(folder, "run"), os.X_OK):
                print(f"acks: no {name} in {drivers}", file=sys.stderr)
                continue
            driver = Driver(folder, deployment.url + parameters, {}, os.path.join(logs, f"{len(running)}.log"))
            driver.wait_ready()
            driver.ask(f"pairs threads=16 seconds=3 keys=warm:{len(running)}")
            running.append((title, driver))
        for number in range(rounds):
            for callers in CALLERS:
                for place, (title, driver) in enumerate(running):
                    answer = driver.ask(f"pairs threads={callers} seconds={seconds} keys=k:{place}:{number}")
                    found.setdefault((title, callers), []).append(answer["pairs"] / answer["seconds"])
        for _, driver in running:
            driver.process.stdin.close()
            driver.process.wait()
    return found


def main():
    drivers = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    print("| replicas | contestant |" + "".join(f" {callers} callers |" for callers in CALLERS))
    print("| --- | --- |" + " --- |" * len(CALLERS))
    for replicas in (1, 2):
        found = measure(drivers, replicas, seconds, rounds)
        for title in dict.fromkeys(title for title, _ in found):
            cells = "".join(f" {statistics.median(found[title, callers]):,.0f} |" for callers in CALLERS)
            print(f"| {replicas} | {title} |{cells}", flush=True)


if __name__ == "__main__":
    main()
