# SPDX-License-Identifier: Apache-2.0
"""The files in bench/results: one for each scenario, with everything that the page is made from."""

import json
import os

FOLDER = os.path.join("bench", "results")


def write(base, letter, result):
    """As JSON, with each round on a line of its own, so that differences can be read."""
    folder = os.path.join(base, FOLDER)
    os.makedirs(folder, exist_ok=True)
    lines = []
    for key, value in result.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            entries = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in value)
            lines.append(f' {json.dumps(key)}: [\n{entries}\n ]')
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    with open(os.path.join(folder, f"{letter}.json"), "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(lines) + "\n}\n")


def read_all(base, letters, which=""):
    """By letter; those that were never measured are not in it. `.earlier`: runs that a newer, smaller one has not
    replaced as a whole."""
    found = {}
    for letter in letters:
        path = os.path.join(base, FOLDER, f"{letter}{which}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as text:
                found[letter] = json.load(text)
    return found
