# SPDX-License-Identifier: Apache-2.0
"""A connection that speaks Redis's protocol (RESP2): just enough for the harness's own questions to a server."""

import socket


class ServerError(Exception):
    """The server answered with an error."""


def encode(*parts):
    """The bytes of one command."""
    out = [b"*%d\r\n" % len(parts)]
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode()
        out.append(b"$%d\r\n%s\r\n" % (len(raw), raw))
    return b"".join(out)


class Connection:
    def __init__(self, port, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stream.close()
        self.socket.close()

    def call(self, *parts):
        self.socket.sendall(encode(*parts))
        return self.read()

    def pipeline(self, commands):
        """Sends all the commands at once; returns their replies."""
        self.socket.sendall(b"".join(encode(*command) for command in commands))
        return [self.read() for _ in commands]

    def read(self):
        line = self.stream.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        if kind == b"-":
            raise ServerError(rest.decode())
        size = int(rest)
        if size < 0:
            return None
        if kind == b"$":
            return self.stream.read(size + 2)[:-2]
        return [self.read() for _ in range(size)]
