# SPDX-License-Identifier: Apache-2.0
"""What clients ask of a cluster about its map while a primary is killed and replaced: a table on stdout.

Usage: storm.py DRIVERS [CLIENTS]    bench/run or the drivers' build scripts make DRIVERS

The clients of one process each keep locks on all primaries and repeat take and release. Then a primary gets SIGKILL.
Counted is what the nodes say of CLUSTER commands (INFO commandstats)."""

import os
import re
import sys
import tempfile
import time

import resp
from cluster import Cluster
from driver import Driver, DriverFailed
from table import number, table

NODE_TIMEOUT_MS = 5000
REST_S = 10
BEYOND_S = 10
LIMIT_S = 60
EVERY_S = 0.25
LOCKS_EACH = 24  # of one client: a third of them on each primary, more or less
PAUSE_US = 20_000
CONTESTANTS = ("holdfast", "redisson-3", "redisson-4")


class Watch:
    """How often each node was asked about the cluster, and how many connections were made to it, as time goes on."""

    def __init__(self, nodes):
        self.nodes = list(nodes)
        self.seen = []  # (time, CLUSTER commands, connections) since the beginning
        self.base = {node: counts(node) for node in self.nodes}
        self.gone = (0, 0)  # what was counted at a node that is no more

    def look(self):
        asked, made = self.gone
        for node in self.nodes:
            now = counts(node)
            asked, made = asked + now[0] - self.base[node][0], made + now[1] - self.base[node][1]
        self.seen.append((time.monotonic(), asked, made))

    def until(self, done):
        """Looks again and again until `done` returns true."""
        while not done():
            self.look()
            time.sleep(EVERY_S)
        self.look()

    def forget(self, node):
        """It is about to be killed."""
        now = counts(node)
        self.gone = self.gone[0] + now[0] - self.base[node][0], self.gone[1] + now[1] - self.base[node][1]
        self.nodes.remove(node)

    def between(self, start, end):
        """CLUSTER commands and connections per second, and the most CLUSTER commands in any second."""
        inside = [entry for entry in self.seen if start <= entry[0] <= end]
        length = inside[-1][0] - inside[0][0]
        worst = max(max(later[1] for later in inside if later[0] <= entry[0] + 1) - entry[1] for entry in inside)
        return (inside[-1][1] - inside[0][1]) / length, (inside[-1][2] - inside[0][2]) / length, worst


def counts(node):
    """CLUSTER commands and connections so far."""
    asked = 0
    for name, fields in node.info("commandstats").items():
        if name == "cmdstat_cluster" or name.startswith("cmdstat_cluster|"):
            asked += int(fields.split(",", 1)[0].removeprefix("calls="))
    return asked, int(node.info("stats")["total_connections_received"])


def storm(cluster, driver, clients):
    """The row of one contestant."""
    driver.wait_ready()
    driver.ask(f"hold count={clients * LOCKS_EACH} keys=held")
    load_s = REST_S + LIMIT_S
    driver.tell(f"pairs threads={clients} seconds={load_s} keys=pair pause_us={PAUSE_US}")
    time.sleep(3)  # the first pairs connect
    watch = Watch(cluster.nodes)
    start = time.monotonic()
    watch.until(lambda: time.monotonic() > start + REST_S)
    victim, heir = cluster.primaries[0], cluster.replicas[0][0]
    watch.forget(victim)
    killed = time.monotonic()
    victim.process.kill()
    watch.until(lambda: promoted(heir) or time.monotonic() > killed + LIMIT_S)
    through = time.monotonic()
    watch.until(lambda: time.monotonic() > through + BEYOND_S)
    end = time.monotonic()
    try:
        answer = driver.answer(LIMIT_S + load_s)
        failed = "0" if answer["pairs"] else "all"
    except DriverFailed as problem:
        failed = f"some: {(re.findall(r'[A-Z][A-Za-z]+Exception', str(problem)) or [problem])[0]}"
    row = [f"{through - killed:.1f} s"]
    for first, last in ((start, killed), (killed, through), (through, end)):
        asked, made, worst = watch.between(first, last)
        row += [number(asked / clients), number(worst / clients), number(made / clients)]
    return [*row, failed]


def promoted(node):
    try:
        return node.info("replication")["role"] == "master"
    except (OSError, resp.ServerError):
        return False


def main():
    drivers = sys.argv[1]
    clients = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    rows = []
    for name in CONTESTANTS:
        folder = os.path.join(drivers, name)
        if not os.access(os.path.join(folder, "run"), os.X_OK):
            print(f"storm: no {name} in {drivers}", file=sys.stderr)
            continue
        with open(os.path.join(folder, "version"), encoding="utf-8") as text:
            title = text.readline().strip().capitalize()
        with Cluster(3, 1, NODE_TIMEOUT_MS) as cluster, tempfile.TemporaryDirectory() as logs:
            driver = Driver(folder, cluster.url, {"clients": clients}, os.path.join(logs, "log"))
            try:
                rows.append([title, *storm(cluster, driver, clients)])
            finally:
                driver.end()
    head = ["", "failover took"]
    for phase in ("at rest", "until the failover", "10 s beyond"):
        head += [f"{phase}: CLUSTER commands/s and client", "most in one second", "connections/s and client"]
    print("\n".join(table([*head, "pairs that failed"], rows)))


if __name__ == "__main__":
    main()
