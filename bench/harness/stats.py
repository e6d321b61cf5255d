# SPDX-License-Identifier: Apache-2.0
"""The little arithmetic behind the tables."""

import statistics
from typing import NamedTuple


class Spread(NamedTuple):
    """What several rounds measured: the middle one, the lowest and the highest."""

    median: float
    low: float
    high: float


def spread(values):
    """None where no round measured it."""
    known = [value for value in values if value is not None]
    return Spread(statistics.median(known), min(known), max(known)) if known else None


def percentile(values, share):
    """The smallest of the values that at least this share of them does not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * share // 1)  # rounded up
    return ordered[max(0, min(len(ordered), int(rank)) - 1)]


def ratio(part, whole):
    return part / whole if part is not None and whole else None


def displacement(asked, entered, first):
    """How many places from where it stood in the order of asking each caller entered, on average; without the `first` that
    asked."""
    rest = sorted(zip(asked, entered, strict=True))[first:]
    by_entry = sorted(range(len(rest)), key=lambda place: rest[place][1])
    return ratio(sum(abs(at - place) for at, place in enumerate(by_entry)), len(rest))


def least_share(served):
    """What the least served got of what would be its fair share: 1.0 is fair."""
    total = sum(served)
    return min(served) * len(served) / total if total else None
