# SPDX-License-Identifier: Apache-2.0
"""The goals: what was wanted, what came out, and whether that is enough. Computed from the summaries. Pure."""

from typing import NamedTuple, Optional

from contestants import ASYNC, BLOCKING, COROUTINES, FLOOR, HOLDFAST, PIPELINED, REDISSON, SCRIPTS_FLOOR, peers
from stats import ratio
from summaries import BESIDE, CEILING, PUSH_FLOOR, callers

CLIENTS = 64  # of the storm
KIND_NAMES = {"fenced": "fenced lock", "read": "read lock", "write": "write lock", "fair": "fair lock", "spin": "spin lock",
              "semaphore": "semaphore", "leased": "semaphore with leases", "any": "any of several locks"}


class Goal(NamedTuple):
    scenario: str
    text: str
    limit: float
    at_most: bool  # or at least
    unit: str
    value: Optional[float]  # None: not measured

    @property
    def met(self):
        if self.value is None:
            return None
        return self.value <= self.limit if self.at_most else self.value >= self.limit


def figure(summary, name, *path):
    """The median of one figure, or None if it was not measured."""
    found = summary.get(name)
    for step in path:
        found = None if found is None else found.get(step)
    return getattr(found, "median", found)


def best(summary, names, pick, *path):
    """The best of these contestants, by pick (min or max). None if there is none."""
    known = [value for value in (figure(summary, name, *path) for name in names) if value is not None]
    return pick(known) if known else None


def others(summary):
    """The peers that are not Redisson."""
    return [name for name in peers(summary) if name not in REDISSON and name not in (CEILING, PUSH_FLOOR)]


def rivals(summary):
    return [*REDISSON, *others(summary)]


def uncontended(summary):
    own = figure(summary, HOLDFAST, 1, "p50")
    raw = figure(summary, FLOOR, 1, "p50")
    yield Goal("a", "one thread, p50 of a pair, against `raw`", 1.1, True, "x", ratio(own, raw))
    yield Goal("a", "the same with the pipelined release", 0.6, True, "x",
               ratio(figure(summary, PIPELINED, 1, "p50"), raw))
    yield Goal("a", "one thread, p50 of a pair, against `raw-scripts`", 1.0, True, "x",
               ratio(own, figure(summary, SCRIPTS_FLOOR, 1, "p50")))
    yield Goal("a", "one thread, p50 of a pair, against the best peer", 0.8, True, "x",
               ratio(own, best(summary, rivals(summary), min, 1, "p50")))
    yield from few_threads(summary)
    for name, kind in ((HOLDFAST, "threads"), (ASYNC, "coroutines of one thread")):
        for count in (16, 64):
            own = figure(summary, name, count, "rate")
            text = f"{count} {kind}, pairs per second"
            yield Goal("a", f"{text}, against the best Redisson", 3, False, "x",
                       ratio(own, best(summary, REDISSON, max, count, "rate")))
            yield Goal("a", f"{text}, against the best other peer", 1.5, False, "x",
                       ratio(own, best(summary, others(summary), max, count, "rate")))
            yield Goal("a", f"{text}, of what the server can do with these scripts", 85 if (name, count) == (ASYNC, 64) else 80,
                       False, "%", percent(ratio(own, figure(summary, CEILING, None, "rate"))))
    yield Goal("a", "64 coroutines of one thread, pairs per second, the best of Holdfast against its best with threads",
               0.9, False, "x",
               ratio(best(summary, COROUTINES, max, 64, "rate"), best(summary, BLOCKING, max, 64, "rate")))
    yield Goal("a", "server CPU per pair, against the best Redisson, at the worst number of threads", 0.5, True, "x",
               worst_cpu(summary))


def few_threads(summary):
    """The valley: more callers than one, and fewer than batches help. Of each goal that which is missed by the most."""
    for path, beside in (((), ""), ((BESIDE,), ", beside two programs that compute")):
        counts = [count for count in callers(summary) if figure(summary, HOLDFAST, *path, count, "rate") is not None]
        for whom, names, limit in (("`raw-scripts`", [SCRIPTS_FLOOR], 0.95), ("the best peer", rivals(summary), 1.0)):
            least = min(((share, count) for count in counts
                         if (share := ratio(figure(summary, HOLDFAST, *path, count, "rate"),
                                            best(summary, names, max, *path, count, "rate"))) is not None), default=None)
            where = f", least with {least[1]}" if least else ""
            yield Goal("a", f"1 to 64 threads{beside}, pairs per second, against {whom}{where}", limit, False, "x",
                       least and least[0])


def percent(share):
    return None if share is None else 100 * share


def worst_cpu(summary):
    found = [ratio(figure(summary, HOLDFAST, threads, "server_us"), best(summary, REDISSON, min, threads, "server_us"))
             for threads in callers(summary)]
    return max((value for value in found if value is not None), default=None)


def hot(summary):
    yield Goal("b", "hot lock, 1 process of 16 threads, sections per second, against the best Redisson", 100, False,
               "x", hot_ratio(summary, (1, 16)))
    for layout in ((2, 8), (4, 8)):
        text = f"hot lock, {layout[0]} processes of {layout[1]} threads"
        yield Goal("b", f"{text}, sections per second, against the best Redisson", 20, False, "x",
                   hot_ratio(summary, layout))
        yield Goal("b", f"{text}, the least served process, of its fair share", 0.5, False, "",
                   figure(summary, HOLDFAST, layout, "least_process"))


