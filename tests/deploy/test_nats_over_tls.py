"""NATS as `production` has it: nodes with the configuration that the chart makes of our values, called as by pods."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from baohuang.embedded.ports import LOOPBACK
from baohuang.stream.address import NatsAddress
from baohuang.stream.connection import connect_to
from baohuang.stream.permissions import NatsUser
from baohuang.stream.port import StreamUnavailable
from baohuang.stream.streams import TABLE_STREAM
from baohuang.tls.files import Tls
from deploy import chart
from deploy.chart_nodes import Given, Node, nodes_given, secret_by, started_again
from deploy.pods import OPERATOR, Workload, workloads
from deploy.rendering import Combination
from deploy.tree import KUBERNETES, loaded
from eventually import eventually
from tls.authorities import Authority

OURS, OTHERS = Authority("ours"), Authority("others")
OF_THE_TREE: Final = loaded(KUBERNETES / "overlays/production/nats-values.yaml")
VALUES: Final = chart.valued(OF_THE_TREE)
MUTUAL: Final = chart.valued(OF_THE_TREE, loaded(KUBERNETES / "components/nats-mutual-tls/nats-values.yaml"))
IN_THE_CLEAR: Final = chart.valued(OF_THE_TREE, {"config": {"cluster": {"tls": {"enabled": False}}}})
CA: Final = "/etc/baohuang/nats/ca.crt"


def ours() -> Given:
    return Given(VALUES, secret_by(OURS))


@asynccontextmanager
async def cluster(folder: Path) -> AsyncIterator[list[Node]]:
    """Run three nodes, ready, each joined with the two others."""
    async with nodes_given(folder, *[ours()] * 3) as nodes:
        for node in nodes:
            await node.ready()
        yield list(nodes)


async def outcome(url: str, tls: Tls | None) -> str:
    """Connect and ask something; give "connected", or why not."""
    try:
        async with connect_to(NatsAddress(url, tls), "a test")() as client:
            await client.flush()
    except StreamUnavailable as error:
        return str(error)
    return "connected"


async def test_users_are_let_in_over_tls_and_no_other_way(folder: Path) -> None:
    """Each with the authority of the Secret, and none with another's word, the system's, or in the clear."""
    ca, other = OURS.written(folder / "ca.crt"), OTHERS.written(folder / "other.crt")
    async with cluster(folder) as nodes:
        for user in NatsUser:
            assert await outcome(nodes[0].url(user), Tls(ca)) == "connected"
        url = nodes[0].url(NatsUser.TABLE)
        for tls in (Tls(other), None):
            assert "the server's certificate: unable to get local issuer" in await outcome(url, tls)
        assert await outcome(nodes[0].url(NatsUser.TABLE, "nats"), None) != "connected"
        assert "Authorization" in await outcome(url.replace("p-table", "p-scoring"), Tls(ca))
        assert (await nodes[0].asked("/varz"))["tls_required"] is True
        assert await answer_in_the_clear(nodes[0]) == b""


async def answer_in_the_clear(node: Node) -> bytes:
    """Return what a node says to somebody who does not begin TLS after its greeting."""
    reader, writer = await asyncio.open_connection(LOOPBACK, node.pod.ports.clients)
    assert (await reader.readline()).startswith(b"INFO ")
    writer.write(b'CONNECT {"user": "table", "pass": "p-table", "verbose": true}\r\nPING\r\n')
    said = await reader.read()
    writer.close()
    return said


async def test_a_stream_is_filled_by_the_operators_pod(folder: Path, own_database_dsn: str) -> None:
    """`baohuang rebuild-stream`, told what its container is: on three servers, whose monitor tells it in the clear."""
    async with cluster(folder) as nodes:
        for node in nodes:
            assert await node.neighbours() == {other.pod.root.name for other in nodes} - {node.pod.root.name}
            assert (await node.asked("/varz"))["cluster"]["tls_required"] is True
        told = told_here(pod_named(OPERATOR), nodes[0].url(NatsUser.OPERATOR), folder)
        command = (sys.executable, "-m", "command_line", "rebuild-stream")
        running = await asyncio.create_subprocess_exec(
            *command, env={**told, "BAOHUANG_POSTGRES_DSN": own_database_dsn}
        )
        assert await running.wait() == 0
        (account,) = (await nodes[0].asked("/jsz?streams=true&config=true"))["account_details"]
        kept = {one["name"]: one["config"]["num_replicas"] for one in account["stream_detail"]}
        assert kept == {TABLE_STREAM.name: 3}


async def test_who_shows_no_certificate_is_let_in_no_more(folder: Path) -> None:
    """With the second file of values, which nodes take without a restart: who has a certificate stays, and comes."""
    ca, given = OURS.written(folder / "ca.crt"), ours()
    own, foreign = OURS.issue().written(folder / "own", ca), OTHERS.issue().written(folder / "foreign", ca)
    async with nodes_given(folder, given, given, given) as nodes:
        url = nodes[0].url(NatsUser.SCORING)
        await nodes[0].ready()
        async with connect_to(NatsAddress(url, own), "a test")() as client:
            assert await outcome(url, Tls(ca)) == "connected"
            await nodes[0].reload(Given(MUTUAL, given.secret))
            for tls in (Tls(ca), foreign):
                assert (await outcome(url, tls)).startswith("no connection to NATS")
            assert await outcome(url, own) == "connected"
            await client.flush()
            assert client.stats["reconnects"] == 0


def pod_named(name: str) -> Workload:
    (found,) = [one for one in workloads(Combination("production")) if one.name == name]
    return found


def told_here(workload: Workload, url: str, folder: Path) -> Mapping[str, str]:
    """Return what a container is told of NATS, with the files of its mounts written here, and its address."""
    told = {name: text for name, text in workload.told().items() if text is not None}
    ca = OURS.written(folder / "ca.crt")
    assert told["BAOHUANG_NATS_CA"] == CA
    return {**os.environ, **told, "BAOHUANG_NATS_CA": str(ca), "BAOHUANG_NATS_URL": url}


@pytest.mark.parametrize(
    "stranger",
    [Given(VALUES, secret_by(OTHERS)), Given(IN_THE_CLEAR, secret_by(OURS))],
    ids=["of another authority", "in the clear"],
)
async def test_who_shows_no_certificate_of_the_authority_is_no_node(folder: Path, stranger: Given) -> None:
    """The two others find each other, and turn it away."""
    async with nodes_given(folder, ours(), ours(), stranger) as nodes:

        async def turned_away() -> bool:
            return all("TLS route handshake error" in node.told for node in nodes[:2])

        async def joined() -> bool:
            return "nats-1" in await nodes[0].neighbours()

        await eventually(joined, 60)
        await eventually(turned_away, 60)
        assert [await node.neighbours() for node in nodes] == [{"nats-1"}, {"nats-0"}, set()]


async def test_a_renewed_secret_is_taken_without_a_restart(folder: Path) -> None:
    """Of another authority even, by the reloader's signal: who is connected stays, who comes is shown the new one."""
    ca, new = OURS.written(folder / "ca.crt"), OTHERS.written(folder / "new.crt")
    async with cluster(folder) as nodes:
        url = nodes[0].url(NatsUser.TABLE)
        async with connect_to(NatsAddress(url, Tls(ca)), "a test")() as client:
            for node in nodes:
                await node.reload(Given(VALUES, secret_by(OTHERS)))
                assert "Reloaded: tls" in node.told
            assert await outcome(url, Tls(new)) == "connected"
            assert "the server's certificate" in await outcome(url, Tls(ca))
            await client.flush()
            assert client.stats["reconnects"] == 0
            assert await nodes[0].neighbours() == {"nats-1", "nats-2"}
        async with started_again(nodes[2]) as last:
            assert await last.neighbours() == {"nats-0", "nats-1"}
