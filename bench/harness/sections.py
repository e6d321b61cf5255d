# SPDX-License-Identifier: Apache-2.0
"""The part of docs/benchmarks.md that belongs to one scenario: what was done, the tables, what was left out."""

from contestants import OURS, REDISSON, in_order
from goals import KIND_NAMES
from summaries import BESIDE, CEILING, PUSH_FLOOR, callers
from table import NOTHING, number, spread, table

PAIR_COLUMNS = [("p50 µs", "p50"), ("p99 µs", "p99"), ("pairs/s", "rate"), ("server CPU µs/pair", "server_us"),
                ("client CPU µs/pair", "client_us")]
SECTION_COLUMNS = [("sections/s", "rate"), ("server CPU µs/section", "server_us"), ("client CPU µs/section", "client_us")]
CEILING_TEXT = "*what the server can do*"
PUSH_TEXT = "*one push and one round trip*"
THIRDS = (*OURS, *REDISSON)  # renew after a third of the lease


def name_of(contestant):
    if contestant in OURS:
        return f"**{contestant}**"
    return {CEILING: CEILING_TEXT, PUSH_FLOOR: PUSH_TEXT}.get(contestant, contestant)


def contestants_of(summary):
    return in_order(name for name in summary if name not in (CEILING, PUSH_FLOOR))


def tabled(title, summary, columns, pick):
    """One row for each contestant for which pick(its figures) finds something. Columns: (head, figure)."""
    rows = []
    for name in contestants_of(summary):
        figures = pick(summary[name])
        if figures:
            rows.append([name_of(name), *(spread(figures.get(figure)) for _, figure in columns)])
    return table([title, *(head for head, _ in columns)], rows)


def pairs(result, summary):
    """Scenario a."""
    seconds = first_case(result, "pairs", "seconds") or 0
    yield (f"Each caller repeats take and release on a lock of its own, with nothing in between, for {seconds:.2g} s a "
           "round. A caller is a thread, or a coroutine or what else the library's users have instead. `raw-scripts` sends "
           "Holdfast's own two scripts, over a connection for each caller.")
    yield ""
    ceiling = summary.get(CEILING, {}).get(None)
    if ceiling:
        yield ("*What the server can do* is measured with Holdfast's own two scripts, sent by 4 connections with 64 "
               "pairs under way in each and their replies only counted, so that nothing but the server is busy. "
               f"It managed **{spread(ceiling['rate'])}** pairs/s at {spread(ceiling['server_us'])} µs of "
               "its CPU for each.")
        yield ""
    yield ("Processors busy are those that the server and the contestant's process took together, "
           f"of {result['machine']['cores']}.")
    yield ""
    columns = [*PAIR_COLUMNS, ("processors busy", "busy")]
    for threads in callers(summary):
        yield from tabled(f"{threads} caller{'s' if threads > 1 else ''}", summary, columns,
                          lambda figures: figures.get(threads))
        yield ""
    yield from beside_others(result, summary)


def beside_others(result, summary):
    """Scenario a, again."""
    programs = next((entry["case"]["beside"] for entry in result["rounds"] if "beside" in entry["case"]), 0)
    if not programs:
        return
    counts = callers(summary)
    yield f"Beside {programs} programs that only compute, by turns with the rest: pairs a second, by the number of callers."
    yield ""
    rows = [[name_of(name), *(spread(figures.get(count, {}).get("rate")) for count in counts)]
            for name in contestants_of(summary) if (figures := summary[name].get(BESIDE))]
    yield from table(["", *map(str, counts)], rows)
    yield ""


def first_case(result, answer, field):
    """What the first round that has such an answer says in a field."""
    return next((entry["answers"][0][field] for entry in result["rounds"]
                 if entry["answers"] and answer in entry["answers"][0]), None)


