# SPDX-License-Identifier: Apache-2.0
"""Markdown: numbers and tables. Pure."""

from stats import Spread

NOTHING = "–"


def number(value):
    """Three digits that mean something, thousands apart."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    size = abs(value)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    rounded = round(value, decimals) if size < 1000 else round(value, 3 - len(str(int(size))))
    return f"{rounded:,.{decimals}f}"


def spread(value):
    """The median, and the lowest and the highest round if there were several."""
    if not isinstance(value, Spread):
        return number(value)
    if value.low == value.high:
        return number(value.median)
    return f"{number(value.median)} ({number(value.low)}–{number(value.high)})"


def table(head, rows):
    """The first column is text; the others are numbers, and stand to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return [f"| {' | '.join(str(cell) for cell in line)} |" for line in lines]


def replace_between(text, mark, lines):
    """The text with these lines between `<!-- mark -->` and `<!-- /mark -->`; None if it has no such place."""
    start, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    if start not in text or end not in text.split(start, 1)[1]:
        return None
    before, rest = text.split(start, 1)
    after = rest.split(end, 1)[1]
    return "\n".join([before + start, *lines, end + after])
