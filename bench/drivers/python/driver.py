# SPDX-License-Identifier: Apache-2.0
"""The driver of redis-py's Lock: takes and gives back locks as bench/README.md says. A caller is a thread.

Not redis-py's defaults: a lease of 30 s (its own: none at all), and a pool of as many connections as there may be
callers (its own: 100, and an error for the next one). It waits as it does by default: it tries every 100 ms.
"""

import array
import json
import os
import resource
import sys
import threading
import time

import redis
from redis.exceptions import RedisError

# Each waiter is a thread that wakes ten times a second and needs the interpreter's lock for that.
MOST_WAITERS = 1000
SETTLING_S = 1.0  # how long the last waiters have to reach the wait


def cpu_us():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return round((usage.ru_utime + usage.ru_stime) * 1e6)


def rss_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def spin(length_ns):
    end = time.monotonic_ns() + length_ns
    while time.monotonic_ns() < end:
        pass


def summary(parts, prefix=""):
    """p50, p99 and max of all callers' samples, which are nanoseconds."""
    samples = sorted(sample for part in parts for sample in part) or [0]

    def at(share):
        return round(samples[int(share * (len(samples) - 1))] / 1000, 2)

    return {f"{prefix}p50_us": at(0.5), f"{prefix}p99_us": at(0.99), f"{prefix}max_us": at(1)}


class Callers:
    """Threads that start at once. The first error of any is raised at the end."""

    def __init__(self, count, body):
        self.errors = []
        self.threads = [threading.Thread(target=self.run, args=(body, i), daemon=True) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, body, caller):
        try:
            body(caller)
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(error)

    def join(self):
        for thread in self.threads:
            thread.join()
        if self.errors:
            raise self.errors[0]


class Meter:
    """The seconds and the processor time of a command."""

    def __init__(self, start_ns):
        self.start_ns, self.cpu = start_ns, cpu_us()

    def stop(self):
        return {"seconds": (time.monotonic_ns() - self.start_ns) / 1e9, "cpu_us": cpu_us() - self.cpu}


class Driver:
    def __init__(self, url, lease_ms="30000", clients="1"):
        self.lease_s = int(lease_ms) / 1000
        self.clients = [redis.Redis.from_url(url, max_connections=MOST_WAITERS + 1) for _ in range(int(clients))]
        for client in self.clients:
            client.ping()
        self.taken = {}
        self.crowd_locks, self.crowd_callers = [], None

    def lock(self, caller, key):
        return self.clients[caller % len(self.clients)].lock(key, timeout=self.lease_s)

    def pairs(self, threads, seconds, keys):
        samples = [array.array("q") for _ in range(int(threads))]
        meter = Meter(time.monotonic_ns())
        end = meter.start_ns + int(float(seconds) * 1e9)

        def body(caller):
            lock = self.lock(caller, f"{keys}:{caller}")
            mine = samples[caller]
            begun = time.monotonic_ns()
            while begun < end:
                lock.acquire()
                lock.release()
                done = time.monotonic_ns()
                mine.append(done - begun)
                begun = done

        Callers(int(threads), body).join()
        return {**meter.stop(), "pairs": sum(map(len, samples)), **summary(samples)}

    def hot(self, threads, seconds, key, inside_us="0", start_ns="0"):
        waits = [array.array("q") for _ in range(int(threads))]
        served = [0] * int(threads)
        inside_ns = int(float(inside_us) * 1000)
        meter = Meter(int(start_ns) or time.monotonic_ns())
        end = meter.start_ns + int(float(seconds) * 1e9)

        def body(caller):
            lock = self.lock(caller, key)
            mine = waits[caller]
            time.sleep(max(0, meter.start_ns - time.monotonic_ns()) / 1e9)
            begun = time.monotonic_ns()
            while begun < end:
                taken = lock.acquire(blocking_timeout=(end - begun) / 1e9)
                mine.append(time.monotonic_ns() - begun)
                if not taken:  # it gives up when there is no time for another try
                    return
                served[caller] += 1
                if inside_ns:
                    spin(inside_ns)
                lock.release()
                begun = time.monotonic_ns()

        Callers(int(threads), body).join()
        return {**meter.stop(), "sections": sum(served), "served": served, **summary(waits, "wait_")}

    def take(self, key, wait_s):
        lock = self.lock(0, key)
        taken = lock.acquire(blocking_timeout=float(wait_s))
        at_ns = time.monotonic_ns()
        if taken:
            self.taken[key] = lock
        return {"taken": taken, "at_ns": at_ns}

    def release(self, key):
        lock = self.taken.pop(key)
        before_ns = time.monotonic_ns()
        lock.release()
        return {"before_ns": before_ns, "after_ns": time.monotonic_ns()}

    def hold(self, **_):
        return {"unsupported": "no watchdog"}

    def crowd(self, waiters, locks, keys):
        waiters, locks = int(waiters), int(locks)
        if waiters > MOST_WAITERS:
            return {"unsupported": f"a waiter is a thread; {MOST_WAITERS} are what Python can be asked for"}
        self.crowd_locks = [self.lock(0, f"{keys}:{i}") for i in range(locks)]
        for lock in self.crowd_locks:
            lock.acquire()

        def body(waiter):
            lock = self.lock(waiter, f"{keys}:{waiter % locks}")
            lock.acquire()
            lock.release()

        before = rss_bytes()
        meter = Meter(time.monotonic_ns())
        self.crowd_callers = Callers(waiters, body)
        time.sleep(SETTLING_S)
        return {"waiting": waiters, "seconds": meter.stop()["seconds"], "rss_before_bytes": before,
                "rss_after_bytes": rss_bytes()}

    def crowd_go(self):
        meter = Meter(time.monotonic_ns())
        for lock in self.crowd_locks:
            lock.release()
        self.crowd_callers.join()
        return {"grants": len(self.crowd_callers.threads), **meter.stop()}

    def usage(self):
        return {"cpu_us": cpu_us(), "rss_bytes": rss_bytes()}

    COMMANDS = {"pairs": pairs, "hot": hot, "take": take, "release": release, "hold": hold, "crowd": crowd,
                "crowd_go": crowd_go, "usage": usage}

    def carry_out(self, line):
        verb, *settings = line.split()
        if verb not in self.COMMANDS:
            return {"unsupported": "no such command"}
        try:
            return self.COMMANDS[verb](self, **dict(setting.split("=", 1) for setting in settings))
        except (RedisError, ValueError, TypeError, KeyError, AttributeError) as error:
            return {"error": f"{type(error).__name__}: {error}"}


def main():
    url, *settings = sys.argv[1:]
    driver = Driver(url, **dict(setting.split("=", 1) for setting in settings))
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(driver.carry_out(line)), flush=True)
    os._exit(0)  # whatever is still held, and whoever still waits


if __name__ == "__main__":
    main()
