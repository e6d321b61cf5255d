# SPDX-License-Identifier: Apache-2.0
"""Where Python is hard: interrupts, cancellation, loops that end, forks, the end of the interpreter; and wrong inputs."""

import asyncio
import copy
import gc
import inspect
import os
import pickle
import random
import select
import signal
import threading
import time
import warnings
from datetime import timedelta

import pytest

import holdfast
from conftest import SOON, now, program, until
from holdfast import aio

INTERRUPTS = int(os.environ.get("HOLDFAST_INTERRUPTS", "300"))


# ---- interrupts ----

INTERRUPTED = """
import random, signal, sys, threading, time, os
import holdfast
url, rounds = sys.argv[1], int(sys.argv[2])
client, other = holdfast.connect(url), holdfast.connect(url)
lock, theirs = client.lock("orders"), other.lock("orders")
seats = client.semaphore("seats")
seats.init(1)
caught = 0
chance = random.Random(7)
signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background may ignore it

def interrupt(after):
    time.sleep(after)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

for i in range(rounds):
    held = theirs.acquire() if i % 3 == 0 else None
    sender = threading.Thread(target=interrupt, args=(chance.random() * 0.003,))
    try:
        try:
            end = time.monotonic() + 5
            sender.start()
            while time.monotonic() < end:
                if i % 2:
                    with lock:
                        pass
                else:
                    hold = lock.acquire()
                    hold.release()
        finally:
            sender.join()
    except KeyboardInterrupt:
        caught += 1
    try:
        hold = None
        del held
        sender.join()
    except KeyboardInterrupt:
        pass
print(caught)
client.close()
other.close()
"""


def test_ctrl_c_at_any_moment_leaves_nothing(server):
    done = program(INTERRUPTED, server.url, INTERRUPTS)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > INTERRUPTS * 0.9, "of a few, Python itself says that they were ignored"
    until(lambda: "orders" not in server.keys())


LIMITED = """
import os, signal, sys, time
import holdfast
client = holdfast.connect(sys.argv[1] + "?command_timeout=20s")
lock, seats, gate = client.lock("orders"), client.semaphore("seats"), client.latch("gate")
lock.acquire().release()
os.kill(int(sys.argv[2]), signal.SIGSTOP)
for wait in (lock.acquire, seats.acquire, gate.wait):
    began = time.monotonic()
    try:
        wait(timeout=0.3)
        print("granted")
    except holdfast.HoldfastError:
        pass
    print(time.monotonic() - began)
os.kill(int(sys.argv[2]), signal.SIGCONT)
"""


def test_a_limit_ends_a_wait_of_the_main_thread_though_a_command_may_take_longer(server):
    done = program(LIMITED, server.url, server.process.pid)
    assert done.returncode == 0, done.stderr
    assert all(float(took) < 10 for took in done.stdout.split()), done.stdout


def test_ctrl_c_ends_a_wait_at_once(server):
    text = """
import os, signal, sys, threading, time
import holdfast
client, other = holdfast.connect(sys.argv[1]), holdfast.connect(sys.argv[1])
held = other.lock("orders").acquire()
signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background may ignore it
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    client.lock("orders").acquire()
except KeyboardInterrupt:
    print(time.monotonic() - begun)
"""
    done = program(text, server.url)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < SOON
    assert done.stderr == ""


def test_the_main_thread_waits_through_trouble_as_others_do(server):
    """A server that stands still for longer than a command may take."""
    client = holdfast.connect(server.url + "?command_timeout=300ms&patience=20s")
    lock = client.lock("orders")
    with lock:
        pass
    server.process.send_signal(signal.SIGSTOP)
    threading.Timer(1.5, server.process.send_signal, (signal.SIGCONT,)).start()
    assert lock.acquire(timeout=SOON) is not None
    client.close()


# ---- cancellation ----


