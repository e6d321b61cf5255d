# SPDX-License-Identifier: Apache-2.0
"""From the rounds in a result to the few figures that the tables, the goals and the plots show. Pure."""

from contestants import FLOOR
from stats import least_share, percentile, ratio, spread

CEILING = "script-ceiling"
PUSH_FLOOR = "push-floor"
BESIDE = "beside"
SCRIPT_CALLS = ("evalsha", "evalsha_ro", "eval", "eval_ro", "fcall", "fcall_ro")
# How a library may push the end of a lease back; most do it inside a script.
EXTENSIONS = ("pexpire", "pexpireat", "expire", "expireat")


def grouped(result, key):
    """{contestant: {key(case): its rounds}}"""
    found = {}
    for entry in result["rounds"]:
        found.setdefault(entry["contestant"], {}).setdefault(key(entry["case"]), []).append(entry)
    return found


def over(rounds, figure):
    return spread([figure(entry) for entry in rounds])


def first(entry, name):
    return entry["answers"][0].get(name)


def total(entry, name):
    return sum(answer[name] for answer in entry["answers"])


def scripts(commands):
    return sum(commands.get(name, 0) for name in SCRIPT_CALLS)


def own_commands(entry, shares):
    """How often each command came from the contestant itself, and not from one of its scripts."""
    found = {}
    for name, calls in entry["server"]["commands"].items():
        own = calls * shares.get(name.split("|")[0], 1.0)
        if own:
            found[name] = own
    return found


def pairs(result):
    """{contestant: {threads: figures}}; the ceiling is a contestant with None threads. BESIDE: the same beside programs
    that compute."""
    found = {}
    for name, cases in grouped(result, lambda case: (case.get("beside", 0), case.get("threads"))).items():
        for (beside, threads), rounds in cases.items():
            figures = found.setdefault(name, {})
            (figures.setdefault(BESIDE, {}) if beside else figures)[threads] = of_pairs(rounds)
    return found


def callers(summary):
    """How many there were, of all contestants."""
    return sorted({count for figures in summary.values() for count in figures if isinstance(count, int)})


def of_pairs(rounds):
    return {
        "p50": over(rounds, lambda entry: first(entry, "p50_us")),
        "p99": over(rounds, lambda entry: first(entry, "p99_us")),
        "rate": over(rounds, lambda entry: first(entry, "pairs") / first(entry, "seconds")),
        "server_us": over(rounds, lambda entry: ratio(entry["server"]["cpu_us"], first(entry, "pairs"))),
        "client_us": over(rounds, lambda entry: ratio(first(entry, "cpu_us"), first(entry, "pairs"))),
        "busy": over(rounds, lambda entry: (entry["server"]["cpu_us"] + first(entry, "cpu_us")) / 1e6 / first(entry, "seconds")),
    }


def hot(result):
    """{contestant: {(processes, threads): figures}}"""
    return {name: {layout: of_sections(rounds) for layout, rounds in cases.items()}
            for name, cases in grouped(result, lambda case: (case["processes"], case["threads"])).items()}


def of_sections(rounds):
    return {
        "rate": over(rounds, lambda entry: total(entry, "sections") / max(a["seconds"] for a in entry["answers"])),
        "wait_p50": over(rounds, lambda entry: max(a["wait_p50_us"] for a in entry["answers"])),
        "wait_p99": over(rounds, lambda entry: max(a["wait_p99_us"] for a in entry["answers"])),
        "wait_max": over(rounds, lambda entry: max(a["wait_max_us"] for a in entry["answers"])),
        "least_process": over(rounds, lambda entry: least_share([a["sections"] for a in entry["answers"]])),
        "least_caller": over(rounds, lambda entry: least_share([n for a in entry["answers"] for n in a["served"]])),
    }


def of_costs(rounds):
    """Of sections, beside the other figures."""
    return {
        **of_sections(rounds),
        "server_us": over(rounds, lambda entry: ratio(entry["server"]["cpu_us"], total(entry, "sections"))),
        "client_us": over(rounds, lambda entry: ratio(total(entry, "cpu_us"), total(entry, "sections"))),
        "scripts": over(rounds, lambda entry: ratio(scripts(entry["server"]["commands"]), total(entry, "sections"))),
    }


def hand_over(result):
    """{contestant: figures}; p50 by rounds, p99 and the slowest of all rounds together. Raw measures the floor."""
    found = {}
    for name, cases in grouped(result, lambda case: None).items():
        rounds = cases[None]
        if name == FLOOR:
            found[PUSH_FLOOR] = {"p50": over(rounds, lambda entry: first(entry, "p50_us")),
                                 "p99": over(rounds, lambda entry: first(entry, "p99_us")).median}
            continue
        found[name] = of_hand_overs(rounds)
    return found


def of_hand_overs(rounds):
    samples = [us for entry in rounds for us in first(entry, "hand_over_us")]
    return {"p50": over(rounds, lambda entry: percentile(first(entry, "hand_over_us"), 0.5)),
            "p99": percentile(samples, 0.99), "max": max(samples), "count": len(samples)}


def held(result):
    """{contestant: {count: figures}}"""
    found = {}
    for name, cases in grouped(result, lambda case: case["count"]).items():
        for count, rounds in cases.items():
            phases = {entry["case"]["phase"]: entry for entry in rounds}
            figures = taken(phases["take"], count)
            if "quiet" in phases:
                figures.update(renewed(phases["quiet"], count, phases["take"]))
            if "sampled" in phases:
                figures.update(sampled(phases["sampled"], phases["take"]["keys"]))
            found.setdefault(name, {})[count] = figures
    return found