def hot_ratio(summary, layout):
    return ratio(figure(summary, HOLDFAST, layout, "rate"), best(summary, REDISSON, max, layout, "rate"))


def hand_over(summary):
    own = figure(summary, HOLDFAST, "p50")
    yield Goal("c", "hand-over, p50, against one push and one round trip", 1.2, True, "x",
               ratio(own, figure(summary, PUSH_FLOOR, "p50")))
    yield Goal("c", "hand-over, p50, against the best Redisson", 0.5, True, "x",
               ratio(own, best(summary, REDISSON, min, "p50")))
    yield Goal("c", "hand-over, p50, against rueidislock", 0.8, True, "x", ratio(own, figure(summary, "rueidislock", "p50")))


def held(summary):
    counts = summary.get(HOLDFAST, {})
    most = max(counts, default=None)
    both = [count for count in counts if best(summary, REDISSON, min, count, "server_us") is not None]
    common = max(both, default=None)
    late = figure(summary, HOLDFAST, most, "late_ms")
    limit = figure(summary, HOLDFAST, most, "late_limit_ms")
    yield Goal("d", f"client memory per held lock, {many(most)}", 300, True, "bytes",
               figure(summary, HOLDFAST, most, "bytes"))
    yield Goal("d", f"lateness of renewals, {many(most)}, within a sixth of the lease", limit or 0, True, "ms", late)
    yield Goal("d", f"server CPU per renewed lock, {many(common)}, against the best Redisson", 0.5, True, "x",
               ratio(figure(summary, HOLDFAST, common, "server_us"),
                     best(summary, REDISSON, min, common, "server_us")))


def many(count):
    return "many locks" if count is None else f"{count:,} locks"


def storm(summary):
    calls = figure(summary, HOLDFAST, "scripts")
    yield Goal("f", f"storm of {CLIENTS} processes, script calls for each process and grant", 1, True, "",
               ratio(calls, CLIENTS))


def kinds(summary):
    for kind in ("fenced", "read", "write", "fair", "spin"):
        worst = max((value for callers in (1, 16) if (value := against_redisson(
            summary, min, "pairs", (kind, callers), "server_us")) is not None), default=None)
        yield Goal("g", f"{KIND_NAMES[kind]}, server CPU per pair, against the best Redisson, at the worst number of callers",
                   0.6, True, "x", worst)
    yield Goal("g", "16 readers of one process on one lock, sections per second, against the best Redisson", 100, False, "x",
               against_redisson(summary, max, "readers", "rate"))
    yield Goal("g", "hand-over of a fair lock, p50, against the best Redisson", 0.5, True, "x",
               against_redisson(summary, min, "hand_over", "p50"))


def few(summary):
    for kind in ("semaphore", "leased"):
        text = f"16 callers on a {KIND_NAMES[kind]} of 4"
        case = (kind, 1, 16)
        yield Goal("h", f"{text}, sections per second, against the best Redisson", 10, False, "x",
                   against_redisson(summary, max, case, "rate"))
        yield Goal("h", f"{text}, server CPU per section, against the best Redisson", 0.6, True, "x",
                   against_redisson(summary, min, case, "server_us"))
    for processes, callers in ((4, 16), (64, 1)):
        yield Goal("h", f"64 waiters on 8 names of an AnyLock, in {processes} processes, script calls for each process and grant",
                   1, True, "", figure(summary, HOLDFAST, ("any", processes, callers), "scripts_each"))


CROWD = 2000  # clients
POLLS_A_MS = 0.1  # that the whole crowd may make


def crowds(summary):
    """Of what bench/crowd has measured; each at the worst time inside."""
    rows = [row for row in summary.get(ASYNC, ()) if row["clients"] == CROWD]
    floor = next((row["took_ms"] for row in rows if row["kind"] == "floor"), None)

    def worst(kind, value):
        return max((value(row) for row in rows if row["kind"] == kind), default=None)

    def beyond_polls(row):
        return max(0, row["asked"] - POLLS_A_MS * row["took_ms"])
    for kind, limit in (("lock", 12), ("mixed", 12), ("leased", 12), ("any", 12), ("fair", 3)):
        yield Goal("crowd", f"{CROWD:,} clients wait ({kind}), scripts a grant beyond the safety polls", limit, True, "",
                   worst(kind, beyond_polls))
    yield Goal("crowd", f"{CROWD:,} clients wait (lock), from grant to grant, beyond the time inside and the floor", 4, True, "ms",
               None if floor is None else worst("lock", lambda row: row["took_ms"] - row["inside_ms"] - floor))
    yield Goal("crowd", f"{CROWD:,} clients wait, of which ten are alive, the lock idle at most", 50, True, "ms",
               worst("frozen", lambda row: row["idle_ms"]))
    yield Goal("crowd", f"{CROWD:,} clients wait (fair), server CPU a grant", 2, True, "ms", worst("fair", lambda row: row["cpu_ms"]))


def against_redisson(summary, pick, *path):
    return ratio(figure(summary, HOLDFAST, *path), best(summary, REDISSON, pick, *path))


BY_SCENARIO = {"a": uncontended, "b": hot, "c": hand_over, "d": held, "f": storm, "g": kinds, "h": few, "crowd": crowds}


def evaluate(summaries):
    """All goals; those of a scenario without results have no value."""
    return [goal for letter, goals in BY_SCENARIO.items() for goal in goals(summaries.get(letter, {}))]
