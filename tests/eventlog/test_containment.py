"""The twin's JSON containment and chain against PostgreSQL's own jsonb."""

import json
from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from baohuang.eventlog import chain
from baohuang.eventlog.containment import contains
from baohuang.eventlog.port import NewEvent, StreamId
from eventlog.commands import command

keys = st.sampled_from("ab")
scalars = st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["", "a", "1"])
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=2), max_leaves=6
)
anything = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
objects = st.dictionaries(
    anything, st.recursive(anything | st.integers() | st.booleans() | st.none(), st.lists, max_leaves=5), max_size=4
)


@pytest.fixture(scope="module")
def connection(database_dsn: str) -> Iterator[psycopg.Connection]:
    """Give a session to ask PostgreSQL on."""
    with psycopg.connect(database_dsn, autocommit=True) as opened:
        yield opened


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(document=documents, part=documents)
def test_containment_is_postgresqls(connection: psycopg.Connection, document: object, part: object) -> None:
    """`contains` says of any two documents what `@>` says."""
    left, right = json.dumps(document), json.dumps(part)
    row = connection.execute("select %s::jsonb @> %s::jsonb", (left, right)).fetchone()
    assert row == (contains(left.encode(), right.encode()),)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(data=objects)
def test_jsonb_keeps_the_hash(connection: psycopg.Connection, data: dict[str, object]) -> None:
    """Whatever `link` accepts hashes the same after PostgreSQL has stored it in its own way."""
    data.pop("hidden", None)
    text = json.dumps(data)
    row = connection.execute("select %s::jsonb::text", (text,)).fetchone()
    assert row is not None
    first, again = (
        command(StreamId("t"), events=(NewEvent("E", one.encode()),), request_id="r") for one in (text, row[0])
    )
    assert chain.link(first, [bytes(16)])[0].hash == chain.link(again, [bytes(16)])[0].hash