def test_a_task_cancelled_at_any_step_leaves_nothing(server):
    async def story():
        async with aio.connect(server.url) as client, aio.connect(server.url) as other:
            lock, theirs = client.lock("orders"), other.lock("orders")

            async def work():
                async with lock as hold:
                    await asyncio.sleep(0)
                    hold.raise_if_lost()

            for contended in (False, True):
                finished = False
                steps = 0
                while not finished:
                    held = await theirs.acquire() if contended else None
                    task = asyncio.ensure_future(work())
                    for step in range(steps):
                        await asyncio.sleep(0 if step < 20 else 0.0002)
                        if held is not None and step == 10:
                            await held.release()
                    finished = not task.cancel()
                    try:
                        await task
                    except asyncio.CancelledError:
                        pass
                    if held is not None:
                        await held.release()
                    again = await lock.acquire(timeout=SOON)
                    assert again is not None, f"after {steps} steps"
                    await again.release()
                    steps += 1
                    assert steps < 2000

    asyncio.run(story())
    until(lambda: server.keys() == [])


def test_a_cancelled_task_takes_no_permit(server):
    async def story():
        async with aio.connect(server.url) as client:
            seats = client.semaphore("seats")
            await seats.init(1)
            for _ in range(3):
                taken, steps = False, 0
                while not taken:
                    task = asyncio.ensure_future(seats.acquire())
                    for step in range(steps):
                        await asyncio.sleep(0 if step < 20 else 0.0002)
                    task.cancel()
                    try:
                        await task
                        await seats.release()
                        taken = True
                    except asyncio.CancelledError:
                        pass
                    end = time.monotonic() + SOON
                    while await seats.available() != 1:
                        assert time.monotonic() < end, f"after {steps} steps"
                    steps += 1
                    assert steps < 2000

    asyncio.run(story())


def test_a_permit_that_comes_to_a_cancelled_task_goes_back(server):
    """It has come, but the task has not run since: the loop has taken note of it, or not even that."""
    async def story():
        async with aio.connect(server.url) as client:
            seats = client.semaphore("seats")
            await seats.init(1)
            queue = aio._queue_of(asyncio.get_running_loop())
            for noted in (True, False):
                task = asyncio.ensure_future(seats.acquire())
                await asyncio.sleep(0)
                assert select.select([queue.fd], [], [], SOON)[0]
                if noted:
                    queue.drain()
                assert server("GET", "seats") == "0"
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await asyncio.sleep(0.001)
                until(lambda: server("GET", "seats") == "1")

    asyncio.run(story())


def test_a_request_that_comes_to_a_cancelled_task_is_the_next_ones(server):
    async def story():
        client = aio.connect(server.url)
        hold = await client.lock("orders").acquire()
        first = asyncio.ensure_future(hold.wait_asked())
        await asyncio.sleep(0)
        with holdfast.connect(server.url) as other:
            lock = other.lock("orders")
            until(lock.ask_release)  # the first says that it listens
        queue = aio._queue_of(asyncio.get_running_loop())
        assert select.select([queue.fd], [], [], SOON)[0], "it is for the first, which does not know yet"
        first.cancel()
        second = asyncio.ensure_future(hold.wait_asked())
        assert await asyncio.wait_for(second, SOON)
        assert first.cancelled()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(hold.wait_asked(), 0.05)
        await client.close()

    asyncio.run(story())


def test_a_cancelled_wait_ends_at_once(server):
    """Nobody stands in line for it any more."""
    def waiters(client):
        return next(line for line in client.metrics().splitlines() if line.startswith("holdfast_waiters "))

    async def story():
        async with aio.connect(server.url) as client, aio.connect(server.url) as other:
            for kind in ("lock", "fair_lock"):
                lock, theirs = (getattr(each, kind)(kind) for each in (client, other))
                async with theirs:
                    task = asyncio.ensure_future(lock.acquire())
                    while waiters(client) != "holdfast_waiters 1" or server("PUBSUB", "CHANNELS") == "":
                        await asyncio.sleep(0.01)
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await task
                    until(lambda: waiters(client) == "holdfast_waiters 0")

    asyncio.run(asyncio.wait_for(story(), SOON))


