# SPDX-License-Identifier: Apache-2.0
"""The files in bench/results: one for each scenario, with everything that the page is made from. Those of another kind of
machine or server than the page's are in a folder of their own there."""

import glob
import json
import os
import re

from machine import kind

FOLDER = os.path.join("bench", "results")


def write(base, letter, result, aside=False):
    """As JSON, with each round on a line of its own, so that differences can be read. `aside`: the page's stay."""
    folder = os.path.join(base, FOLDER)
    if aside:
        folder = folder_of(folder, result)
    os.makedirs(folder, exist_ok=True)
    if not aside:
        keep(folder, letter, result)
    lines = []
    for key, value in result.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            entries = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in value)
            lines.append(f' {json.dumps(key)}: [\n{entries}\n ]')
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    with open(os.path.join(folder, f"{letter}.json"), "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(lines) + "\n}\n")


def folder_of(folder, result):
    """Of its kind of machine."""
    return os.path.join(folder, re.sub(r"[^a-z0-9]+", "-", kind(result["machine"]).lower()).strip("-"))


def keep(folder, letter, result):
    """What was measured on another kind of machine is moved aside."""
    path = os.path.join(folder, f"{letter}.json")
    if os.path.exists(path) and kind((was := read(path))["machine"]) != kind(result["machine"]):
        os.makedirs(folder_of(folder, was), exist_ok=True)
        os.replace(path, os.path.join(folder_of(folder, was), f"{letter}.json"))


def read(path):
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def by_kind(base, letters):
    """{kind of machine: {letter: result}}, the latest first."""
    found = {}
    for folder in (os.path.join(base, FOLDER), *sorted(glob.glob(os.path.join(base, FOLDER, "*", "")))):
        for letter in letters:
            path = os.path.join(folder, f"{letter}.json")
            if os.path.exists(path):
                result = read(path)
                found.setdefault(kind(result["machine"]), {}).setdefault(letter, result)
    return found


def read_all(base, letters, which=""):
    """By letter; those that were never measured are not in it. `.earlier`: runs that a newer, smaller one has not
    replaced as a whole."""
    found = {}
    for letter in letters:
        path = os.path.join(base, FOLDER, f"{letter}{which}.json")
        if os.path.exists(path):
            found[letter] = read(path)
    return found
