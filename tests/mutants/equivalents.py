# SPDX-License-Identifier: Apache-2.0
"""Mutants that nobody chose and nobody can see, of equivalents.list, which says why."""
import dataclasses
from pathlib import Path

FILE = Path(__file__).with_suffix(".list")


@dataclasses.dataclass(frozen=True)
class Equivalent:
    file: str
    what: str
    lines: tuple  # of the source, without spaces around them; the mutant is in the last
    why: str

    def is_it(self, mutant, source):
        """source: the lines of its file"""
        lines = tuple(line.strip() for line in source[max(mutant.line - len(self.lines), 0):mutant.line])
        return (self.file, self.what, self.lines) == (mutant.file, mutant.what, lines)


def read(text):
    """A paragraph for each line: `FILE: WHAT | WHAT...`, a line of the source or some of them behind `| `, and the reason."""
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        file, whats = lines[0].split(": ", 1)
        source = tuple(line[2:].strip() for line in lines[1:] if line.startswith("| "))
        why = " ".join(line for line in lines[1:] if not line.startswith("| "))
        if not source or not why:
            raise ValueError(f"{FILE.name}: {lines[0]}: needs a line of the source, and a reason")
        for what in whats.split(" | "):
            yield Equivalent(file, what, source, why)


def among(mutants, root, text=None):
    """{number: Equivalent} of numbered mutants, and those of the list that are of none of them though their file has some."""
    listed = list(read(FILE.read_text() if text is None else text))
    sources = {file: (root / file).read_text().splitlines() for file in {mutant.file for mutant in mutants.values()}}
    found = {number: each for number, mutant in mutants.items() for each in listed if each.is_it(mutant, sources[mutant.file])}
    return found, [each for each in listed if each.file in sources and each not in found.values()]
