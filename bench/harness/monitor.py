# SPDX-License-Identifier: Apache-2.0
"""Tells a contestant's own commands from those that its scripts call.

Redis counts both alike. MONITOR shows the difference, but slows the server; so it is used once for each contestant, in
a round that is not measured, and gives for each command the share of calls that came from outside of scripts."""

import threading

import resp

END = b"holdfast-bench-end"


class Monitor:
    """Within the `with`, everything that the server runs is noted."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        self.connection = resp.Connection(self.server.port)
        self.connection.call("MONITOR")
        self.lines = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.connection.call("ECHO", END)
        self.thread.join(30)
        self.connection.close()

    def read(self):
        for line in self.connection.stream:
            if END in line:
                return
            self.lines.append(line)

    def top_level(self):
        return top_level(self.lines)


def top_level(lines):
    """The share of each command's calls that no script made, from the lines of MONITOR."""
    seen = {}
    for line in lines:
        source, _, rest = line.partition(b"] ")
        command = rest.split(b'"', 2)[1].decode().lower() if rest.count(b'"') > 1 else ""
        calls = seen.setdefault(command, [0, 0])
        calls[0] += 1
        calls[1] += not source.endswith(b" lua")
    return {command: round(outside / all_, 4) for command, (all_, outside) in sorted(seen.items()) if command}
