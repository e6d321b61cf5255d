# SPDX-License-Identifier: Apache-2.0
"""For pytest: `holdfast_kit` is a server of the test's own, which fails when it is told to: redis-server, or valkey-server,
from PATH, empty, on a unix socket. Imports nothing of holdfast, since pytest imports this in every run."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from typing import Optional

import pytest

_TAKE = """local simple = redis.call('type', KEYS[1]).ok == 'string'; redis.call('del', KEYS[1])
if simple then return redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2]) end
return redis.call('hset', KEYS[1], ARGV[1], 1) and redis.call('pexpire', KEYS[1], ARGV[2])"""


class Kit:
    """Each fault has taken effect at the server when its call returns; clients react after that."""

    def __init__(self) -> None:
        program = os.environ.get("HOLDFAST_REDIS_SERVER") or shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            pytest.fail("holdfast_kit needs redis-server or valkey-server on PATH", pytrace=False)
        self._folder = tempfile.mkdtemp(prefix="holdfast-kit-")
        self.socket = os.path.join(self._folder, "s")
        self.url = f"unix://{self.socket}?lease=1s"  #: for connect(); a lost hold is noticed within a third of its lease
        words = ["--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self._folder]
        self._process = subprocess.Popen([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._stopped_by: set[object] = set()
        self._thaw = threading.Timer(0, self.thaw)
        self._lock, self._late = threading.Lock(), threading.Event()
        if not any(b"eady to accept connections" in line for line in self._process.stdout or ()):
            self.close()
            pytest.fail(f"holdfast_kit: {program} does not start", pytrace=False)

    def _command(self, *words: str) -> str:
        assert "freeze" not in self._stopped_by, "the server is frozen: thaw() it first"
        with socket.socket(socket.AF_UNIX) as link, link.makefile("rb") as replies:
            link.connect(self.socket)
            texts = [os.fsencode(word) for word in words]  # a name may have any bytes
            link.sendall(b"*%d\r\n" % len(texts) + b"".join(b"$%d\r\n%s\r\n" % (len(text), text) for text in texts))
            reply = replies.readline().decode().strip()
        assert not reply.startswith("-"), reply
        return reply

    def is_locked(self, name: str) -> bool:
        """Whether the server has this lock, whoever holds it."""
        return self._command("EXISTS", name) == ":1"

    def lose(self, name: str) -> None:
        """The server forgets this lock, as in a restart or a failover: it is free, and no message says so."""
        self._command("DEL", name)

    def take_elsewhere(self, name: str, lease: float = 30.0) -> None:
        """The same, and somebody else has it, who never renews: a simple_lock if it was one, else a lock, fenced or fair."""
        self._command("EVAL", _TAKE, "1", name, "00000000-0000-4000-8000-000000000000:1", str(round(lease * 1000)))

    def cut(self) -> None:
        """Closes all connections; clients connect again."""
        self._command("CLIENT", "KILL", "TYPE", "normal")
        self._command("CLIENT", "KILL", "TYPE", "pubsub")

    def freeze(self, seconds: Optional[float] = None) -> None:
        """The server answers nothing until thaw(), or for that long; leases run on."""
        self._thaw.cancel()
        self._stop("freeze", True)
        if seconds is not None:
            self._thaw = threading.Timer(seconds, self.thaw)
            self._thaw.start()

    def thaw(self) -> None:
        """The server goes on, with all that was sent to it meanwhile."""
        self._stop("freeze", False)

    def answer_late(self, seconds: float = 0.1) -> None:
        """From now on it answers but once in that time, for a moment; 0 ends that."""
        self._late.set()
        self._late = over = threading.Event()
        if seconds > 0:
            self._stop(over, True)
            threading.Thread(target=self._be_late, args=(over, seconds), daemon=True).start()

    def _be_late(self, over: threading.Event, seconds: float) -> None:
        while not over.wait(seconds):
            self._stop(over, False)
            over.wait(0.002)
            self._stop(over, True)
        self._stop(over, False)

    def _stop(self, why: object, stops: bool) -> None:
        """It stands still as long as anything wants it to."""
        with self._lock:
            stood = bool(self._stopped_by)
            (self._stopped_by.add if stops else self._stopped_by.discard)(why)
            if stood != bool(self._stopped_by) and self._process.poll() is None:
                self._process.send_signal(signal.SIGCONT if stood else signal.SIGSTOP)
                if not stood:
                    os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def close(self) -> None:
        self._thaw.cancel()
        self._late.set()
        with self._lock:
            self._process.kill()
            self._process.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)


@pytest.fixture
def holdfast_kit() -> Iterator[Kit]:
    """A Redis server that fails when it is told to: lose(), take_elsewhere(), freeze(), answer_late(), cut()."""
    kit = Kit()
    yield kit
    kit.close()
