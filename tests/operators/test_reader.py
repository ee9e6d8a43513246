"""What an operator's session may do: read the views, and nothing else; nor see by any trick what they keep back."""

from collections.abc import Iterator, Sequence

import asyncpg
import psycopg
import pytest

from baohuang.eventlog.port import StoredEvent
from operators.test_views import VIEWS

CHANGES = [
    "insert into history.events (position) values (1)",
    "update history.hands set hand = 7",
    "delete from history.fines",
    "truncate eventlog.events",
    "delete from eventlog.events",
    "update eventlog.heads set version = 1",
    "create table history.mine ()",
    "create table eventlog.mine ()",
    "create table public.mine ()",
    "create schema mine",
    "create or replace view history.fines as select 1 as stream_id",
    "alter view history.events reset (security_barrier)",
    "drop view history.events",
    "grant select on eventlog.events to baohuang_reader",
    "grant baohuang_app to baohuang_reader",
    "alter role baohuang_reader superuser",
    "alter role baohuang_reader set search_path to eventlog",
    "set session_replication_role = replica",
    "copy history.fines to program 'cat'",
    "copy history.fines to '/tmp/fines'",
    "select pg_read_file('postgresql.conf')",
    "select pg_ls_dir('.')",
    "select lo_import('/etc/hostname')",
    "select pg_switch_wal()",
    "alter system set fsync = off",
    "create extension dblink",
    "create policy mine on eventlog.events using (true)",
    "create statistics history.mine on position, version from eventlog.events",
    "create function history.mine() returns integer language sql as 'select 1'",
    "create rule mine as on select to history.events do instead select 1",
]
SEEN_EARLY = {
    "a function that costs nothing": "select count(*) from history.{view} as v where pg_temp.seen(v::text)",
    "one of a column": "select count(*) from history.events where pg_temp.seen(data::text)",
    "one behind what filters": (
        "select count(*) from history.events where stream_id = 'table-open' and pg_temp.seen(data::text)"
    ),
    "one in an order": "select 1 from history.{view} as v order by pg_temp.seen(v::text)",
    "one in a grouping": "select count(*) from history.{view} as v group by pg_temp.seen(v::text)",
    "one in a join": (
        "select 1 from history.{view} as v join history.events as e on pg_temp.seen(e::text)"
        " where v.stream_id = e.stream_id and e.stream_id = 'table-open' limit 5"
    ),
    "one in an aggregate": "select count(*) filter (where pg_temp.seen(v::text)) from history.{view} as v",
    "one over documents": (
        "select count(*) from history.events where pg_temp.seen(jsonb_path_query_array(data, '$.**')::text)"
    ),
}


@pytest.fixture
def superuser(week_dsn: str) -> Iterator[psycopg.Connection]:
    """Give a session that may look at everything."""
    with psycopg.connect(week_dsn) as connection:
        yield connection


@pytest.fixture
async def curious(reader: asyncpg.Connection) -> asyncpg.Connection:
    """Give an operator's session that tells itself of every text that a function of its own is run on."""
    await reader.execute("""
        create function pg_temp.seen(text) returns boolean language plpgsql cost 0.0000001 as $$
        begin raise notice '%', $1; return true; end $$
    """)
    return reader


@pytest.fixture
def secrets(week: Sequence[StoredEvent]) -> list[str]:
    """Give what the hand that is still played hides: texts of which none may be seen."""
    hidden = [one for one in week if one.stream_id == "table-open"]
    salts = [one.salt.hex() for one in hidden]
    return [*salts, *(one.request_id for one in hidden), *_seeds(hidden)]


def _seeds(hidden: Sequence[StoredEvent]) -> Iterator[str]:
    for one in hidden:
        if one.type in {"SeedCommitted", "HandStarted"}:
            yield one.data.decode().partition('"seed": "')[2][:64]


async def test_views_can_be_read(reader: asyncpg.Connection) -> None:
    """All of them."""
    for view in VIEWS:
        assert await reader.fetchval(f"select count(*) from history.{view}") > 0, view  # noqa: S608 - names above


