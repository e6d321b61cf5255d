# SPDX-License-Identifier: Apache-2.0
"""d. Many held locks: how fast they are taken, what each costs in memory, and what it costs to keep them renewed.

Each size of each contestant gets a server and a process of its own. After the take one lease passes, so that what a lock
costs once is over. Then there are two watches: a quiet one, in which the harness does nothing, for the costs; then one in
which it samples the time to live of held keys."""

import random
import time

from bench import Fleet
from server import Server

TITLE = "Many held locks"
BATCH = 100  # keys in each look
EVERY_S = 0.02


def run(bench):
    lease_ms = bench.size(6000, 30000)
    sizes = [count for count in bench.size([10_000], [10_000, 100_000, 1_000_000]) if count <= bench.most]
    period_s = lease_ms / 3000
    # At least one whole period each, wherever in it they begin; the quiet one so long that two runs agree on the costs.
    quiet_s, sampled_s = period_s * bench.size(6, 3), period_s * bench.size(1.5, 4.5)
    take_limit_s = bench.size(60, 300)
    bench.note_command("hold count=N keys=PREFIX")
    bench.note_command("usage")
    for count in sizes:
        for name in bench.order(bench.names, sizes.index(count), len(sizes)):
            if any(entry["contestant"] == name for entry in bench.left_out):
                continue  # what does not hold few will not hold many
            bench.say(f"{name} holds {count}")
            with Server() as server, Fleet(bench, server, [name], lease_ms=lease_ms) as fleet:
                hold(bench, server, fleet, name, {"count": count, "lease_ms": lease_ms},
                     (take_limit_s, quiet_s, sampled_s))


def hold(bench, server, fleet, name, case, times):
    take_limit_s, quiet_s, sampled_s = times
    if name not in fleet.names:
        return
    memory = server.memory_bytes()
    taken = fleet.measure(name, {**case, "phase": "take"}, 0,
                          lambda drivers: [drivers[0].ask(f"hold count={case['count']} keys=d", take_limit_s)])
    if taken is None:
        return
    keys = keys_of(server)
    taken.update(server_memory_bytes=server.memory_bytes() - memory, keys=len(keys))
    time.sleep(case["lease_ms"] / 1000)
    fleet.measure(name, {**case, "phase": "quiet"}, 0, lambda drivers: [watch(drivers[0], quiet_s)])
    if name in fleet.names:
        sampled = fleet.measure(name, {**case, "phase": "sampled"}, 0, lambda _: [sample(server, keys, sampled_s)])
        sampled.update(keys_left=len(keys_of(server)))


def keys_of(server):
    """The keys of the held locks, whatever their library makes of their names."""
    found, cursor = set(), b"0"
    while True:
        cursor, keys = server.connection.call("SCAN", cursor, "MATCH", "*d:[0-9]*", "COUNT", 5000)
        found.update(keys)
        if cursor == b"0":
            return sorted(found)


def watch(driver, seconds):
    before = driver.ask("usage")
    time.sleep(seconds)
    after = driver.ask("usage")
    return {"seconds": seconds, "cpu_us": after["cpu_us"] - before["cpu_us"], "rss_bytes": after["rss_bytes"]}


def sample(server, keys, seconds):
    """The shortest time to live seen, and how many of the keys looked at were gone."""
    chosen = random.Random(len(keys))
    shortest, looks, gone = None, 0, 0
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        left = server.connection.pipeline([("PTTL", key) for key in chosen.choices(keys, k=BATCH)])
        looks += len(left)
        gone += left.count(-2)
        known = [ms for ms in left if ms >= 0]
        shortest = min(known if shortest is None else [shortest, *known], default=None)
        time.sleep(max(0.0, now + EVERY_S - time.monotonic()))
    return {"seconds": seconds, "looks": looks, "gone": gone, "shortest_pttl_ms": shortest}