def hot(result, summary):
    """Scenario b."""
    seconds = first_case(result, "sections", "seconds") or 0
    yield (f"All callers of all processes repeat take and release on the same lock for {seconds:.2g} s a round, "
           "begun at the same moment. Waits are those of the worst process. The fair share is 1: every process, or "
           "every caller, gets as much as any other.")
    yield ""
    columns = [("sections/s", "rate"), ("wait p50 µs", "wait_p50"), ("wait p99 µs", "wait_p99"),
               ("wait max µs", "wait_max"), ("least process, of its share", "least_process"),
               ("least caller, of its share", "least_caller")]
    for layout in sorted({layout for figures in summary.values() for layout in figures}):
        processes, threads = layout
        yield from tabled(f"{processes} process{'es' if processes > 1 else ''} x {threads} callers", summary, columns,
                          lambda figures: figures.get(layout))
        yield ""


def hand_over(result, summary):
    """Scenario c."""
    count = max((figures.get("count", 0) for figures in summary.values()), default=0)
    low, high = next((entry["case"]["pause_ms"] for entry in result["rounds"] if "pause_ms" in entry["case"]), (0, 0))
    yield (f"Two processes hand a lock to each other {count} times: one holds it, the other one has been waiting for "
           f"{low:.0f} to {high:.0f} ms, at random, when the first releases. From the call of release in the one to "
           "the return of take in the other. A contestant that polls is found at whatever point of its pause that is.")
    yield ""
    rows = []
    if PUSH_FLOOR in summary:
        floor = summary[PUSH_FLOOR]
        rows.append([PUSH_TEXT, spread(floor["p50"]), number(floor["p99"]), NOTHING])
    rows += [[name_of(name), *(spread(summary[name][figure]) for figure in ("p50", "p99", "max"))]
             for name in contestants_of(summary)]
    yield from table(["", "p50 µs", "p99 µs", "slowest µs"], rows)
    yield ""


def held(result, summary):
    """Scenario d."""
    lease_ms = result["rounds"][0]["case"]["lease_ms"] if result["rounds"] else 0
    yield (f"One process takes many locks with a lease of {lease_ms / 1000:g} s and keeps them, renewed by its own "
           "library. What a renewal costs is counted once they have been held for a lease: what a lock costs once, as "
           "the first read of those that are watched, is over by then. Lateness is how much later than a third of the lease, at worst, a renewal arrived, by the "
           "shortest time to live seen in samples of the held keys; it is not said of those that renew by another "
           "rule. Client memory is the growth of the resident memory, which says little of a process with a garbage "
           "collector. Lost are keys that were gone at the end.")
    yield ""
    yield from held_tables(summary)


def held_tables(summary):
    """A table for each number of locks."""
    columns = [("taken/s", "rate"), ("client bytes/lock", "bytes"), ("server bytes/lock", "server_bytes"),
               ("script calls to renew all", "script_calls"), ("server CPU µs/renewal", "server_us"),
               ("client CPU µs/renewal", "client_us"),
               ("shortest TTL ms", "shortest_ms"), ("late ms", "late_ms"), ("lost", "lost")]
    shown = {name: {count: figures if name in THIRDS else {**figures, "late_ms": None}
                    for count, figures in counts.items()} for name, counts in summary.items()}
    for count in sorted({count for figures in summary.values() for count in figures}):
        yield from tabled(f"{count:,} locks", shown, columns, lambda figures: figures.get(count))
        yield ""


def crowd(result, summary):
    """Scenario e."""
    waiters = first_case(result, "waiting", "waiting") or 0
    yield (f"{waiters:,} waiters in one process, ten on each lock, each with no limit to its wait. Then the locks are "
           "released, and each waiter enters once and releases at once. Script calls are EVALSHA, EVAL and FCALL; all "
           "commands are those that the contestant sent, without the ones that its scripts call.")
    yield ""
    yield from tabled("", summary, [
        ("client bytes/waiter", "bytes"), ("commands/s while waiting", "idle_rate"),
        ("seconds until all are through", "seconds"), ("script calls/grant", "scripts"),
        ("all commands/grant", "commands")], lambda figures: figures)
    yield ""
    large = next((figures["large"] for figures in summary.values() if "large" in figures), None)
    if large:
        yield (f"The same with {large['waiters']:,} coroutines that wait for {large['locks']:,} locks, in one process "
               "and all run by one thread. Bytes are the growth of the resident memory from before the first of them "
               "until all wait; time and CPU are from the release of the locks until the last waiter is through.")
        yield ""
        yield from tabled("", summary, [
            ("client bytes/waiter", "bytes"), ("seconds until all are through", "seconds"), ("grants/s", "rate"),
            ("client CPU µs/grant", "client_us")], lambda figures: figures.get("large"))
        yield ""


