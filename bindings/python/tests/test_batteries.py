# SPDX-License-Identifier: Apache-2.0
"""What goes with other packages: each test is skipped where its package is not installed."""

import asyncio

import pytest

import holdfast
import test_edges
import test_kinds
from conftest import SOON, now, program
from holdfast import aio


# ---- prometheus_client ----


def shown(collector):
    """What a scrape of it has, by `name` or `name{label="value",...}`."""
    prometheus = pytest.importorskip("prometheus_client")
    registry = prometheus.CollectorRegistry(auto_describe=True)
    registry.register(collector)
    lines = prometheus.generate_latest(registry).decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def test_prometheus_shows_what_a_client_has_counted(face, server):
    pytest.importorskip("prometheus_client")
    from holdfast.prometheus import Collector

    async def story():
        client = face.connect(server.url)
        collector = Collector(client)
        hold = await now(client.lock("orders").acquire())
        assert await now(client.lock("orders").acquire(blocking=False)) is None
        held = shown(collector)
        assert held['holdfast_acquire_wait_seconds_count{result="granted"}'] == 1
        assert held['holdfast_acquire_wait_seconds_count{result="busy"}'] == 1
        assert held['holdfast_acquire_wait_seconds_bucket{le="+Inf",result="granted"}'] == 1
        assert held["holdfast_holds"] == 1 and 0 < held["holdfast_lowest_validity_seconds"] <= 30
        await now(hold.release())
        assert shown(collector)["holdfast_holds"] == 0
        await now(client.close())
        assert shown(collector)['holdfast_build_info{version="0.2.0"}'.replace("0.2.0", holdfast.__version__)] == 1

    asyncio.run(story())


def test_prometheus_tells_several_clients_apart(server):
    pytest.importorskip("prometheus_client")
    from holdfast.prometheus import Collector

    client, other = holdfast.connect(server.url), holdfast.connect(server.url)
    with client.lock("orders"), client.lock("jobs"), other.lock("mail"):
        both = shown(Collector(client=client, other=other))
    assert both['holdfast_holds{client="client"}'] == 2 and both['holdfast_holds{client="other"}'] == 1
    assert both['holdfast_lost_total{client="other",reason="expired"}'] == 0
    for wrong in ((), (client, other), ("redis://127.0.0.1",)):
        with pytest.raises(TypeError):
            Collector(*wrong)
    with pytest.raises(TypeError, match="one client, or several"):
        Collector(client, other=other)
    client.close()
    other.close()


def test_without_prometheus_client_it_says_what_to_install():
    done = program("import sys; sys.modules['prometheus_client'] = None; import holdfast; import holdfast.prometheus")
    assert done.returncode == 1 and "pip install prometheus_client" in done.stderr


# ---- OpenTelemetry ----


@pytest.fixture
def collected(caplog):
    """A meter of the SDK's, and what a collection finds, as `name{label=value} unit`. The SDK has nothing to complain of."""
    sdk = pytest.importorskip("opentelemetry.sdk.metrics")
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    provider = sdk.MeterProvider([reader], shutdown_on_exit=False)

    def look():
        found, data = {}, reader.get_metrics_data()
        for metric in [] if data is None else data.resource_metrics[0].scope_metrics[0].metrics:
            assert metric.description
            for point in metric.data.data_points:
                labels = "".join(f"{{{label}={value}}}" for label, value in point.attributes.items())
                found[f"{metric.name}{labels} {metric.unit}".rstrip()] = point.value
        return found

    yield provider.get_meter("holdfast"), look
    provider.shutdown()
    assert caplog.get_records("call") == []


def test_opentelemetry_has_the_names_and_units_of_cpp(face, server, collected):
    meter, look = collected
    from holdfast.opentelemetry import observe

    async def story():
        client = face.connect(server.url)
        observe(meter, client)
        hold = await now(client.lock("orders").acquire())
        assert await now(client.lock("orders").acquire(blocking=False)) is None
        held = look()
        assert held["holdfast.holds"] == 1 and 0 < held["holdfast.lowest_validity s"] <= 30
        assert held["holdfast.oldest_wait s"] == 0 and held["holdfast.lost{reason=taken}"] == 0
        assert held["holdfast.acquire_wait.count{result=granted}"] == 1 and held["holdfast.acquire_wait.sum{result=busy} s"] >= 0
        assert held["holdfast.acquire_wait.bucket{result=granted}{le=1}"] == 1
        assert held["holdfast.hold.bucket{le=+Inf}"] == held["holdfast.hold.bucket{le=0.001}"] == 0
        assert held[f"holdfast.connected{{node={client.node}}}"] == 1
        assert held[f"holdfast.build{{version={holdfast.__version__}}}"] == 1
        await now(hold.release())
        after = look()
        assert after["holdfast.holds"] == 0 and after["holdfast.hold.count"] == 1
        assert "holdfast.lowest_validity s" not in after, "it is infinite"
        await now(client.close())

    asyncio.run(story())


