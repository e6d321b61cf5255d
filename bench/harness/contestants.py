# SPDX-License-Identifier: Apache-2.0
"""Who takes part, what the drivers' folder has of them, and the little that the harness must know of each."""

import os
from typing import NamedTuple

FLOOR = "raw"
SCRIPTS_FLOOR = "raw-scripts"
HOLDFAST = "holdfast"
PIPELINED = "holdfast-pipelined"
SIMPLE = "holdfast-simple"
ASYNC = "holdfast-async"
ASYNC_PIPELINED = "holdfast-async-pipelined"
BLOCKING = (HOLDFAST, PIPELINED, SIMPLE)
COROUTINES = (ASYNC, ASYNC_PIPELINED)
OURS = (*BLOCKING, *COROUTINES)
REDISSON = ("redisson-3", "redisson-4")


class Look(NamedTuple):
    colour: str = "#868e96"
    warm_s: float = 0.3  # of pairs before anything is measured
    alone: bool = True  # cheap enough that the storm runs it as 64 processes
    scenarios: str = "abcdef"  # that it takes part in


ALL = "abcdefgh"
# The order of tables and legends. One that is not here takes part as well, after these.
KNOWN = {
    FLOOR: Look("#495057"),
    SCRIPTS_FLOOR: Look("#adb5bd", scenarios="a"),
    HOLDFAST: Look("#c92a2a", scenarios=ALL),
    PIPELINED: Look("#f76707"),
    SIMPLE: Look("#f0a500"),
    ASYNC: Look("#c2255c"),
    ASYNC_PIPELINED: Look("#f783ac"),
    "redisson-3": Look("#1f5fa8", warm_s=3, alone=False, scenarios=ALL),
    "redisson-4": Look("#74a9dc", warm_s=3, alone=False, scenarios=ALL),
    "redsync": Look("#2b8a5e"),
    "redsync-auto": Look("#0b5345", scenarios="a"),
    "rueidislock": Look("#63c295"),
    "bsm-redislock": Look("#94b447"),
    "bsm-redislock-auto": Look("#5c7a1f", scenarios="a"),
    "redis-py": Look("#7048a8", alone=False),
    "node-redlock": Look("#b08fd0", alone=False),
}

# Libraries that were tried and do not take part, with the reason, as the page prints it.
NOT_IN_THE_RUN = (
    "uRedis (Usub-development/uredis, commit `810d3e9` of 2026-03-13, over uvent `d2a6241`), as found on 2026-11-26: it builds "
    "with g++ 12, but its only lock, `RedisRedlock`, keeps nobody out, for it takes with `SET key token PX ttl` and no `NX`. "
    "Of two processes that locked one key, on Redis 7.0.15, the second was given the lock while the first held it; it "
    "overwrote the first's token, its unlock deleted the key, and the first's unlock, which found nothing, said that all was well.",
)


def look(name):
    return KNOWN.get(name, Look())


def in_order(names):
    known = list(KNOWN)
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))


def peers(names):
    """Those that are neither Holdfast nor a floor."""
    return [name for name in names if name not in OURS and name not in (FLOOR, SCRIPTS_FLOOR)]


def first_line(path):
    with open(path, encoding="utf-8") as text:
        return text.readline().strip()


class Entrants(NamedTuple):
    folders: dict  # name: folder of its driver
    versions: dict
    skipped: dict  # name: reason

    @property
    def names(self):
        return in_order(self.folders)


def find(drivers, only=None):
    """Looks into the folder that the drivers were built into."""
    there = os.listdir(drivers) if os.path.isdir(drivers) else []
    folders, versions, skipped = {}, {}, {}
    for name in in_order(set(KNOWN) | {name for name in there if os.path.isdir(os.path.join(drivers, name))}):
        folder = os.path.join(drivers, name)
        if only and name not in only:
            skipped[name] = "not asked for"
        elif os.path.exists(os.path.join(folder, "skipped")):
            skipped[name] = first_line(os.path.join(folder, "skipped"))
        elif not os.access(os.path.join(folder, "run"), os.X_OK):
            if name in KNOWN:
                skipped[name] = "its driver was not built"
        else:
            folders[name] = folder
            versions[name] = first_line(os.path.join(folder, "version"))
    return Entrants(folders, versions, skipped)
