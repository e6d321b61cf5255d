# SPDX-License-Identifier: Apache-2.0
"""A taker on redis-py's Lock: takes and gives back locks as it is told. The protocol is described in tests/README.md."""

import itertools
import queue
import sys
import threading
import time
import urllib.parse

import redis
from redis.exceptions import LockError, RedisError, ResponseError
from redis.lock import Lock

RETRY_S = 0.02
THREAD_COMMANDS = {"lock", "try", "unlock", "extend", "token", "mine", "count", "increment", "increment_for"}


class Usage(Exception):
    """A mistake of the driver."""


class NotOwner(Exception):
    """What was to be released or extended is not held."""


def micros():
    return time.monotonic_ns() // 1000


def decode(field):
    return urllib.parse.unquote(field, errors="surrogateescape")


def encode(field):
    raw = field.encode("utf-8", "surrogateescape")
    return "".join(chr(b) if 0x20 < b < 0x7F and b != 0x25 else f"%{b:02X}" for b in raw)


class Session:
    def __init__(self):
        self.client = None
        self.lease_s = 30.0
        self.output = threading.Lock()
        self.workers = {}

    def answer(self, tag, began, *fields):
        line = " ".join(encode(f) for f in (tag, str(began), str(micros()), *fields))
        with self.output:
            print(line, flush=True)

    def submit(self, line):
        tag, command, *args = (decode(field) for field in line.split(" "))
        if command in ("connect", "cancel"):
            self.carry_out(None, tag, command, args)
            return
        number = int(args[0]) if command in THREAD_COMMANDS and args else 0
        if number not in self.workers:
            self.workers[number] = Worker(self)
        self.workers[number].tasks.put((tag, command, args))

    def carry_out(self, worker, tag, command, args):
        began = micros()
        try:
            if command == "connect":
                value = self.connect(*args)
            elif command == "cancel":
                value = "no"
            elif self.client is None:
                raise Usage("not connected")
            else:
                value = worker.dispatch(command, args)
            self.answer(tag, began, "ok", value)
        except NotOwner as error:
            self.answer(tag, began, "error", "not_owner", str(error))
        except ResponseError as error:
            word = "wrong_type" if "WRONGTYPE" in str(error) else "failed"
            self.answer(tag, began, "error", word, str(error))
        except RedisError as error:
            self.answer(tag, began, "error", "failed", f"{type(error).__name__}: {error}")
        except (Usage, ValueError, TypeError, IndexError) as error:
            self.answer(tag, began, "error", "usage", f"{type(error).__name__}: {error}")

    def connect(self, url, *settings):
        if "," in url:
            raise Usage("redis-py has no quorum")
        for setting in settings:
            key, _, value = setting.partition("=")
            if key == "lease_ms":
                self.lease_s = int(value) / 1000
        self.client = redis.Redis.from_url(url)
        return f"redis-py {redis.__version__}"

    def close(self):
        for worker in self.workers.values():
            worker.tasks.put(None)


class Worker:
    """One thread of the taker, with the locks that it holds."""

    def __init__(self, session):
        self.session = session
        self.held = {}
        self.tasks = queue.SimpleQueue()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while (task := self.tasks.get()) is not None:
            self.session.carry_out(self, *task)

    def dispatch(self, command, args):
        redis_client = self.session.client
        if command == "lock":
            self.take(args[1], args[2:], None)
            return ""
        if command == "try":
            return "yes" if self.take(args[1], args[3:], int(args[2]) / 1000) else "no"
        if command == "unlock":
            return self.give_back(args[1])
        if command == "extend":
            return self.extend(args[1], int(args[2]) / 1000)
        if command == "token":
            lock = self.held.get(args[1])
            return lock.local.token.decode() if lock else ""
        if command == "mine":
            return "yes" if args[1] in self.held and self.held[args[1]].owned() else "no"
        if command == "count":
            return "1" if args[1] in self.held else "0"
        if command == "increment":
            return self.increment(args, itertools.repeat(None, int(args[3])))
        if command == "increment_for":
            end = time.monotonic() + int(args[3]) / 1000
            return self.increment(args, iter(lambda: time.monotonic() < end, False))
        if command == "force":
            return "yes" if redis_client.delete(args[0]) else "no"
        if command == "locked":
            return "yes" if redis_client.exists(args[0]) else "no"
        if command == "ttl":
            left = redis_client.pttl(args[0])
            return str(left) if left >= 0 else "none"
        if command == "close":
            redis_client.close()
            return ""
        raise Usage(f"no such command: {command}")

    def take(self, name, lease, wait_s):
        lease_s = int(lease[0]) / 1000 if lease and lease[0] != "0" else self.session.lease_s
        lock = Lock(self.session.client, name, timeout=lease_s, sleep=RETRY_S, thread_local=False)
        if not lock.acquire(blocking=wait_s != 0, blocking_timeout=wait_s):
            return False
        self.held[name] = lock
        return True

    def give_back(self, name):
        lock = self.held.pop(name, None)
        if lock is None:
            raise NotOwner("this thread does not hold it")
        try:
            lock.release()
        except LockError as error:
            raise NotOwner(str(error)) from error
        return "released"

    def extend(self, name, lease_s):
        if name not in self.held:
            raise NotOwner("this thread does not hold it")
        try:
            self.held[name].extend(lease_s, replace_ttl=True)
        except LockError as error:
            raise NotOwner(str(error)) from error
        return "yes"

    def increment(self, args, rounds):
        pause_s = int(args[4]) / 1000 if len(args) > 4 else 0
        done = 0
        for _ in rounds:
            self.take(args[1], [], None)
            with open(args[2], "a+", encoding="ascii") as file:  # makes it if nobody has yet
                file.seek(0)
                value = int(file.read() or 0)
            time.sleep(pause_s)
            with open(args[2], "w", encoding="ascii") as file:
                file.write(str(value + 1))
            self.give_back(args[1])
            done += 1
        return str(done)


def main():
    session = Session()
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line.partition(" ")[2] == "exit":
            break
        session.submit(line)
    session.close()


if __name__ == "__main__":
    main()
