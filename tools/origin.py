#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a record for docs/evidence.md comes from: its first fields, as tests/support/evidence.cpp writes them too.

Usage: tools/origin.py PART    prints them as JSON without braces, for a record of a shell script"""
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def said_by(*command):
    """What a command says, or nothing if it cannot be run."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def commit():
    """HOLDFAST_COMMIT, or what git says; with `+` behind it if the tree has changes."""
    if given := os.environ.get("HOLDFAST_COMMIT"):
        return given
    changed = "+" if said_by("git", "status", "--porcelain") else ""
    return (said_by("git", "rev-parse", "--short", "HEAD") or "unknown") + changed


def kernel():
    return f"{platform.system()} {platform.release().split('-')[0]}"


def processors():
    try:
        models = re.findall(r"^model name\s*: *(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        models = []
    return f"{len(os.sched_getaffinity(0))} x {models[0] if models else 'of an unknown model'}"


def server():
    """Name and version of the program that tests start."""
    for program in filter(None, (os.environ.get("HOLDFAST_REDIS_SERVER"), "redis-server", "valkey-server")):
        found = re.search(r"(\w+) server v=([\d.]+)", said_by(program, "--version"))
        if found:
            return " ".join(found.groups())
    return ""


def origin(part, with_server=False):
    record = {"part": part, "commit": commit(),
              "at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
              "kernel": kernel(), "processors": processors()}
    if with_server:
        record["server"] = server()
    return record


def append(record, root=ROOT):
    """As a line to HOLDFAST_EVIDENCE, or to build/results/evidence/PART.jsonl."""
    path = pathlib.Path(os.environ.get("HOLDFAST_EVIDENCE")
                        or root / "build" / "results" / "evidence" / f"{record['part']}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as out:
        out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(json.dumps(origin(sys.argv[1]))[1:-1])
