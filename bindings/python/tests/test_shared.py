# SPDX-License-Identifier: Apache-2.0
"""Locks that are shared with others: the tool, which is C++, and redis-py's own."""

import os
import subprocess

import pytest

import holdfast
from conftest import SOON, until

TOOL = os.environ.get("HOLDFAST_TOOL")


@pytest.mark.skipif(TOOL is None, reason="HOLDFAST_TOOL does not say where the tool is")
@pytest.mark.parametrize("kind", ["lock", "fair", "fenced", "simple"])
def test_with_the_tool(server, kind):
    client = holdfast.connect(server.url)
    lock = client.lock("orders") if kind == "lock" else getattr(client, f"{kind}_lock")("orders")
    run = [TOOL, "run", "--url", server.url, "--kind", kind]
    with lock:
        assert subprocess.run([*run, "-n", "orders", "--", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0
        waiting = subprocess.Popen([*run, "orders", "--", "sh", "-c", "echo in; read x"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        if kind != "simple":
            until(lambda: server("PUBSUB", "CHANNELS") != "")
        assert waiting.poll() is None
    assert waiting.stdout.readline() == "in\n", "it was told"
    assert lock.acquire(timeout=0.05) is None
    with pytest.raises(holdfast.NotAcquired):
        lock.hold(timeout=0)
    waiting.communicate("\n", timeout=SOON)
    assert waiting.returncode == 0
    assert lock.acquire(timeout=SOON) is not None
    client.close()


def test_with_redis_py(server):
    redis = pytest.importorskip("redis")
    theirs = redis.Redis(unix_socket_path=server.socket)
    client = holdfast.connect(server.url)
    lock = client.simple_lock("orders")
    with theirs.lock("orders", timeout=60):
        assert lock.acquire(timeout=0.05) is None
    with lock:
        assert not theirs.lock("orders", timeout=60).acquire(blocking=False)
    assert theirs.lock("orders", timeout=60).acquire(blocking=False)
    client.close()
