# SPDX-License-Identifier: Apache-2.0
"""A private Redis (or Valkey) server on a free loopback port, without persistence, and what it says of itself."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

import resp

PROGRAMS = ("redis-server", "valkey-server")
START_S = 20
BUS = 10000  # a cluster's nodes talk to each other on ports that are higher by this
OWN_COMMANDS = ("info", "config|resetstat")  # the harness's, left out of what the server counted


def program():
    """The server to measure against; HOLDFAST_REDIS_SERVER names another one, as for the tests."""
    wanted = os.environ.get("HOLDFAST_REDIS_SERVER")
    for name in (wanted,) if wanted else PROGRAMS:
        if shutil.which(name):
            return name
    raise SystemExit(f"bench: none of these is installed: {wanted or ', '.join(PROGRAMS)}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, *settings):
        """More of the command line: "--cluster-enabled", "yes"."""
        self.settings = settings

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="holdfast-bench-")
        self.port = free_port()
        while "--cluster-enabled" in self.settings and self.port + BUS > 65535:
            self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [program(), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
             "--maxclients", "50000", "--dir", self.folder, *self.settings],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            self.connection = self.connect()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.stop()

    def connect(self):
        give_up = time.monotonic() + START_S
        while True:
            try:
                connection = resp.Connection(self.port)
                connection.call("PING")
                return connection
            except (OSError, resp.ServerError):
                if self.process.poll() is not None or time.monotonic() > give_up:
                    raise SystemExit(f"bench: {program()} does not start") from None
                time.sleep(0.01)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def info(self, section):
        text = self.connection.call("INFO", section).decode()
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def version(self):
        about = self.info("server")
        if "valkey_version" in about:
            return f"Valkey {about['valkey_version']}"
        return f"Redis {about['redis_version']}"

    def cpu_us(self):
        cpu = self.info("cpu")
        return round(1e6 * (float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])))

    def memory_bytes(self):
        return int(self.info("memory")["used_memory"])

    def reset_counts(self):
        self.connection.call("CONFIG", "RESETSTAT")

    def counts(self):
        """How often each command ran since the reset, by its name; those that scripts called count as well."""
        found = {}
        for name, fields in self.info("commandstats").items():
            calls = int(fields.split(",", 1)[0].removeprefix("calls="))
            name = name.removeprefix("cmdstat_")
            if calls and name not in OWN_COMMANDS:
                found[name] = calls
        return found