def test_wait_for_leaves_nothing(server):
    async def story():
        async with aio.connect(server.url) as client, aio.connect(server.url) as other:
            async with other.lock("orders"):
                for _ in range(20):
                    with pytest.raises(asyncio.TimeoutError):
                        await asyncio.wait_for(client.lock("orders").acquire(), random.random() * 0.01)
            async with client.lock("orders").hold(timeout=SOON):
                pass

    asyncio.run(story())
    until(lambda: server.keys() == [])


# ---- loops ----


@pytest.mark.parametrize("after", [0, 0.01, 0.1])
def test_a_loop_that_ends_first_gives_back(server, after):
    client = aio.connect(server.url)
    lock = client.lock("orders")

    async def leave_open():
        asyncio.ensure_future(lock.acquire())
        await asyncio.sleep(after)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(leave_open())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loop.close()
        del loop
        gc.collect()
    until(lambda: server.keys() == [])
    assert asyncio.run(lock.acquire(timeout=SOON)) is not None
    asyncio.run(client.close())


def test_one_client_serves_several_loops(server):
    client = aio.connect(server.url)
    inside = []

    async def work(name):
        for _ in range(20):
            async with client.lock("orders"):
                inside.append(name)
                await asyncio.sleep(0.0005)
                assert inside[-1] == name

    threads = [threading.Thread(target=asyncio.run, args=(work(i),)) for i in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(SOON)
    assert len(inside) == 60
    asyncio.run(client.close())


def test_without_asyncio_it_says_so(server):
    client = aio.connect(server.url)
    waiting = client.lock("orders").acquire()
    with pytest.raises(RuntimeError, match="trio"):
        waiting.send(None)


# ---- processes ----


def test_a_child_is_told_and_the_parent_keeps_its_hold(server):
    client = holdfast.connect(server.url)
    hold = client.lock("orders").acquire()
    assert client.lock("orders").acquire(timeout=0.05) is None
    child = os.fork()
    if child == 0:
        try:
            assert hold.valid_for == 0
            for call in (lambda: client.lock("other").acquire(), hold.raise_if_lost, hold.release, client.ping,
                         lambda: client.semaphore("seats").acquire()):
                try:
                    call()
                    os._exit(1)
                except holdfast.Forked:
                    pass
            del hold
            fresh = holdfast.connect(server.url)
            with fresh.lock("child"):
                assert fresh.lock("child").acquire(timeout=0.05) is None
            fresh.close()
            os._exit(0)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    hold.raise_if_lost()
    assert server.keys() == ["orders"]
    client.close()


def test_multiprocessing_ends(server):
    text = """
import multiprocessing, sys
import holdfast
client = holdfast.connect(sys.argv[1])

def work(number):
    own = holdfast.connect(sys.argv[1])
    with own.lock("orders"):
        return number

with client.lock("other"):
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(sum(pool.map(work, range(10))))
"""
    done = program(text, server.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "45\n", "")


@pytest.mark.parametrize("last", ["", "client.close()", "import os; os.kill(os.getpid(), 15)", "raise SystemExit(0)",
                                  "del client, lock"])
def test_the_end_of_the_interpreter_gives_back(server, last):
    text = f"""
import sys, threading
import holdfast
from holdfast import aio
client = holdfast.connect(sys.argv[1])
lock = client.lock("orders")
hold = lock.acquire()

def wait():
    try:
        holdfast.connect(sys.argv[1]).lock("orders").acquire()
    except holdfast.Closed:
        pass

threading.Thread(target=wait, daemon=True).start()
{last}
"""
    done = program(text, server.url)
    assert done.stderr == ""
    if "kill" not in last:
        assert done.returncode == 0
        until(lambda: server.keys() == [])


def test_nothing_is_taken_after_the_end(server):
    text = """
import atexit, sys

def late():
    try:
        holdfast.connect(sys.argv[1]).lock("orders").acquire()
    except holdfast.Closed:
        print("closed")

atexit.register(late)  # runs after what is registered later
import holdfast
"""
    done = program(text, server.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "closed\n", "") and server.keys() == []


def test_nothing_leaves_its_process(face, server):
    client = face.connect(server.url)
    things = [client, client.lock("orders"), client.semaphore("seats")]
    for thing in things:
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(thing)
        with pytest.raises(TypeError):
            copy.copy(thing)


# ---- wrong inputs ----


@pytest.mark.parametrize("arguments, problem, text", [
    ({"wait": "5"}, TypeError, "wait"),
    ({"wait": -1}, ValueError, "wait"),
    ({"lease": float("nan")}, ValueError, "lease"),
    ({"lease": 0.001}, ValueError, "lease"),
    ({"max_hold": -1}, ValueError, "max_hold"),
    ({"acks": 999}, ValueError, "acks"),
    ({"acks": "all"}, TypeError, "acks"),
    ({"max_waiters": 1.5}, TypeError, "max_waiters"),
    ({"max_waiters": True}, TypeError, "max_waiters"),
    ({"renewed": False}, ValueError, "lease"),
    ({"permits": 2}, ValueError, "permits"),
    ({"nonsense": 2}, TypeError, "nonsense"),
])
def test_wrong_options_are_named(face, server, arguments, problem, text):
    client = face.connect(server.url)
    with pytest.raises(problem, match=text):
        client.lock("orders", **arguments)


def test_wrong_arguments_are_named(face, server):
    async def story():
        client = face.connect(server.url)
        for name in (7, None, b"orders"):
            with pytest.raises(TypeError, match="name"):
                client.lock(name)
        for name in ("", "a\0b"):
            with pytest.raises(ValueError):
                client.lock(name)
        with pytest.raises(TypeError, match="names"):
            client.any_lock("orders")
        with pytest.raises(ValueError):
            client.any_lock([])
        with pytest.raises(ValueError):
            face.MultiLock([])
        lock = client.lock("orders")
        with pytest.raises(ValueError, match="timeout"):
            await now(lock.acquire(blocking=False, timeout=3))
        with pytest.raises(ValueError, match="timeout"):
            await now(lock.acquire(timeout=-3))
        with pytest.raises(ValueError):
            await now(lock.adopt("nonsense"))
        assert await now(lock.acquire(timeout=-1)) is not None
        with pytest.raises(ValueError):
            await now(client.semaphore("seats").acquire(0))
        with pytest.raises(TypeError, match="permits"):
            await now(client.semaphore("seats").acquire("1"))
        await now(client.close())
        with pytest.raises(holdfast.Closed):
            await now(lock.acquire())

    asyncio.run(story())


def test_failures_name_the_server_and_no_password():
    with pytest.raises(ValueError) as problem:
        holdfast.connect("redis://user:s3cret@host:notaport")
    assert "s3cret" not in str(problem.value)
    with pytest.raises(TypeError, match="url"):
        holdfast.connect(None)
    client = holdfast.connect("redis://user:s3cret@127.0.0.1:1?connect_timeout=1s")
    with pytest.raises(holdfast.Unavailable) as problem:
        client.lock("orders").acquire()
    error = problem.value
    assert "127.0.0.1:1" in str(error) and "s3cret" not in str(error) and error.key == "orders"
    assert error.code == holdfast.Code.UNREACHABLE and error.may_pass
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code, again.may_pass) == (type(error), str(error), error.code, error.may_pass)


def test_times_are_seconds_or_timedeltas(server):
    client = holdfast.connect(server.url)
    hold = client.lock("orders", lease=timedelta(seconds=20), renewed=False).acquire(timeout=timedelta(seconds=1))
    assert 19 < hold.valid_for <= 20
    client.close()


def test_a_missing_library_is_named(tmp_path):
    missing = str(tmp_path / "gone.so")
    done = program("import holdfast", env={**os.environ, "HOLDFAST_C_LIBRARY": missing})
    assert done.returncode == 1 and missing in done.stderr and "ImportError" in done.stderr


# ---- both faces alike ----


def test_all_that_is_public_says_what_it_does():
    undocumented = [name for name in holdfast.__all__ for of in (holdfast, aio)
                    if inspect.isclass(getattr(of, name)) and not getattr(of, name).__doc__]
    assert undocumented == []