def test_opentelemetry_asks_each_client_once_for_a_collection(server, collected):
    meter, look = collected
    from holdfast.opentelemetry import observe

    client, other = holdfast.connect(server.url), holdfast.connect(server.url)
    metrics, asked = client.metrics, []
    client.metrics = lambda: asked.append(1) or metrics()
    observe(meter, orders=client, jobs=other)
    asked.clear()
    with client.lock("orders"), client.lock("more"), other.lock("jobs"):
        both = look()
    assert both["holdfast.holds{client=orders}"] == 2 and both["holdfast.holds{client=jobs}"] == 1
    assert look()["holdfast.holds{client=orders}"] == 0
    assert len(asked) == 2

    def fails():
        raise holdfast.Forked("the client belongs to the parent process", holdfast.Code.FORKED)

    client.metrics = fails
    assert look() == {}
    client.metrics = metrics
    assert look()["holdfast.holds{client=jobs}"] == 0
    with pytest.raises(TypeError, match="one client, or several"):
        observe(meter)
    client.close()
    other.close()


def test_without_opentelemetry_it_says_what_to_install():
    done = program("import sys; sys.modules['opentelemetry'] = None; import holdfast; import holdfast.opentelemetry")
    assert done.returncode == 1 and "pip install opentelemetry-api" in done.stderr


# ---- uvloop ----


@pytest.fixture
def uvloop():
    """All loops of a test are its loops."""
    found = pytest.importorskip("uvloop")
    before = asyncio.get_event_loop_policy()
    asyncio.set_event_loop_policy(found.EventLoopPolicy())
    yield found
    asyncio.set_event_loop_policy(before)


def test_uvloop_grants_waits_and_tells_of_a_loss(server, uvloop):
    async def story():
        assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
        async with aio.connect(server.url) as client, aio.connect(server.url) as other:
            lock, theirs = client.lock("orders"), other.lock("orders")
            hold = await lock.acquire()
            waiting = [asyncio.ensure_future(each.acquire()) for each in (theirs, lock)]
            assert await theirs.acquire(timeout=0.05) is None
            assert not any(each.done() for each in waiting)
            await hold.release()
            for each in asyncio.as_completed(waiting, timeout=SOON):
                granted = await each
                granted.raise_if_lost()
                await granted.release()
            told = False
            with pytest.raises(holdfast.LockLost):
                async with lock as hold:
                    losing = asyncio.ensure_future(hold.lost.wait())
                    server("FLUSHALL")
                    told = await asyncio.wait_for(losing, SOON)
            assert told

    asyncio.run(story())


@pytest.mark.parametrize("story", [test_edges.test_a_task_cancelled_at_any_step_leaves_nothing,
                                   test_edges.test_a_cancelled_task_takes_no_permit,
                                   test_edges.test_a_permit_that_comes_to_a_cancelled_task_goes_back,
                                   test_edges.test_a_cancelled_wait_ends_at_once,
                                   test_edges.test_wait_for_leaves_nothing,
                                   test_edges.test_one_client_serves_several_loops,
                                   test_kinds.test_leaders_of_asyncio], ids=lambda story: story.__name__)
def test_with_uvloop_too(server, uvloop, story):
    story(server)


@pytest.mark.parametrize("after", [0, 0.01, 0.1])
def test_a_uvloop_that_ends_first_gives_back(server, uvloop, after):
    test_edges.test_a_loop_that_ends_first_gives_back(server, after)


# ---- trio ----


def test_trio_is_refused_in_words(server):
    trio = pytest.importorskip("trio")
    client = aio.connect(server.url)
    lock, seats = client.lock("orders"), client.semaphore("seats")

    async def block():
        async with lock:
            pass

    for call in (client.ping, lock.acquire, block, seats.acquire, client.latch("gate").wait, client.close, client.probe):
        with pytest.raises(RuntimeError, match="asyncio.*trio"):
            trio.run(call)
    assert server.keys() == []
    asyncio.run(client.close())
