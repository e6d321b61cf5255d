# SPDX-License-Identifier: Apache-2.0
"""Driver processes, which are told what to do line by line. bench/README.md has the protocol."""

import json
import os
import select
import signal
import subprocess
import time

READY_S = 120
ANSWER_S = 120  # beyond what the command itself is asked to last


class DriverFailed(Exception):
    """The driver said `error`, died, or took too long."""


class Unsupported(Exception):
    """The contestant has no such thing."""


class Driver:
    def __init__(self, folder, url, options, log_path, before=()):
        """`before`: a command that runs it."""
        self.name = os.path.basename(folder)
        self.log_path = log_path
        self.buffer = b""
        words = [f"{key}={value}" for key, value in options.items()]
        try:
            with open(log_path, "wb") as log:
                self.process = subprocess.Popen([*before, os.path.join(folder, "run"), url, *words], stdin=subprocess.PIPE,
                                                stdout=subprocess.PIPE, stderr=log, start_new_session=True)
        except OSError as problem:
            raise DriverFailed(f"it does not start: {problem.strerror}") from None

    def wait_ready(self, timeout=READY_S):
        while self.line(timeout) != b"ready":
            pass

    def ask(self, command, timeout=ANSWER_S):
        self.tell(command)
        return self.answer(timeout)

    def tell(self, command):
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise self.failure(f"it ended, {self.status()}") from None

    def answer(self, timeout=ANSWER_S):
        line = self.line(timeout)
        try:
            found = json.loads(line)
        except ValueError:
            raise self.failure(f"no JSON: {line[:100].decode(errors='replace')}") from None
        if "unsupported" in found:
            raise Unsupported(found["unsupported"])
        if "error" in found:
            raise self.failure(found["error"])
        return found

    def line(self, timeout):
        give_up = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = give_up - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise self.failure(f"no answer in {timeout:.0f} s")
            found = os.read(self.process.stdout.fileno(), 1 << 20)
            if not found:
                raise self.failure(f"it ended, {self.status()}")
            self.buffer += found
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.strip()

    def failure(self, why):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            said = [line.strip() for line in log if line.strip()]
        text = f"{why} ({said[-1][:200]})" if said else why
        return DriverFailed(text.replace(os.getcwd() + os.sep, ""))

    def status(self):
        """What became of the process, for a message."""
        try:
            status = self.process.wait(2)
        except subprocess.TimeoutExpired:
            return "but its process is still there"
        return f"killed by signal {-status}" if status < 0 else f"with status {status}"

    def begin_end(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def end(self, patience=5):
        self.begin_end()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)  # its own group: it was started as a session of its own
            self.process.wait()
        self.process.stdout.close()


def ask_all(drivers, command, timeout=ANSWER_S):
    """The same command to several drivers at once. Their answers, in order; all are read before one raises."""
    return ask_each(drivers, [command] * len(drivers), timeout)


def ask_each(drivers, commands, timeout=ANSWER_S):
    for driver, command in zip(drivers, commands, strict=True):
        driver.tell(command)
    return answers_of(drivers, timeout)


def answers_of(drivers, timeout=ANSWER_S):
    give_up = time.monotonic() + timeout
    answers, failed = [], None
    for driver in drivers:
        try:
            answers.append(driver.answer(max(0.1, give_up - time.monotonic())))
        except (DriverFailed, Unsupported) as problem:
            failed = failed or problem
    if failed:
        raise failed
    return answers


def end_all(drivers):
    for driver in drivers:
        driver.begin_end()
    for driver in drivers:
        driver.end()
