# SPDX-License-Identifier: Apache-2.0
"""Planted bugs: what one says of itself, and where in the sources it goes.

A bug is an entry in tests/mutants/*.txt:

    # name
    Breaks: what it breaks, a sentence
    Promise: where that is promised
    Caught-by: suite.filter of GoogleTest
    find:
      code
    put:
      what stands there instead

`find:` and `put:` may be repeated; the lines below each are indented. The code is looked for in all sources, whatever its
file is called and however it is broken into lines, and must be there once."""
import dataclasses
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("src", "include", "completions", "tests/sim")
FIELDS = ("Breaks", "Promise", "Caught-by")
TOKEN = re.compile(r"\w+|[^\w\s]")
BETWEEN = "\0"  # in no source


@dataclasses.dataclass
class Place:
    """Of a mutant that nobody chose (instrument.py, lua.py)."""

    file: str
    line: int
    what: str
    begin: int


class OutOfDate(Exception):
    """What a bug is looked for by is not in the sources, or more than once."""


def as_tokens(text):
    return BETWEEN + "".join(each + BETWEEN for each in TOKEN.findall(text))


class Sources:
    """The text of all sources of a tree. A change is written to the tree, and forgotten here when it is restored."""

    def __init__(self, tree=ROOT):
        self.tree = tree
        files = [path for top in SOURCES for path in sorted((tree / top).rglob("*")) if path.is_file()]
        self.texts = {path.relative_to(tree).as_posix(): path.read_text() for path in files}
        self.tokens = {path: as_tokens(text) for path, text in self.texts.items()}

    def find(self, code):
        """The file, and from where to where in it. Raises OutOfDate."""
        wanted = as_tokens(code)
        found = []
        for path, tokens in self.tokens.items():
            at = tokens.find(wanted)
            while at >= 0:
                found.append((path, tokens.count(BETWEEN, 0, at)))
                at = tokens.find(wanted, at + 1)
        if len(found) != 1:
            first = code.strip().splitlines()[0].strip()
            raise OutOfDate(f"what it looks for is in the sources {len(found)} times: {first}")
        path, number = found[0]
        spans = [match.span() for match in TOKEN.finditer(self.texts[path])]
        return path, spans[number][0], spans[number + wanted.count(BETWEEN) - 2][1]


class Bug:
    def __init__(self, name, text, where):
        self.name, self.text = name, text
        head, *rest = re.split(r"^find:\n", text, flags=re.M)
        fields = dict(re.findall(r"^([A-Z][a-z-]+): (.+(?:\n .+)*)", head, re.M))
        missing = [each for each in FIELDS if each not in fields]
        if missing or not rest or any(each.count("put:\n") != 1 for each in rest):
            raise SystemExit(f"{where}: {name} does not say {', '.join(missing) or 'what to find and to put'}")
        self.what = " ".join(fields["Breaks"].split())
        self.suite, _, self.tests = "".join(fields["Caught-by"].split()).partition(".")
        self.changes = [tuple(each.partition("put:\n")[::2]) for each in rest]

    def files(self, sources):
        try:
            return sorted({sources.find(find)[0] for find, _ in self.changes})
        except OutOfDate as error:
            raise OutOfDate(f"{self.name}: {error}") from None

    def plant(self, sources):
        """In the tree of these sources. All is looked for in it as it was before."""
        edits = {}
        for find, put in self.changes:
            path, begin, end = sources.find(find)
            edits.setdefault(path, []).append((begin, end, put.strip()))
        for path, of_file in edits.items():
            text = sources.texts[path]
            for begin, end, put in sorted(of_file, reverse=True):
                text = text[:begin] + put + text[end:]
            (sources.tree / path).write_text(text)


def all_bugs(folder=ROOT / "tests" / "mutants"):
    bugs = {}
    for path in sorted(folder.glob("*.txt")):
        for entry in re.split(r"^# ", path.read_text(), flags=re.M)[1:]:
            name, _, text = entry.partition("\n")
            if name in bugs:
                raise SystemExit(f"{path}: there are two bugs named {name}")
            bugs[name] = Bug(name, text, path)
    return bugs
