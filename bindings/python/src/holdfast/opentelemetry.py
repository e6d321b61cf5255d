# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import"
"""What clients have counted, for OpenTelemetry:

    from opentelemetry.metrics import get_meter
    from holdfast.opentelemetry import observe

    observe(get_meter("holdfast"), client)                       # one client of the process, of holdfast or holdfast.aio
    observe(get_meter("holdfast"), orders=client, jobs=other)    # several: each has an attribute, client="orders"

The instruments are those of C++: docs/operations.md of the project has their names. Nothing is sent to a server.
"""

from __future__ import annotations

import functools
import math
import re
import threading
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Optional

from ._base import BaseClient, named
from ._errors import HoldfastError

try:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation
except ImportError as problem:
    raise ImportError("holdfast.opentelemetry needs OpenTelemetry: pip install opentelemetry-api", name="opentelemetry") from problem

__all__ = ["observe"]

_SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_PARTS = {"_bucket": ".bucket", "_count": ".count", "_sum": ".sum"}  # of a histogram: there is no observable one


class _Series(NamedTuple):
    name: str
    counts: bool
    help: str
    unit: str
    value: float
    labels: dict[str, str]


def _read(text: str) -> Iterator[_Series]:
    """From OpenMetrics, as the library writes it."""
    family = kind = about = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, family, about = line.split(" ", 3)
        elif line.startswith("# TYPE "):
            kind = line.rpartition(" ")[2]
        found = _SAMPLE.fullmatch(line)
        if found is None:
            continue
        part = _PARTS.get(found[1][len(family):], "")
        seconds = family.endswith("_seconds")
        name = (family[:-len("_seconds")] if seconds else family).replace("_", ".", 1) + part
        labels = {label: re.sub(r"\\(.)", lambda escaped: "\n" if escaped[1] == "n" else escaped[1], value)
                  for label, value in _LABEL.findall(found[2] or "")}
        if part == ".bucket":
            labels["le"] = labels["le"].removesuffix(".0")
        yield _Series(name, kind in ("counter", "histogram"), about, "s" if seconds and part in ("", ".sum") else "",
                      float(found[3]), labels)


class _Snapshots:
    """One for all instruments of a collection: the first that asks again begins the next one."""

    def __init__(self, clients: dict[str, BaseClient]) -> None:
        self._clients = clients
        self._mutex = threading.Lock()
        self.latest = self._taken()
        self._told = {each.name for each in self.latest}

    def _taken(self) -> list[_Series]:
        return [each._replace(labels={"client": name, **each.labels}) if name else each
                for name, client in self._clients.items() for each in _read(client.metrics())]

    def tell(self, name: str, _: CallbackOptions) -> Iterable[Observation]:
        with self._mutex:
            if name in self._told:
                self._told.clear()
                self.latest = []
                try:
                    self.latest = self._taken()
                except HoldfastError:
                    pass  # in a child of fork(): no values
            self._told.add(name)
            return [Observation(each.value, each.labels) for each in self.latest if each.name == name and math.isfinite(each.value)]


def observe(meter: Meter, client: Optional[BaseClient] = None, /, **clients: BaseClient) -> None:
    """Of one client, or of several that are named by keywords; once, since a meter keeps its instruments, and so the clients."""
    snapshots = _Snapshots(named(client, clients))
    for each in {each.name: each for each in snapshots.latest}.values():
        create = meter.create_observable_counter if each.counts else meter.create_observable_gauge
        create(each.name, [functools.partial(snapshots.tell, each.name)], each.unit, each.help)
