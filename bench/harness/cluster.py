# SPDX-License-Identifier: Apache-2.0
"""A cluster on free loopback ports: primaries that share the slots evenly, with replicas."""

import contextlib
import time

import resp
from server import Server

SLOTS = 16384
PATIENCE_S = 60


class Cluster:
    def __init__(self, primaries, replicas=0, node_timeout_ms=5000):
        self.sizes = primaries, replicas
        self.settings = ("--cluster-enabled", "yes", "--cluster-node-timeout", str(node_timeout_ms))

    def __enter__(self):
        primaries, replicas = self.sizes
        with contextlib.ExitStack() as stack:
            self.nodes = [stack.enter_context(Server(*self.settings)) for _ in range(primaries * (1 + replicas))]
            self.primaries = self.nodes[:primaries]
            self.replicas = {i: self.nodes[primaries + i * replicas:primaries + (i + 1) * replicas]
                             for i in range(primaries)}
            self.join()
            self.url = "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def join(self):
        first = self.nodes[0]
        for i, node in enumerate(self.nodes):
            node.connection.call("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for i, primary in enumerate(self.primaries):
            slots = range(SLOTS * i // len(self.primaries), SLOTS * (i + 1) // len(self.primaries))
            primary.connection.call("CLUSTER", "ADDSLOTS", *slots)
        for node in self.nodes[1:]:
            node.connection.call("CLUSTER", "MEET", "127.0.0.1", first.port)
        wait_for(lambda: all(self.knows_all(node) for node in self.nodes), "its nodes do not find each other")
        for i, primary in enumerate(self.primaries):
            name = primary.connection.call("CLUSTER", "MYID")
            for replica in self.replicas[i]:
                wait_for(lambda: follow(replica, name), "a replica does not follow")
        wait_for(lambda: all(ready(node) for node in self.nodes), "it does not become ready")
        wait_for(lambda: all(int(primary.info("replication")["connected_slaves"]) == len(self.replicas[i])
                             for i, primary in enumerate(self.primaries)), "a replica is not linked")

    def knows_all(self, node):
        return len(node.connection.call("CLUSTER", "NODES").splitlines()) == len(self.nodes)


def follow(replica, name):
    """True when it has been told; a node that does not know the name yet refuses."""
    try:
        return replica.connection.call("CLUSTER", "REPLICATE", name) == "OK"
    except resp.ServerError:
        return False


def ready(node):
    about = node.connection.call("CLUSTER", "INFO").decode()
    return "cluster_state:ok" in about and f"cluster_slots_ok:{SLOTS}" in about


def wait_for(condition, otherwise):
    give_up = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > give_up:
            raise SystemExit(f"bench: the cluster: {otherwise}")
        time.sleep(0.1)
