# SPDX-License-Identifier: Apache-2.0
"""The mutants of the Lua scripts: like those of instrument.py, but each is a text of its own, since a server runs it."""
import dataclasses
import functools
import hashlib
import re
import subprocess
from pathlib import Path

import planted

ROOT = Path(__file__).resolve().parents[2]
LUA = ROOT / "src/kinds/lua"
CHANGES = {"==": "~=", "~=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "and": "or", "or": "and", "true": "false",
           "false": "true", "+": "-", "-": "+"}
# Strings and comments are passed over.
TOKEN = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|--[^\n]*|\.\.|[<>=~]=|[A-Za-z_]\w*|\d+|[-+<>]""")
STATEMENT = re.compile(r"^ *(redis\.p?call\(.*\)|(?!local )\w[\w.\[\], ]* = .*)$", re.M)
CONDITION = re.compile(r"\b(if|elseif) (.+?) then$", re.M)


@dataclasses.dataclass
class Mutant(planted.Place):
    scripts: dict  # of each script that it is in, the text; those of the form for one key are named with FORM behind


FORM = ":first_key"


def text_of(name, changed=None):
    """As the server gets it (cmake/HoldfastScripts.cmake), if these files (name: text) were others."""
    changed = changed or {}
    text = "\n" + (changed.get(name) or (LUA / f"{name}.lua").read_text())
    while included := re.search(r"\n( *)--@include ([a-z_/]+)\n", text):
        part = "\n" + text_of(included[2], changed)
        part = re.sub(r"\n([^\n])", rf"\n{included[1]}\1", part)
        text = text.replace(included[0], part)
    text = re.sub(r"\n--[^\n]*", "", text)
    return text.lstrip("\n")


def names():
    every = sorted(path.relative_to(LUA).with_suffix("").as_posix() for path in LUA.rglob("*.lua"))
    return [name for name in every if not name.startswith("shared/")]


def all_texts(changed=None):
    texts = {}
    for name in names():
        texts[name] = text_of(name, changed)
        if "KEYS" in texts[name].replace("KEYS[1]", ""):
            texts[name + FORM] = text_of("shared/first_key", changed) + texts[name]
    return texts


def sha1(text):
    return hashlib.sha1(text.encode()).hexdigest()


def changes_of(text):
    """(where, what, the whole text changed)."""
    comments = [match.span() for match in re.finditer(r"^--[^\n]*", text, re.M)]
    for match in TOKEN.finditer(text):
        word = match[0]
        if any(begin <= match.start() < end for begin, end in comments):
            continue
        new = CHANGES.get(word) or (str(int(word) + 1) if word.isdigit() else None)
        if word == "-" and re.search(r"[=(,]\s*$|\breturn\s*$", text[:match.start()]):
            new = ""  # a sign
        if word == "not":
            new = ""
        if new is not None and text[match.start() - 1] != "[":
            yield match.start(), f"{word} is {new or 'left out'}", text[:match.start()] + new + text[match.end():]
    for match in STATEMENT.finditer(text):
        yield match.start(1), f"left out: {match[1][:60]}", text[:match.start(1)] + text[match.end(1):]
    for match in CONDITION.finditer(text):
        if not re.search(r" (and|or) ", match[2]) and re.search(r"[<>=~]=| [<>] |^not ", match[2]):
            continue  # that is one of the above
        yield match.start(2), f"negated: {match[2][:60]}", text[:match.start(2)] + f"not ({match[2]})" + text[match.end(2):]


def is_lua(text):
    return subprocess.run(["luac5.1", "-p", "-"], input=text, text=True, capture_output=True, check=False).returncode == 0


def find():
    found = []
    plain = all_texts()
    for path in sorted(LUA.rglob("*.lua")):
        name = path.relative_to(LUA).with_suffix("").as_posix()
        text = path.read_text()
        for begin, what, changed in changes_of(text):
            texts = {script: code for script, code in all_texts({name: changed}).items() if code != plain[script]}
            if texts and all(is_lua(code) for code in texts.values()):
                found.append(Mutant(path.relative_to(ROOT).as_posix(), text.count("\n", 0, begin) + 1, what, begin, texts))
    return found


@functools.cache
def sha1_of(script):
    """As it is."""
    return sha1(all_texts()[script])


def in_the_environment(mutant, file):
    """The file that switch.hpp reads."""
    parts = [f"{name}\n{sha1(code)}\n{len(code.encode())}\n{code}\n" for name, code in mutant.scripts.items()]
    file.write_text("".join(parts))
    return {"MUTANT_SCRIPTS": str(file)}


def sources_that_ask():
    """path: text of the files that are others in the copy of the tree."""
    cmake = ROOT / "cmake/HoldfastScripts.cmake"
    text = cmake.read_text()
    for symbol, name in (("form", "${name}" + FORM), ("text", "${name}")):
        sha = "form_sha" if symbol == "form" else "sha"
        text = text.replace(f'R\\"lua(${{{symbol}}})lua\\", \\"${{{sha}}}\\"',
                            f'mutant::text(\\"{name}\\", R\\"lua(${{{symbol}}})lua\\"), '
                            f'mutant::sha(\\"{name}\\", \\"${{{sha}}}\\")')
    call = ROOT / "tests/scripts/script_call.hpp"
    sent = "  if (command.script != nullptr) {\n"
    before, after = call.read_text().split(sent)
    used = before + sent + "    mutant::used(command.script->sha1);\n" + after
    return {"cmake/HoldfastScripts.cmake": text, "tests/scripts/script_call.hpp": used}
