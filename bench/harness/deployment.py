# SPDX-License-Identifier: Apache-2.0
"""A primary, its replicas and three Sentinels, on free loopback ports."""

import contextlib
import os
import subprocess
import time

import resp
from server import START_S, Server, free_port, program

NAME = "main"


class Sentinel:
    """Watches over the server on this port."""

    def __init__(self, primary, folder, down_after_ms):
        self.port = free_port()
        path = os.path.join(folder, f"sentinel-{self.port}.conf")
        with open(path, "w", encoding="utf-8") as config:
            config.write(f"port {self.port}\nbind 127.0.0.1\ndir {folder}\nsentinel monitor {NAME} 127.0.0.1 {primary} 2\n"
                         f"sentinel down-after-milliseconds {NAME} {down_after_ms}\n")
        self.process = subprocess.Popen([program(), path, "--sentinel"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def close(self):
        self.process.terminate()
        self.process.wait()

    def knows(self, replicas):
        """True when it has found so many replicas and the two other Sentinels."""
        try:
            with contextlib.closing(resp.Connection(self.port)) as connection:
                return (len(connection.call("SENTINEL", "REPLICAS", NAME)) == replicas
                        and len(connection.call("SENTINEL", "SENTINELS", NAME)) == 2)
        except (OSError, resp.ServerError):
            return False


class Deployment:
    def __init__(self, replicas, down_after_ms=30_000):
        self.replicas, self.down_after_ms = replicas, down_after_ms

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.primary = stack.enter_context(Server())
            for _ in range(self.replicas):
                self.heir = replica = stack.enter_context(Server())
                replica.connection.call("REPLICAOF", "127.0.0.1", self.primary.port)
            wait_for(lambda: int(self.primary.info("replication")["connected_slaves"]) == self.replicas)
            sentinels = [stack.enter_context(contextlib.closing(Sentinel(self.primary.port, self.primary.folder,
                                                                                  self.down_after_ms)))
                         for _ in range(3)]
            wait_for(lambda: all(each.knows(self.replicas) for each in sentinels))
            addresses = ",".join(f"127.0.0.1:{each.port}" for each in sentinels)
            self.url = f"redis+sentinel://{addresses}/{NAME}"
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def promoted(self):
        """Whether the last replica is a primary. A Sentinel that makes it one ends its connections."""
        try:
            return self.heir.info("replication")["role"] == "master"
        except OSError:
            self.heir.connection = self.heir.connect()
            return False


def wait_for(condition, every_s=0.1):
    give_up = time.monotonic() + 2 * START_S
    while not condition():
        if time.monotonic() > give_up:
            raise SystemExit("bench: the replicas or the Sentinels do not find each other")
        time.sleep(every_s)
