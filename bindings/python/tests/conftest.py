# SPDX-License-Identifier: Apache-2.0
import contextlib
import inspect
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

import holdfast
from holdfast import aio

SOON = 30


class Server:
    """A redis-server, or valkey-server, of a test."""

    def __init__(self):
        program = os.environ.get("HOLDFAST_REDIS_SERVER") or shutil.which("redis-server") or "valkey-server"
        self.folder = tempfile.mkdtemp(prefix="hf-py-")
        self.socket = os.path.join(self.folder, "s")
        self.process = subprocess.Popen(
            [program, "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.folder, "--databases", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"unix://{self.socket}"
        until(lambda: os.path.exists(self.socket) and self("PING") == "PONG")

    def __call__(self, *words):
        """What redis-cli says of a command."""
        said = subprocess.run(["redis-cli", "-s", self.socket, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False)
        return said.stdout.strip()

    def open_port(self):
        """One on which it answers, too: for those who cannot use a unix socket."""
        until(lambda: self("CONFIG", "SET", "port", random.randint(20000, 30000)) == "OK")
        return int(self("CONFIG", "GET", "port").split()[1])

    def keys(self):
        return self("KEYS", "*").split()

    def stop(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def program(text, *arguments, **options):
    """A run of Python."""
    return subprocess.run([sys.executable, "-B", "-c", text, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120, check=False, **options)


def until(holds, limit=SOON):
    end = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


async def now(result):
    """What a call returns, on either face."""
    return await result if inspect.isawaitable(result) else result


@contextlib.asynccontextmanager
async def holding(lock):
    """`with` or `async with`."""
    if hasattr(lock, "__aenter__"):
        async with lock as hold:
            yield hold
    else:
        with lock as hold:
            yield hold


@pytest.fixture
def server():
    found = Server()
    yield found
    found.stop()


@pytest.fixture(params=[holdfast, aio], ids=["sync", "aio"])
def face(request):
    return request.param
