# SPDX-License-Identifier: Apache-2.0
"""The plots of docs/plots, as SVG: dark on white, one colour for each contestant in all of them."""

import io
import math
import os
import re

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot, ticker  # only after the choice above

from contestants import FLOOR, OURS, SCRIPTS_FLOOR, in_order, look
from sections import THIRDS
from summaries import BESIDE, CEILING, PUSH_FLOOR
from table import number

INK = "#212529"
FAINT = "#dee2e6"
LIMIT_INK = "#495057"

pyplot.rcParams.update({
    "svg.fonttype": "none",  # text stays text: small files
    "svg.hashsalt": "holdfast",  # the same figures make the same file
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Arial"], "font.size": 10,
    "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "axes.edgecolor": "#adb5bd",
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left", "axes.titleweight": "bold",
    "axes.titlesize": 11, "axes.axisbelow": True, "figure.facecolor": "white", "savefig.facecolor": "white",
})


def draw_all(folder, found, summary):
    """Draws what there are figures for; the names of what was drawn."""
    os.makedirs(folder, exist_ok=True)
    plots = (("pair_latency", "a", pair_latency), ("pair_throughput", "a", pair_throughput),
             ("hot_lock", "b", hot_lock), ("hand_over", "c", hand_over), ("renewal", "d", renewal))
    drawn = set()
    for name, letter, draw in plots:
        figure = draw(summary[letter]) if letter in found else None
        if figure is not None:
            save(figure, os.path.join(folder, f"{name}.svg"))
            drawn.add(name)
    return drawn


def save(figure, path):
    """As SVG, without what nobody sees: digits beyond a hundredth of a point, comments, the metadata."""
    raw = io.StringIO()
    figure.savefig(raw, format="svg", bbox_inches="tight")
    pyplot.close(figure)
    text = re.sub(r"(\d\.\d\d)\d+", r"\1", raw.getvalue())
    text = re.sub(r"\s*<!--.*?-->|\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def plain(value):
    return number(value) if value >= 100 else f"{value:,.3g}"


def tick(value, _=None):
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    if value >= 1e4:
        return f"{value / 1e3:g} k"
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def dots(axes, values, marks=None, unit="", least=math.inf):
    """On a log scale: a dot for each contestant, the smallest at the top, and a line to its mark (p99), if it has one.
    The axis reaches down to `least`."""
    marks = marks or {}
    names = sorted(values, key=lambda name: -values[name])
    ends = {name: max(values[name], marks.get(name, 0)) for name in names}
    left, right = math.log10(min(least, *values.values())), math.log10(max(ends.values()))
    axes.set_xscale("log")
    axes.set_xlim(10 ** (left - 0.08 * (right - left + 0.2)), 10 ** (right + 0.3 * (right - left + 0.2)))
    for row, name in enumerate(names):
        colour, ours = look(name).colour, name in OURS
        axes.plot([values[name], ends[name]], [row, row], color=colour, linewidth=2.4 if ours else 1.2)
        axes.plot([values[name]], [row], marker="o", color=colour, markersize=9 if ours else 7)
        if name in marks:
            axes.plot([ends[name]], [row], marker="|", color=colour, markersize=9, markeredgewidth=2)
        label_row(axes, row, name, ends[name], quantity([values[name], *([ends[name]] if name in marks else [])], unit))
    finish_rows(axes, names)
    if right - left < 1.5:
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))


def quantity(values, unit):
    """The values with their unit; many microseconds are read more easily as milliseconds."""
    if unit == "µs" and values[0] >= 10_000:
        values, unit = [value / 1000 for value in values], "ms"
    return f"{' / '.join(plain(value) for value in values)} {unit}".rstrip()


def bars(axes, values, unit="", most=0):
    """A bar for each contestant, the shortest at the top, with its value behind it. The axis reaches up to `most`."""
    names = sorted(values, key=lambda name: -values[name])
    colours = [look(name).colour for name in names]
    axes.barh(range(len(names)), [values[name] for name in names], color=colours, height=0.68)
    axes.set_xlim(0, max(1.3 * max(values.values()), 1.1 * most, 1e-3))
    for row, name in enumerate(names):
        label_row(axes, row, name, values[name], quantity([values[name]], unit))
    finish_rows(axes, names)


def label_row(axes, row, name, end, text):
    axes.annotate(text, (end, row), xytext=(8, 0), textcoords="offset points", va="center",
                  fontweight="bold" if name in OURS else "normal")


def finish_rows(axes, names):
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    for label, name in zip(axes.get_yticklabels(), names, strict=True):
        label.set_fontweight("bold" if name in OURS else "normal")
        label.set_color(look(name).colour if name in OURS else INK)
    axes.tick_params(axis="both", which="both", length=0)
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(tick))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.grid(axis="both", color=FAINT, linewidth=0.8)
    axes.spines["left"].set_visible(False)


def height(rows):
    return 0.9 + 0.3 * rows


def medians(summary, pick):
    """{contestant: the median of pick(figures)} for those that have it."""
    found = {}
    for name in in_order(summary):
        value = pick(summary[name])
        value = getattr(value, "median", value)
        if value is not None:
            found[name] = value
    return found


def pair_latency(summary):
    p50 = medians(summary, lambda figures: figures.get(1, {}).get("p50"))
    if not p50:
        return None
    figure, axes = pyplot.subplots(figsize=(8, height(len(p50))))
    dots(axes, p50, medians(summary, lambda figures: figures.get(1, {}).get("p99")), "µs")
    axes.set_title("Take and release of a free lock, one caller: p50 / p99")
    return figure


