"""What goes with other packages: each test is skipped where its package is not installed."""

import asyncio

import pytest

import holdfast
from conftest import now, program


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
