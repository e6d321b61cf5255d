# SPDX-License-Identifier: Apache-2.0
"""What clients have counted, for prometheus_client:

    from prometheus_client import REGISTRY
    from holdfast.prometheus import Collector

    REGISTRY.register(Collector(client))                       # one client of the process, of holdfast or holdfast.aio
    REGISTRY.register(Collector(orders=client, jobs=other))    # several: each has a label, client="orders"

docs/operations.md of the project says what each metric means. Nothing is sent to a server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Optional

from ._base import BaseClient, named

try:
    from prometheus_client.core import Metric
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    from prometheus_client.registry import Collector as _Base
except ImportError as problem:
    raise ImportError("holdfast.prometheus needs prometheus_client: pip install prometheus_client, "
                      "or Debian's python3-prometheus-client", name="prometheus_client") from problem

__all__ = ["Collector"]


class Collector(_Base):
    """Of one client, or of several that are named by keywords."""

    def __init__(self, client: Optional[BaseClient] = None, /, **clients: BaseClient) -> None:
        self._clients = named(client, clients)

    def collect(self) -> Iterable[Metric]:
        parse: Callable[[str], Iterable[Metric]] = text_string_to_metric_families
        families: dict[str, Metric] = {}
        for name, client in self._clients.items():
            for family in parse(client.metrics()):
                known = families.setdefault(family.name, family)
                samples = [each._replace(labels={"client": name, **each.labels}) if name else each for each in family.samples]
                known.samples = samples if known is family else known.samples + samples
        return list(families.values())
