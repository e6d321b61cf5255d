# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/python, run."""

import asyncio
import os
import runpy
import subprocess
import sys

import pytest

from conftest import SOON, program, until
from holdfast import aio

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples", "python")
SITE = os.path.dirname(os.path.dirname(os.path.abspath(aio.__file__)))


@pytest.mark.parametrize("name", ["first.py", "first_async.py"])
def test_the_first_programs_run(server, name):
    done = subprocess.run([sys.executable, "-B", os.path.join(EXAMPLES, name), server.url], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "") and "ours for at least" in done.stdout


TASKS = """
import os, time
import celery
from celery_task import Exclusive

broker = "redis+socket://" + os.environ["HOLDFAST_URL"].partition("://")[2] + "?virtual_host=0"
app = celery.Celery("tasks", broker=broker, backend=broker)

@app.task(base=Exclusive, bind=True, lock="report-{customer}", retry_in=0.05)
def report(self, customer, number):
    open(f"in-{customer}-{number}", "x").close()
    end = time.monotonic() + 30
    while not os.path.exists("go") and time.monotonic() < end:
        time.sleep(0.01)
    os.remove(f"in-{customer}-{number}")
    return self.request.retries
"""

ASKING = """
import os, time
from tasks import report

ones, other = [report.delay("7", number) for number in (1, 2)], report.delay("8", 3)
end = time.monotonic() + 30
while True:  # until one of customer 7's and that of 8 run, and the other one of 7 was sent back so often
    inside = "".join(sorted(name[3] for name in os.listdir(".") if name.startswith("in-")))
    with open("worker.log") as file:
        sent_back = file.read().count("Retry in 0.05s")
    if inside == "78" and sent_back >= 4:
        break
    assert time.monotonic() < end and inside in ("", "7", "8", "78"), (inside, sent_back)
    time.sleep(0.02)
open("go", "x").close()
print(other.get(timeout=30), min(each.get(timeout=30) for each in ones), max(each.get(timeout=30) for each in ones))
"""


def test_a_task_of_celery_runs_once_at_a_time(server, tmp_path):
    pytest.importorskip("celery")
    pytest.importorskip("redis")
    (tmp_path / "tasks.py").write_text(TASKS)
    environment = {**os.environ, "HOLDFAST_URL": server.url, "PYTHONPATH": os.pathsep.join([SITE, EXAMPLES, str(tmp_path)])}
    with open(tmp_path / "worker.log", "wb") as log:
        words = "celery -A tasks worker -c 3 --loglevel INFO --without-mingle --without-gossip --without-heartbeat"
        worker = subprocess.Popen([sys.executable, "-B", "-m", *words.split()], cwd=tmp_path, env=environment, stdout=log, stderr=log)
    try:
        done = program(ASKING, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr + (tmp_path / "worker.log").read_text()
        other, first, second = map(int, done.stdout.split())
        assert (other, first) == (0, 0) and second >= 4, "Celery itself gives up after 3"
        until(lambda: not {"report-7", "report-8"} & set(server.keys()))
        worker.terminate()
        worker.wait(SOON)
    finally:
        worker.kill()
        worker.wait()


def test_a_dependency_of_fastapi_holds_a_lock_for_each_order(server, monkeypatch):
    fastapi = pytest.importorskip("fastapi")
    httpx = pytest.importorskip("httpx")
    monkeypatch.setenv("HOLDFAST_URL", server.url)
    example = runpy.run_path(os.path.join(EXAMPLES, "fastapi_dependency.py"))

    async def story():
        app = example["app"]
        async with app.router.lifespan_context(app), aio.connect(server.url) as other, \
                httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://shop") as web:
            paid = await web.post("/orders/7/pay")
            assert paid.status_code == 200 and paid.json()["paid"] == "7" and paid.json()["owner"]
            async with other.lock("orders:7").hold(timeout=SOON):
                refused, paid = await asyncio.gather(web.post("/orders/7/pay"), web.post("/orders/8/pay"))
                assert (refused.status_code, paid.status_code) == (409, 200) and "somebody else" in refused.text
            all_paid = await asyncio.gather(*(web.post("/orders/7/pay") for _ in range(5)))
            assert [each.status_code for each in all_paid] == [200] * 5
        if tuple(map(int, fastapi.__version__.split(".")[:2])) >= (0, 93):
            with pytest.raises(aio.Closed):
                await example["client"].ping()
        await example["client"].close()

    asyncio.run(story())
    assert server.keys() == []