def storm(result, summary):
    """Scenario f."""
    yield ("64 clients of each library repeat take and release on one lock and stay inside for a millisecond: 64 "
           "processes, or 4 with 16 clients in each where the last column says so, because 64 would not fit on the "
           "machine. When each client tries once for each grant, that makes 64 script calls, and one more for the "
           "release. Commands are those that the contestant sent, without the ones that its scripts call.")
    yield ""
    rows = []
    for name in contestants_of(summary):
        figures = summary[name]
        by_name = ", ".join(f"{command} {number(calls)}" for command, calls in list(figures["by_name"].items())[:4]
                            if calls >= 0.005)
        each = figures["scripts"].median / (figures["processes"] * figures["clients"]) if figures["scripts"] else None
        rows.append([name_of(name), spread(figures["rate"]), spread(figures["scripts"]), number(each),
                     spread(figures["commands"]), by_name, spread(figures["server_us"]),
                     f"{figures['processes']} x {figures['clients']}"])
    yield from table(["", "sections/s", "script calls/grant", "the same for each client", "all commands/grant",
                      "most of them", "server CPU µs/grant", "processes x clients"], rows)
    yield ""


def kinds(result, summary):
    """Scenario g."""
    yield ("As in a, each caller with a lock of its own, but of another kind. A read-write lock is taken by one reader, or by "
           "one writer. Redisson's watchdog, and Holdfast's, renew all of them.")
    yield ""
    for kind, threads in ordered({case for figures in summary.values() for case in figures["pairs"]}):
        yield from tabled(f"{KIND_NAMES[kind]}, {threads} caller{'s' if threads > 1 else ''}", summary, PAIR_COLUMNS,
                          lambda figures: figures["pairs"].get((kind, threads)))
        yield ""
    yield "16 readers of one process take and release the read lock of one name, with nothing in between:"
    yield ""
    yield from tabled("", summary, SECTION_COLUMNS, lambda figures: figures.get("readers"))
    yield ""
    yield ("A fair lock. The hand-over is as in c. For the order 16 callers, 4 in each of 4 processes, repeat take and release "
           "and stay inside for a millisecond. The displacement of an entry is by how many places it came before or after its "
           "turn, in the order in which take was called; the table has the mean of all. Waits are those of the worst process.")
    yield ""
    yield from tabled("", {name: {**figures.get("order", {}), **{f"over_{key}": value for key, value in figures.get(
        "hand_over", {}).items()}} for name, figures in summary.items()}, [
            ("hand-over p50 µs", "over_p50"), ("hand-over p99 µs", "over_p99"), ("displacement", "displacement"),
            ("sections/s", "rate"), ("wait p50 µs", "wait_p50"), ("wait max µs", "wait_max"),
            ("server CPU µs/section", "server_us")], lambda figures: figures)
    yield ""
    yield ("Mostly readers: 32 callers, 8 in each of 4 processes, take and release one read-write lock with nothing in between, "
           "19 times to read and then once to write:")
    yield ""
    yield from tabled("", summary, [*SECTION_COLUMNS, ("wait p99 µs", "wait_p99"), ("wait max µs", "wait_max"),
                                    ("least process, of its share", "least_process")], lambda figures: figures.get("mixed"))
    yield ""


def ordered(cases):
    """By kind, in the order in which they are named, and by the number of callers."""
    return sorted(cases, key=lambda case: (list(KIND_NAMES).index(case[0]), *case[1:]))


