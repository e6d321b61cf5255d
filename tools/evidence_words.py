# SPDX-License-Identifier: Apache-2.0
"""Records of evidence in words: sums, numbers, tables, and where they come from. Pure."""
import re
from collections import Counter, defaultdict

NOT_RECORDED = "not recorded"


def total(records, figure):
    return sum(record.get(figure, 0) for record in records)


def kinds(records, figure):
    """The sum of maps from kind to count."""
    whole = Counter()
    for record in records:
        whole.update(record.get(figure, {}))
    return whole


def by(records, figure):
    """Records by the value of a figure, in the order in which the values come first."""
    groups = defaultdict(list)
    for record in records:
        groups[record[figure]].append(record)
    return groups


def latest(records, figure):
    """The last record for each value of a figure."""
    return [group[-1] for _, group in sorted(by(records, figure).items())]


def number(value):
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def duration(seconds):
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def milliseconds(value):
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.3g} ms"


def counted(counts):
    """`this 3, that 1`, the most frequent first."""
    return ", ".join(f"{what} {number(count)}" for what, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def table(head, rows):
    """The first column is text; others whose cells are all numbers stand to the right."""
    def is_number(cell):
        return bool(re.fullmatch(r"[\d,.]+( (s|ms|min|h))?|–", cell))
    rows = [[str(cell) for cell in row] for row in rows]
    right = [i > 0 and all(is_number(row[i]) for row in rows) for i in range(len(head))]
    lines = [head, ["---:" if each else "---" for each in right], *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


# ---- where records come from ----


def is_known(commit):
    return commit not in ("", "unknown")


def commit_of(record):
    return f"`{record['commit']}`" if is_known(record["commit"]) else NOT_RECORDED


def last_commit(records):
    """The commit and day of the last record."""
    last = max(records, key=lambda record: record["at"])
    return f"{commit_of(last)}, {last['at'][:10]}"


def origins(records):
    """A row for each place that records come from: what their runs have named, and nothing else."""
    groups = defaultdict(list)
    for record in records:
        groups[tuple(record.get(each, NOT_RECORDED) for each in ("server", "kernel", "processors"))].append(record)
    rows = []
    for (server, kernel, processors), group in sorted(groups.items(), key=lambda each: min(one["at"] for one in each[1])):
        days = sorted(record["at"][:10] for record in group)
        names = dict.fromkeys(commit_of(record) for record in sorted(group, key=lambda record: record["at"]))
        rows.append([", ".join(names), days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}", server, kernel,
                     processors, number(len(group))])
    return rows


def ran_on(records, with_server=True):
    head = ["commit", "day", "server", "kernel", "processors", "runs"]
    rows = origins(records)
    if not with_server:
        head, rows = [head[i] for i in (0, 1, 3, 4, 5)], [[row[i] for i in (0, 1, 3, 4, 5)] for row in rows]
    return ["Where that ran:", "", *table(head, rows)]