def pair_throughput(summary):
    lines = {name: sorted((threads, figures["rate"].median) for threads, figures in cases.items() if threads != BESIDE)
             for name, cases in summary.items() if name != CEILING}
    if not lines:
        return None
    figure, axes = pyplot.subplots(figsize=(8, 4.8))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for name in in_order(lines):
        ours = name in OURS
        axes.plot(*zip(*lines[name], strict=True), color=look(name).colour, marker="o", markersize=5 if ours else 3.5,
                  linewidth=2.6 if ours else 1.4, linestyle="--" if name in (FLOOR, SCRIPTS_FLOOR) else "-", zorder=3 if ours else 2)
    ends = {name: line[-1][1] for name, line in lines.items()}
    if CEILING in summary:
        ends[CEILING] = summary[CEILING][None]["rate"].median
        axes.axhline(ends[CEILING], color=LIMIT_INK, linewidth=1, linestyle=":")
    counts = sorted({threads for line in lines.values() for threads, _ in line})
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.set_xlim(counts[0] * 0.9, counts[-1] * 1.08)
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(tick))
    axes.grid(color=FAINT, linewidth=0.8)
    axes.set_xlabel("callers, each with a lock of its own")
    axes.set_title("Pairs of take and release per second")
    label_ends(axes, counts[-1], ends)
    return figure


def label_ends(axes, last, ends):
    """Names to the right of where the lines end, with a thin line to there, since they may not cover each other."""
    low, high = (math.log10(limit) for limit in axes.get_ylim())
    names = sorted(ends, key=ends.get)
    points = axes.get_position().height * axes.figure.get_size_inches()[1] * 72
    heights = apart([(math.log10(ends[name]) - low) / (high - low) for name in names], 13 / points)
    for name, at in zip(names, heights, strict=True):
        colour = LIMIT_INK if name == CEILING else look(name).colour
        axes.annotate("what the server can do" if name == CEILING else name, (last, ends[name]), xytext=(1.05, at),
                      textcoords="axes fraction", va="center", color=colour,
                      fontweight="bold" if name in OURS else "normal", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 2, "shrinkB": 3,
                                  "relpos": (0, 0.5)})


def apart(heights, gap):
    """Rising heights, those that are closer than the gap pushed away from each other until none is."""
    heights = list(heights)
    for _ in range(500):
        for i in range(1, len(heights)):
            push = (gap - (heights[i] - heights[i - 1])) / 2
            if push > 0:
                heights[i - 1] -= push
                heights[i] += push
    return heights


def hot_lock(summary):
    layouts = sorted({layout for cases in summary.values() for layout in cases})
    if not layouts:
        return None
    panels = list(dict.fromkeys([layouts[0], layouts[-1]]))
    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.8 * len(panels), height(len(summary))), squeeze=False,
                                   layout="constrained")
    for panel, (processes, threads) in zip(axes[0], panels, strict=True):
        rates = medians(summary, lambda cases: cases.get((processes, threads), {}).get("rate"))
        dots(panel, {name: rate for name, rate in rates.items() if rate > 0})
        panel.invert_yaxis()
        panel.set_title(f"{processes} process{'es' if processes > 1 else ''} x {threads} callers: sections/s")
    return figure


def hand_over(summary):
    contestants = {name: figures for name, figures in summary.items() if name != PUSH_FLOOR}
    p50 = medians(contestants, lambda figures: figures["p50"])
    if not p50:
        return None
    figure, axes = pyplot.subplots(figsize=(8, height(len(p50))))
    floor = summary[PUSH_FLOOR]["p50"].median if PUSH_FLOOR in summary else math.inf
    dots(axes, p50, medians(contestants, lambda figures: figures["p99"]), "µs", floor)
    if PUSH_FLOOR in summary:
        limit(axes, floor, "one push and one round trip", "left")
    axes.set_title("Hand-over to another process: p50 / p99", pad=20)
    return figure


def limit(axes, value, text, side):
    """A dotted line, with its text above; side: where the text begins or ends at the line."""
    axes.axvline(value, color=LIMIT_INK, linewidth=1.2, linestyle=":")
    axes.annotate(text, (value, 1), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
                  ha=side, fontsize=9, color=LIMIT_INK)


def renewal(summary):
    counts = {count for cases in summary.values() for count in cases}
    shared = [count for count in counts if sum(count in cases for cases in summary.values()) > 1]
    count = max(shared or counts, default=0)
    cost = medians(summary, lambda cases: cases.get(count, {}).get("server_us"))
    late = medians(summary, lambda cases: cases.get(count, {}).get("late_ms"))
    late = {name: ms for name, ms in late.items() if name in THIRDS}
    if not cost or not late:
        return None
    most = max(cases[count]["late_limit_ms"] for name, cases in summary.items() if name in late)
    figure, axes = pyplot.subplots(1, 2, figsize=(9.6, height(max(len(cost), len(late)))), layout="constrained")
    bars(axes[0], cost, "µs")
    axes[0].set_title(f"{count:,} locks held: server CPU of a renewal", pad=20)
    bars(axes[1], late, "ms", most)
    axes[1].set_title("Renewed too late by, at worst", pad=20)
    limit(axes[1], most, "a sixth of the lease", "right")
    return figure