def test_no_other_relation_can_be(superuser: psycopg.Connection) -> None:
    """Whatever this system has in its schemas but the views: not even to be named, let alone read."""
    grants = superuser.execute("""
        select c.oid::regclass::text, p.privilege
        from pg_class as c cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references',
                                                   'trigger']) as p (privilege)
        where c.relkind in ('r', 'v', 'm', 'f', 'p')
            and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
            and has_table_privilege('baohuang_reader', c.oid, p.privilege)
    """).fetchall()
    assert sorted(grants) == sorted((f"history.{view}", "select") for view in VIEWS)
    schemas = superuser.execute("""
        select nspname from pg_namespace
        where nspname !~ '^(pg_|information_schema|public)' and has_schema_privilege('baohuang_reader', oid, 'usage')
            or has_schema_privilege('baohuang_reader', oid, 'create')
    """).fetchall()
    assert schemas == [("history",)]


def test_nor_function(superuser: psycopg.Connection) -> None:
    """No function of this system can be called: those of the log write."""
    callable_ = superuser.execute("""
        select p.oid::regprocedure::text from pg_proc as p
        where p.pronamespace::regnamespace::text !~ '^(pg_|information_schema)'
            and has_schema_privilege('baohuang_reader', p.pronamespace, 'usage')
    """).fetchall()
    assert callable_ == []


async def test_each_relation_is_refused(reader: asyncpg.Connection, superuser: psycopg.Connection) -> None:
    """Tried, not only looked up: every table and view of every schema of this system."""
    names = superuser.execute("""
        select format('%I.%I', relnamespace::regnamespace, relname) from pg_class
        where relkind in ('r', 'v', 'S') and relnamespace::regnamespace::text !~ '^(pg_|information_schema|history)'
    """).fetchall()
    assert len(names) > 20
    for (name,) in names:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await reader.execute(f"select from {name}")


@pytest.mark.parametrize("statement", CHANGES)
async def test_nothing_can_be_changed(reader: asyncpg.Connection, statement: str) -> None:
    """Neither what is recorded nor who may see it, nor can files or programs be reached."""
    with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.ObjectNotInPrerequisiteStateError)):
        await reader.execute(statement)


async def test_the_catalog_tells_nothing_of_values(reader: asyncpg.Connection) -> None:
    """What the planner has counted is not for this role: common values would be among it."""
    assert (
        await reader.fetchval(
            "select count(*) from pg_stats where schemaname not in ('pg_catalog', 'information_schema')"
        )
        == 0
    )
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await reader.execute("select stavalues1 from pg_statistic")


@pytest.mark.parametrize("how", SEEN_EARLY.values(), ids=SEEN_EARLY)
async def test_nothing_hidden_is_seen_early(curious: asyncpg.Connection, secrets: Sequence[str], how: str) -> None:
    """A function that is run on rows before any filter, as the planner likes cheap ones to be, sees nothing hidden."""
    seen: list[str] = []
    curious.add_log_listener(lambda _, message: seen.append(str(message)))
    for view in VIEWS if "{view}" in how else ("events",):
        await curious.execute(how.replace("{view}", view))
    assert seen
    every = "\n".join(seen)
    assert [secret for secret in secrets if secret in every] == []


async def test_errors_tell_nothing_hidden(reader: asyncpg.Connection, secrets: Sequence[str]) -> None:
    """A cast that fails tells what it failed on: what the view shows, and no more."""
    text = "select count(*) from history.events where stream_id = 'table-open' and ({}::text)::integer = 1"
    with pytest.raises(asyncpg.InvalidTextRepresentationError) as caught:
        await reader.fetchval(text.format("data"))
    assert [secret for secret in secrets if secret in str(caught.value)] == []
    for column in ("salt", "request_id"):
        assert await reader.fetchval(text.format(column)) == 0


async def test_hidden_shows_when_the_hand_is_over(reader: asyncpg.Connection) -> None:
    """And in the same view, what is hidden of a hand that is over can be had, to check the record with."""
    count = "select count(*) from history.events where data ? 'hidden' and {}"
    assert await reader.fetchval(count.format("stream_id <> 'table-open'")) > 100
    assert await reader.fetchval(count.format("stream_id = 'table-open'")) == 0


def test_only_barriers_read_what_may_be_hidden(superuser: psycopg.Connection) -> None:
    """A view that names the hidden part, salts or request ids is a barrier, or reads one that is."""
    loose = superuser.execute("""
        select viewname from pg_views as v join pg_class as c on c.oid = format('history.%I', v.viewname)::regclass
        where schemaname = 'history' and definition ~ '(hidden|salt|request_id)'
            and not coalesce(c.reloptions @> array['security_barrier=true'], false)
    """).fetchall()
    assert loose == []
