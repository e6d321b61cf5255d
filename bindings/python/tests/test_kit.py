# SPDX-License-Identifier: Apache-2.0
"""The fixture holdfast_kit: what its faults do to clients."""

import asyncio
import os
import re
import subprocess
import sys
import threading
import time

import pytest

import holdfast
from conftest import SOON, now, until

KINDS = ["lock", "fenced_lock", "fair_lock", "simple_lock"]


@pytest.fixture
def client(holdfast_kit):
    with holdfast.connect(holdfast_kit.url) as found:
        yield found


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_is_lost(holdfast_kit, client, kind):
    hold = getattr(client, kind)("report").acquire()
    assert holdfast_kit.is_locked("report")
    holdfast_kit.lose("report")
    assert not holdfast_kit.is_locked("report")
    assert hold.lost.wait(SOON)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_is_taken_elsewhere(holdfast_kit, client, kind):
    lock = getattr(client, kind)("report")
    hold = lock.acquire()
    holdfast_kit.take_elsewhere("report", lease=1.5)
    assert hold.lost.wait(SOON) and hold.loss_reason == holdfast.LossReason.TAKEN
    assert lock.acquire(blocking=False) is None
    assert lock.acquire(timeout=SOON) is not None, "nobody renews it"


def test_a_free_lock_is_taken_elsewhere(holdfast_kit, client):
    holdfast_kit.take_elsewhere("report")
    assert client.lock("report").is_locked() and client.lock("report").remaining() > 25
    assert client.lock("report").acquire(blocking=False) is None


def test_a_frozen_server_answers_nobody(holdfast_kit, client):
    client.ping()
    holdfast_kit.freeze()
    answered = threading.Event()
    pinging = threading.Thread(target=lambda: (client.ping(), answered.set()))
    pinging.start()
    assert not answered.wait(0.2)
    with pytest.raises(AssertionError, match="thaw"):
        holdfast_kit.lose("report")
    holdfast_kit.thaw()
    assert answered.wait(SOON)
    pinging.join()


def test_a_server_thaws_in_time(holdfast_kit, client):
    client.ping()
    begun = time.monotonic()
    holdfast_kit.freeze(SOON)
    holdfast_kit.freeze(0.3)
    assert client.lock("report").acquire() is not None
    assert 0.3 <= time.monotonic() - begun < SOON


def test_a_hold_ends_while_the_server_is_frozen(holdfast_kit, client):
    hold = client.lock("report").acquire()
    holdfast_kit.freeze()
    assert hold.lost.wait(SOON) and hold.loss_reason == holdfast.LossReason.EXPIRED
    holdfast_kit.thaw()
    until(lambda: not holdfast_kit.is_locked("report"))


def test_answers_are_late(holdfast_kit, client):
    client.ping()
    holdfast_kit.answer_late(SOON)
    holdfast_kit.answer_late(0.2)

    def took():
        begun = time.monotonic()
        client.ping()
        return time.monotonic() - begun

    assert 0.1 < took() < SOON
    until(lambda: took() > 0.1)  # and so it goes on
    holdfast_kit.answer_late(0)
    until(lambda: max(took() for _ in range(10)) < 0.1)


def test_connections_are_cut(holdfast_kit, client):
    def connections():
        run = subprocess.run(["redis-cli", "-s", holdfast_kit.socket, "client", "list"], stdout=subprocess.PIPE, text=True, check=True)
        return {line.split()[0] for line in run.stdout.splitlines() if "cmd=client" not in line}

    hold = client.lock("report").acquire()
    before = connections()
    assert before
    holdfast_kit.cut()
    until(lambda: connections() and not connections() & before)
    hold.raise_if_lost()
    assert hold.release() == holdfast.ReleaseOutcome.RELEASED


def test_both_faces(face, holdfast_kit):
    async def story():
        client = face.connect(holdfast_kit.url)
        hold = await now(client.lock("report").acquire())
        holdfast_kit.lose("report")
        assert hold.lost.wait(SOON) if face is holdfast else await asyncio.wait_for(hold.lost.wait(), SOON)
        await now(client.close())

    asyncio.run(story())


# ---- as users have it ----

SITE = os.path.dirname(os.path.dirname(os.path.abspath(holdfast.__file__)))


def run(folder, text, **environment):
    (folder / "test_it.py").write_text(text)
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(folder)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=folder, timeout=120,
                          env={**os.environ, "PYTHONPATH": SITE, **environment})
    return done.stdout


def test_what_the_page_says(tmp_path):
    page = os.path.join(os.path.dirname(__file__), "..", "README.md")
    with open(page, encoding="utf-8") as file:
        text = next(each for each in re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL) if "holdfast_kit" in each)
    assert "1 passed" in run(tmp_path, text, TMPDIR=str(tmp_path))
    assert [each for each in os.listdir(tmp_path) if "kit" in each] == []


def test_nothing_is_loaded_unless_it_is_used(tmp_path):
    text = "import sys\ndef test_it(request): assert 'pytest_holdfast' in sys.modules and 'holdfast' not in sys.modules"
    assert "1 passed" in run(tmp_path, text)


@pytest.mark.parametrize("program, text", [("", "needs redis-server or valkey-server on PATH"),
                                           ("/bin/false", "/bin/false does not start")])
def test_without_a_server_it_says_so(tmp_path, program, text):
    said = run(tmp_path, "def test_it(holdfast_kit): pass", PATH="/nowhere", HOLDFAST_REDIS_SERVER=program,
               TMPDIR=str(tmp_path))
    assert [each for each in os.listdir(tmp_path) if "kit" in each] == []
    assert "1 error" in said and text in said