def few(result, summary):
    """Scenario h."""
    seconds = first_case(result, "sections", "seconds") or 0
    yield (f"16 callers of one process repeat take and release of one permit for {seconds:.2g} s a round, with nothing in "
           "between; there are 4. Holdfast renews the leases of permits; Redisson's are of 30 s and end then.")
    yield ""
    for case in ordered({case for figures in summary.values() for case in figures}):
        if case[0] == "any":
            continue
        yield from tabled(f"{KIND_NAMES[case[0]]} of 4", summary, [*SECTION_COLUMNS, ("script calls/section", "scripts"),
                          ("wait p99 µs", "wait_p99"), ("least caller, of its share", "least_caller")],
                          lambda figures: figures.get(case))
        yield ""
    yield ("64 callers take any one of 8 locks, stay inside for a millisecond and release it. Script calls are counted at the "
           "server; each process may make one for each grant, its release among them. Nobody else has such a thing.")
    yield ""
    for case in ordered({case for figures in summary.values() for case in figures if case[0] == "any"}):
        yield from tabled(f"{case[1]} processes x {case[2]} caller{'s' if case[2] > 1 else ''}", summary, [
            *SECTION_COLUMNS, ("script calls/grant", "scripts"), ("the same for each process", "scripts_each")],
            lambda figures: figures.get(case))
        yield ""


ALL = {"a": pairs, "b": hot, "c": hand_over, "d": held, "e": crowd, "f": storm, "g": kinds, "h": few}


def crowd_rows(rows):
    """Of bench/crowd; the floor is a message to all of them."""
    for row in rows:
        is_floor = row["kind"] == "floor"
        yield [name_of(row["contestant"]), "" if is_floor else row["kind"], row["clients"],
               "a message to all" if is_floor else f"{row['inside_ms']:g}", f"{row['took_ms']:.1f}",
               "" if is_floor else f"{row['asked']:.1f}", "1" if is_floor else f"{row['messages']:.2f}", f"{row['cpu_ms']:.2f}",
               row.get("grants", ""), f"{row['idle_ms']:.0f}" if "idle_ms" in row else ""]


def crowd_table(rows):
    return table(["", "kind", "clients", "inside, ms", "from grant to grant, ms", "scripts to acquire, a grant",
                  "messages, a grant", "server CPU, ms a grant", "grants", "idle at most, ms"], crowd_rows(rows))


CROWD_KINDS = ("lock", "floor", "frozen", "fair", "mixed", "leased", "any")


def crowd_order(row):
    """Ours first, then by kind and number; the floor is behind the locks of so many."""
    kind = CROWD_KINDS.index(row["kind"])
    return row["contestant"] not in OURS, row["contestant"], max(kind, 1), row["clients"], kind


def crowd_costs(result):
    """What bench/crowd has measured."""
    dates = sorted(row["date"] for row in result["rounds"])
    commits = sorted({row["commit"] for row in result["rounds"]})
    yield "## What a crowd costs"
    yield ""
    yield (f"By `bench/crowd`, apart from the scenarios above. Measured from {dates[0]} to {dates[-1]} at commits "
           f"{', '.join(f'`{each[:7]}`' for each in commits)}, {result['machine']['server']}, {result['machine']['cpu']}, "
           f"{result['machine']['cores']} cores. So many clients, each with a connection of its own, in {result['processes']} "
           "processes, wait for one lock, stay inside, release it, and come again: as readers of a read-write lock, and every "
           "twentieth time as its writer (mixed); for one of 10 permits (leased); for one of 10 names (any). Frozen: all but ten are "
           "stopped while all wait, and those ten go on. From one grant to the next, of whomever, it takes the time inside, less "
           "where several are inside, and what it takes to find the next. "
           "The floor is one message to all of them, and the answer to a command of one who has got it. `@` with a commit: the "
           "library as it was then, when each waiter asked for itself; of 2,000 the commands were not answered in time. Neither "
           "were those of 2,000 Redissons, of which each has two threads and one connection at rest here.")
    yield ""
    yield from crowd_table(sorted(result["rounds"], key=crowd_order))
    yield ""


def left_out(result):
    """Who is missing from the tables of this scenario, and why."""
    by_reason = {}
    for entry in result["left_out"]:
        case = entry["case"]
        where = f" with {case['count']:,} locks" if "count" in case and entry["why"].startswith("failed") else ""
        by_reason.setdefault(entry["why"] + where, []).append(entry["contestant"])
    return [f"- without {', '.join(names)}: {why}" for why, names in by_reason.items()]
