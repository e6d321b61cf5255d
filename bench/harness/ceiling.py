# SPDX-License-Identifier: Apache-2.0
"""What the server can do with Holdfast's own scripts, asked for in the cheapest way: the ceiling of scenario a.

Few connections, and in each of them many pairs of acquire and release under way at once, on a lock of the connection's
own. The bytes to send are made once; of the replies only the length is looked at, which is always the same."""

import os
import selectors
import time
import uuid

import resp

CONNECTIONS = 4
PAIRS_AT_ONCE = 64  # by each connection; more measured no more
LEASE_MS = 30000
SCRIPTS = os.path.join("src", "kinds", "lua")
INCLUDE = "--@include "


def code(root, name):
    """A script with its includes in it, as cmake/HoldfastScripts.cmake makes it."""
    with open(os.path.join(root, SCRIPTS, f"{name}.lua"), encoding="utf-8") as script:
        return "".join(code(root, line.strip().removeprefix(INCLUDE)) if line.strip().startswith(INCLUDE) else line
                       for line in script)


def load(connection, root, name):
    return connection.call("SCRIPT", "LOAD", code(root, f"lock/{name}"))


def pair(acquire, release, key, owner):
    """The bytes of one pair, with the arguments that src/kinds/lock.cpp gives."""
    channel = f"redisson_lock__channel:{{{key}}}"
    return (resp.encode("EVALSHA", acquire, 1, key, LEASE_MS, owner) +
            resp.encode("EVALSHA", release, 1, key, owner, channel))


def reply_bytes(connection, acquire, release):
    """How long the replies to a pair are, of one that was looked at: so what is counted below is known to be pairs."""
    connection.socket.sendall(pair(acquire, release, "ceiling:check", f"{uuid.uuid4()}:1"))
    granted, released = connection.read(), connection.read()
    if granted is not None or not isinstance(released, int):
        raise SystemExit("bench: Holdfast's scripts do not answer as the ceiling expects; see harness/ceiling.py")
    return len(b"$-1\r\n") + len(b":%d\r\n" % released)


def measure(server, root, seconds):
    """Pairs per second, in the form of a driver's answer to `pairs`."""
    acquire, release = (load(server.connection, root, name) for name in ("acquire", "release"))
    whole = PAIRS_AT_ONCE * reply_bytes(server.connection, acquire, release)
    selector = selectors.DefaultSelector()
    connections = [resp.Connection(server.port) for _ in range(CONNECTIONS)]
    try:
        for i, connection in enumerate(connections):
            batch = pair(acquire, release, f"ceiling:{i}", f"{uuid.uuid4()}:1") * PAIRS_AT_ONCE
            selector.register(connection.socket, selectors.EVENT_READ, [batch, 0])
        cpu, start = time.process_time(), time.monotonic()
        pairs = pump(selector, whole, start + seconds)
        took, cpu = time.monotonic() - start, time.process_time() - cpu
    finally:
        selector.close()
        for connection in connections:
            connection.close()
    return {"pairs": pairs, "seconds": round(took, 4), "cpu_us": round(1e6 * cpu)}


def pump(selector, whole, end):
    """Sends each connection's batch again whenever so many bytes have answered it. All pairs until the end."""
    pairs = 0
    waiting = list(selector.get_map().values())
    for entry in waiting:
        entry.fileobj.sendall(entry.data[0])
    under_way = len(waiting)
    while under_way:
        for entry, _ in selector.select():
            entry.data[1] += len(entry.fileobj.recv(1 << 16))
            if entry.data[1] < whole:
                continue
            entry.data[1] = 0
            pairs += PAIRS_AT_ONCE
            if time.monotonic() < end:
                entry.fileobj.sendall(entry.data[0])
            else:
                under_way -= 1
    return pairs
