# SPDX-License-Identifier: Apache-2.0
"""Whether the library has changed since a scenario was measured, in what that scenario measures.

Usage: drift.py    a line for each scenario of bench/results for which it has; ./check bench shows them as notes"""

import os
import subprocess

import results

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

COMMANDS = ("src/redis/connection/lane.*", "src/redis/connection/pipeline.*", "src/redis/connection/session.*",
            "src/redis/decide/resp.*", "src/loop/*")
PAIR = ("src/kinds/lua/*/acquire.lua", "src/kinds/lua/*/release.lua", "src/kinds/lua/shared/tell.lua",
        "src/lock/hold/acquire*", "src/lock/decide/acquire_fsm.*", "src/lock/decide/release_fsm.*",
        "src/lock/hold/hold_release.*", "src/lock/queue/target.*", "src/lock/targets/key_target.*")
WAITING = ("src/lock/queue/queue.*", "src/lock/decide/tenure.*", "src/redis/connection/subscriptions.*")
PASSING_ON = ("src/lock/queue/queue.*", "src/lock/queue/tenancy.*", "src/lock/decide/tenure.*")
RENEWING = ("src/kinds/lua/*/renew.lua", "src/kinds/calls.*", "src/lock/renew/armed_holds.*",
            "src/lock/renew/watchdog.*", "src/lock/renew/key_watch.*", "src/lock/queue/tenancy.*",
            "src/lock/targets/targets.*", "src/lock/decide/hold_fsm.*", "src/lock/decide/lease.*")

KINDS = ("src/kinds/fenced_lock.*", "src/kinds/fair_lock.*", "src/kinds/spin_lock.*", "src/kinds/read_write_lock.*",
         "src/kinds/lua/read_write/acquire_*.lua", "src/kinds/lua/read_write/release_*.lua", "src/lock/hold/changes.*")
COUNTING = ("src/kinds/semaphore.*", "src/kinds/leased_semaphore.*", "src/kinds/any_lock.*",
            "src/face/counting.*", "src/kinds/lua/lock/acquire_any.lua", "src/kinds/lua/lock/release_any.lua")

# What each scenario measures: patterns of git for the files that its figures come from.
MEASURED = {
    "a": (*PAIR, *COMMANDS),
    "b": (*PAIR, *COMMANDS, *WAITING, *PASSING_ON),
    "c": (*PAIR, *COMMANDS, *WAITING),
    "d": (*RENEWING, *COMMANDS),
    "e": (*PAIR, *COMMANDS, *WAITING),
    "f": (*PAIR, *COMMANDS, *WAITING, *PASSING_ON),
    "g": (*PAIR, *COMMANDS, *WAITING, *PASSING_ON, *KINDS),
    "h": (*PAIR, *COMMANDS, *WAITING, *PASSING_ON, *COUNTING),
}


def base_of(commit):
    """Without the mark of a tree that had changes. None if no commit was noted."""
    return (commit or "").removesuffix("-dirty").removesuffix("+") or None


def short(commit):
    """As the page shows it: with `+` if the tree had changes."""
    base = base_of(commit)
    if base is None:
        return "unknown"
    return base[:7] + ("+" if base != commit else "")


def git(*words):
    """What git says, or None if it cannot."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def commits_since(commit, letter, ask=git):
    """How many commits since then have touched what the scenario measures. None: the history does not say."""
    base = base_of(commit)
    said = base and ask("log", "--format=%h", f"{base}..HEAD", "--", *(f":(glob){each}" for each in MEASURED[letter]))
    return None if said is None else len(said.split())


def of_all(found, ask=git):
    """{letter: commits since}"""
    return {letter: commits_since(result["machine"]["commit"], letter, ask) for letter, result in found.items()}


def count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def notes(found, since):
    for letter, result in found.items():
        at = f"scenario {letter} was measured on {result['date'][:10]} at {short(result['machine']['commit'])}"
        if since[letter] is None:
            yield f"bench: {at}, which this history does not have: nobody knows whether its figures still hold"
        elif since[letter]:
            yield f"bench: {at}; {count(since[letter], 'commit')} since touched what it measures: measure again"


if __name__ == "__main__":
    there = results.read_all(ROOT, MEASURED)
    for line in notes(there, of_all(there)):
        print(line)