def taken(entry, count):
    grown = first(entry, "rss_after_bytes") - first(entry, "rss_before_bytes")
    return {"rate": first(entry, "held") / first(entry, "seconds"), "bytes": grown / count,
            "server_bytes": entry["server_memory_bytes"] / count}


def renewed(entry, count, take):
    """Costs by renewal of one lock, whatever part of a period the watch caught; a lock may have several keys."""
    commands = entry["server"]["commands"]
    extended = sum(commands.get(name, 0) for name in EXTENSIONS)
    renewals = ratio(extended * count, take["keys"])
    calls = ratio(scripts(commands), renewals)
    return {"script_calls": None if calls is None else calls * count,
            "server_us": ratio(entry["server"]["cpu_us"], renewals),
            "client_us": ratio(first(entry, "cpu_us"), renewals)}


def sampled(entry, keys):
    lease_ms = entry["case"]["lease_ms"]
    shortest = first(entry, "shortest_pttl_ms")
    late = None if shortest is None else max(0, lease_ms - shortest - lease_ms / 3)
    return {"shortest_ms": shortest, "late_ms": late, "late_limit_ms": lease_ms / 6, "looks": first(entry, "looks"),
            "gone": first(entry, "gone"), "lost": keys - entry["keys_left"]}


def crowd(result):
    """{contestant: figures}"""
    found = {}
    for name, cases in grouped(result, lambda case: case["phase"]).items():
        shares = result["top_level"].get(name, {})
        figures = {
            "gather_s": over(cases["gather"], lambda entry: first(entry, "seconds")),
            "bytes": over(cases["gather"], lambda entry: ratio(
                first(entry, "rss_after_bytes") - first(entry, "rss_before_bytes"), first(entry, "waiting")))}
        if "wait" in cases:
            figures["idle_rate"] = over(cases["wait"], lambda entry: ratio(
                sum(own_commands(entry, shares).values()), entry["server"]["seconds"]))
        if "go" in cases:
            figures.update(
                seconds=over(cases["go"], lambda entry: first(entry, "seconds")),
                scripts=over(cases["go"], lambda entry: ratio(
                    scripts(entry["server"]["commands"]), first(entry, "grants"))),
                commands=over(cases["go"], lambda entry: ratio(
                    sum(own_commands(entry, shares).values()), first(entry, "grants"))))
        if "large" in cases:
            figures["large"] = large_crowd(cases["large"])
        found[name] = figures
    return found


def large_crowd(rounds):
    case = rounds[0]["case"]
    return {"waiters": case["waiters"], "locks": case["locks"],
            "bytes": over(rounds, lambda entry: ratio(
                first(entry, "rss_after_bytes") - first(entry, "rss_before_bytes"), first(entry, "waiting"))),
            "seconds": over(rounds, lambda entry: first(entry, "go")["seconds"]),
            "rate": over(rounds, lambda entry: ratio(first(entry, "go")["grants"], first(entry, "go")["seconds"])),
            "client_us": over(rounds, lambda entry: ratio(first(entry, "go")["cpu_us"], first(entry, "go")["grants"]))}


def storm(result):
    """{contestant: figures}"""
    found = {}
    for name, cases in grouped(result, lambda case: (case["processes"], case["clients"])).items():
        shares = result["top_level"].get(name, {})
        for (processes, clients), rounds in cases.items():
            own = own_commands(rounds[-1], shares)
            found[name] = {
                "processes": processes, "clients": clients,
                "rate": over(rounds, lambda entry: total(entry, "sections") / max(
                    a["seconds"] for a in entry["answers"])),
                "scripts": over(rounds, lambda entry: ratio(
                    scripts(entry["server"]["commands"]), total(entry, "sections"))),
                "commands": over(rounds, lambda entry: ratio(
                    sum(own_commands(entry, shares).values()), total(entry, "sections"))),
                "server_us": over(rounds, lambda entry: ratio(entry["server"]["cpu_us"], total(entry, "sections"))),
                "by_name": {command: ratio(calls, total(rounds[-1], "sections"))
                            for command, calls in sorted(own.items(), key=lambda item: -item[1])},
            }
    return found


def kinds(result):
    """{contestant: {"pairs": {(kind, threads): figures}, what else was measured: figures}}"""
    found = {}
    for name, cases in grouped(result, lambda case: (case["what"], case.get("kind"), case.get("threads"))).items():
        figures = found.setdefault(name, {"pairs": {}})
        for (what, kind, threads), rounds in cases.items():
            if what == "pairs":
                figures["pairs"][(kind, threads)] = of_pairs(rounds)
            elif what == "hand_over":
                figures[what] = of_hand_overs(rounds)
            else:
                figures[what] = {**of_costs(rounds), "displacement": over(rounds, lambda entry: first(entry, "displacement"))}
    return found


def few(result):
    """{contestant: {(kind, processes, threads): figures}}; the scripts of an AnyLock's grant are for each process."""
    found = {}
    by_case = grouped(result, lambda case: (case["kind"], case.get("processes", 1), case["threads"]))
    for name, cases in by_case.items():
        for (kind, processes, threads), rounds in cases.items():
            figures = of_costs(rounds)
            figures["scripts_each"] = over(rounds, lambda entry: ratio(
                scripts(entry["server"]["commands"]), total(entry, "sections") * processes))
            found.setdefault(name, {})[(kind, processes, threads)] = figures
    return found


def crowd_costs(result):
    """{contestant: its rows}"""
    found = {}
    for row in result["rounds"]:
        found.setdefault(row["contestant"], []).append(row)
    return found


ALL = {"a": pairs, "b": hot, "c": hand_over, "d": held, "e": crowd, "f": storm, "g": kinds, "h": few, "crowd": crowd_costs}


def of_all(found):
    """{letter: summary} of all results."""
    return {letter: ALL[letter](result) for letter, result in found.items()}
