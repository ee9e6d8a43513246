"""What a superuser changes in the database is found, named, and placed: with the hashes made anew, too."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from audit.forging import Forger, first_of, with_fields
from audit.honest import Play, banned, recorded
from baohuang.audit.findings import Check, Finding
from baohuang.audit.log import LogAudit
from baohuang.audit.survey import open_survey
from baohuang.eventlog.chain import instant
from baohuang.eventlog.codec import decode, encode
from baohuang.eventlog.port import Actor, RequestId, StoredEvent, StreamId
from baohuang.eventlog.postgres.log import PostgresLog, open_log
from baohuang.rules import events as ev
from baohuang.rules.state import TableId
from databases import Server

Events = list[StoredEvent]
Change = Callable[[Events], Sequence[StoredEvent]]
HONEST = StreamId("honest")
PLAYED = StreamId("played")


@pytest.fixture(scope="module")
def played_database(postgres_server: Server, template_database: str) -> Iterator[str]:
    """Give the name of a database with two tables and a player's bans, to copy and never to connect to."""
    with postgres_server.database(template_database) as name:
        asyncio.run(play_all(postgres_server.dsn_of(name)))
        yield name


async def play_all(dsn: str) -> None:
    """Play at two tables and ban a player."""
    async with open_log(dsn) as log:
        await recorded(log, Play(TableId(PLAYED), "homy-qingdao", 1, restless=0.05), hands=2)
        await recorded(log, Play(TableId(HONEST), "ourgame-simple", 1), hands=1)
        await banned(log, "an", 3)


@pytest.fixture
def verified(log: PostgresLog, dsn: str) -> Callable[[], Awaitable[list[Finding]]]:
    """Give the verification of the whole log."""

    async def findings() -> list[Finding]:
        async with open_survey(dsn) as survey:
            return [finding async for finding in LogAudit(log).whole(survey)]

    return findings


Verified = Callable[[], Awaitable[list[Finding]]]


async def test_an_honest_log_is_found_to_be_so(log: PostgresLog, verified: Verified) -> None:
    """Nothing is found before anything is changed."""
    assert await verified() == []


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ("""update eventlog.events set data = data || '{{"left": 1}}' where {there}""", Check.CHAIN),
        ("update eventlog.events set salt = decode(repeat('00', 16), 'hex') where {there}", Check.CHAIN),
        ("update eventlog.events set actor = 'somebody' where {there}", Check.CHAIN),
        ("update eventlog.events set request_id = 'another' where {there}", Check.CHAIN),
        ("update eventlog.events set recorded_at = recorded_at + interval '1 microsecond' where {there}", Check.CHAIN),
        ("delete from eventlog.events where {there}", Check.CHAIN),
        ("update eventlog.events set position = position + 100000 where {there}", Check.POSITIONS),
    ],
)
async def test_a_changed_event(
    log: PostgresLog, superuser: asyncpg.Connection, verified: Verified, change: str, check: Check
) -> None:
    """A changed byte anywhere, a removed event, one that was moved: the version is named, and nobody else's stream."""
    events = await log.read_stream(PLAYED, limit=100_000)
    version = events[first_of(events, ev.CardsPlayed)].version
    there = f"stream_id = '{PLAYED}' and version = {version}"
    await superuser.execute(change.format(there=there))
    found = await verified()
    named = [one for one in found if one.check is check and one.stream_id == PLAYED]
    assert [one.version for one in named][:1] == [version + (check is Check.POSITIONS)]
    assert not [one for one in found if one.stream_id == HONEST]


async def test_swapped_events(superuser: asyncpg.Connection, verified: Verified) -> None:
    """Two events that changed places are found at the first of them."""
    for old, new in ((40, 9999), (41, 40), (9999, 41)):
        await superuser.execute(
            "update eventlog.events set version = $3 where stream_id = $1 and version = $2", PLAYED, old, new
        )
    found = await verified()
    assert (Check.CHAIN, PLAYED, 40) in [(one.check, one.stream_id, one.version) for one in found]
    assert (Check.POSITIONS, PLAYED, 41) in [(one.check, one.stream_id, one.version) for one in found]


async def test_a_cut_tail(superuser: asyncpg.Connection, verified: Verified) -> None:
    """Events cut off behind a version are missed at it, and their positions as holes of the log."""
    await superuser.execute("delete from eventlog.events where stream_id = $1 and version > 50", PLAYED)
    found = await verified()
    assert (Check.HEAD, 50) in [(one.check, one.version) for one in found if one.stream_id == PLAYED]
    assert Check.POSITIONS in {one.check for one in found}


async def test_a_cut_tail_with_its_head(superuser: asyncpg.Connection, verified: Verified) -> None:
    """Where the head was set back as well, the holes still tell that there was more, and what lists are made from."""
    await superuser.execute("delete from eventlog.events where stream_id = $1 and version > 50", PLAYED)
    await superuser.execute(
        "update eventlog.heads as h set version = 50, hash = e.hash from eventlog.events as e "
        "where h.stream_id = $1 and e.stream_id = $1 and e.version = 50",
        PLAYED,
    )
    assert {one.check for one in await verified()} == {Check.POSITIONS, Check.LIST}


async def test_a_removed_stream(superuser: asyncpg.Connection, verified: Verified) -> None:
    """A stream without events, without a head, and without both; rulings of it that are listed still are found."""
    await superuser.execute("delete from eventlog.heads where stream_id = $1", HONEST)
    assert [(one.check, one.stream_id) for one in await verified()] == [(Check.HEAD, HONEST)]
    await superuser.execute("delete from eventlog.events where stream_id in ($1, $2)", HONEST, PLAYED)
    found = await verified()
    assert (Check.HEAD, PLAYED, 0) in [(one.check, one.stream_id, one.version) for one in found]
    assert {one.check for one in found if one.stream_id != PLAYED} == {Check.POSITIONS, Check.LIST}


async def test_events_behind_the_counter(superuser: asyncpg.Connection, verified: Verified) -> None:
    """A counter that was set back is found: the next append would give a position twice."""
    await superuser.execute("update eventlog.counter set last_position = last_position - 1")
    assert [one.check for one in await verified()] == [Check.POSITIONS]


def changed(kind: type[ev.Event], **changes: Any) -> Change:
    """Have the first event of a kind say something else."""

    def change(events: Events) -> Events:
        place = first_of(events, kind)
        return [*events[:place], with_fields(events[place], **changes), *events[place + 1 :]]

    return change


def dealt_otherwise(events: Events) -> Events:
    """Swap two cards of two players, as whoever deals himself good ones would."""
    dealt: Any = event_at(events, first_of(events, ev.CardsDealt))
    one, other, *rest = dealt.hidden.hands
    swapped = (
        replace(one, cards=other.cards[:1] + one.cards[1:]),
        replace(other, cards=one.cards[:1] + other.cards[1:]),
    )
    return list(changed(ev.CardsDealt, hidden=ev.HiddenHands((*swapped, *rest)))(events))


def left_out(kind: type[ev.Event]) -> Change:
    """Leave the first event of a kind out."""
    return lambda events: [event for place, event in enumerate(events) if place != first_of(events, kind)]


def first_move(events: Events) -> int:
    """Return the index of the first play that a player made himself: the beginning of a command."""
    made = range(first_of(events, ev.CardsPlayed), len(events))
    return next(place for place in made if _is_own_play(event_at(events, place)))


def _is_own_play(event: ev.Event) -> bool:
    return isinstance(event, ev.CardsPlayed) and not event.automatic


def fined_for_nothing(events: Events) -> Events:
    """Fine whoever is about to play, in the name of an operator."""
    place = first_move(events)
    played: Any = event_at(events, place)
    fined: Any = event_at(events, first_of(events, ev.PlayerFined))
    type_, data = encode(replace(fined, seat=played.seat, decided_at=instant(events[place].recorded_at)))
    forged = structs.replace(events[place], type=type_, data=data, request_id=RequestId("forged"), actor=Actor("olga"))
    return [
        *events[:place],
        forged,
        *(structs.replace(one, position=one.position + 1_000_000) for one in events[place:]),
    ]


def by_somebody_else(events: Events) -> Events:
    """Have somebody else make a player's play."""
    place = first_move(events)
    return [*events[:place], structs.replace(events[place], actor=Actor("olga")), *events[place + 1 :]]


def event_at(events: Events, place: int) -> ev.Event:
    """Return the event at an index."""
    return decode(events[place].type, events[place].data)


@pytest.mark.parametrize(
    ("change", "check", "kind", "clause", "told"),
    [
        (changed(ev.HandFinished, points=(5, -5, 0, 0, 0)), Check.COMMAND, ev.HandFinished, "", "points"),
        (changed(ev.TrusteeshipEntered, rests_on=(1,)), Check.RULING, ev.TrusteeshipEntered, "TRUST-1", "rests_on"),
        (changed(ev.TrusteeshipEntered, entry=3), Check.RULING, ev.TrusteeshipEntered, "TRUST-1", "entry 3"),
        (changed(ev.PlayerFined, points=-400), Check.RULING, ev.PlayerFined, "FINE-3", "points -400 is recorded"),
        (changed(ev.PlayerFined, rule="FINE-9"), Check.RULING, ev.PlayerFined, "FINE-3", "rule 'FINE-9'"),
        (changed(ev.TurnExtended, seats=(0, 1)), Check.RULING, ev.TurnExtended, "TRUST-5", "seats (0, 1) is recorded"),
        (changed(ev.CardsPlayed, left=1), Check.COMMAND, ev.CardsPlayed, "", "left 1 is recorded"),
        (changed(ev.SeedCommitted, commitment="00" * 32), Check.DEAL, ev.SeedCommitted, "", "commitment"),
        (dealt_otherwise, Check.DEAL, ev.CardsDealt, "FAIR-1", "was not dealt what seed and entropy give"),
        (
            left_out(ev.TrusteeshipMadePermanent),
            Check.RULING,
            ev.TrusteeshipMadePermanent,
            "FINE-2",
            "TrusteeshipMadePermanent follows",
        ),
    ],
    ids=lambda value: value.__name__ if hasattr(value, "__name__") else None,
)
async def test_what_does_not_follow(  # noqa: PLR0917 - fixtures and parameters
    log: PostgresLog,
    superuser: asyncpg.Connection,
    verified: Verified,
    change: Change,
    check: Check,
    kind: type[ev.Event],
    clause: str,
    told: str,
) -> None:
    """Points, rulings, moves and deals that were changed with all hashes made anew: deciding again finds them."""
    version = first_of(list(await log.read_stream(PLAYED, limit=100_000)), kind) + 1
    await Forger(superuser, log).rewrite(PLAYED, change)
    found = [one for one in await verified() if one.check is not Check.POSITIONS]
    assert not [one for one in found if one.check in {Check.CHAIN, Check.HEAD}]
    assert (check, PLAYED, version, clause) in [(one.check, one.stream_id, one.version, one.clause) for one in found]
    assert [one for one in found if told in one.message]
    assert min(one.version for one in found) == version


async def test_a_ruling_out_of_nothing(log: PostgresLog, superuser: asyncpg.Connection, verified: Verified) -> None:
    """A fine inserted, with all hashes made anew: nothing that a table records comes of it, and it is named."""
    version = first_move(list(await log.read_stream(PLAYED, limit=100_000))) + 1
    await Forger(superuser, log).rewrite(PLAYED, fined_for_nothing)
    rulings = [one for one in await verified() if one.check is Check.RULING]
    assert version <= rulings[0].version <= version + 1


async def test_a_play_by_somebody_else(log: PostgresLog, superuser: asyncpg.Connection, verified: Verified) -> None:
    """A play in the name of who does not play is found, though the cards and all hashes are right."""
    version = first_move(list(await log.read_stream(PLAYED, limit=100_000))) + 1
    await Forger(superuser, log).rewrite(PLAYED, by_somebody_else)
    (found,) = await verified()
    assert (found.check, found.version, found.clause) == (Check.COMMAND, version, "TABLE-1")
    assert "by olga could not come about" in found.message


async def test_a_ban_that_does_not_follow(superuser: asyncpg.Connection, log: PostgresLog, verified: Verified) -> None:
    """A player's own stream is decided again as well: who is banned cannot be banned."""
    stream_id = StreamId("player:an")
    await Forger(superuser, log).rewrite(
        stream_id, lambda events: [events[0], structs.replace(events[0], position=events[1].position), events[2]]
    )
    found = [one for one in await verified() if one.stream_id == stream_id and one.check is Check.RULING]
    assert [(one.version, one.clause) for one in found] == [(2, "RULE-1")]


async def test_what_is_no_event(superuser: asyncpg.Connection, log: PostgresLog, verified: Verified) -> None:
    """Data that no event has is found as that; the next hand is judged again."""
    place = first_of(list(await log.read_stream(PLAYED, limit=100_000)), ev.CardsPlayed)
    data = b'{"seat":"first"}'
    await Forger(superuser, log).rewrite(
        PLAYED, lambda events: [*events[:place], structs.replace(events[place], data=data), *events[place + 1 :]]
    )
    assert [(one.check, one.version) for one in await verified()] == [(Check.EVENT, place + 1)]


async def test_only_what_is_recent(log: PostgresLog, superuser: asyncpg.Connection, dsn: str) -> None:
    """With a moment given, streams that ended before it are passed over, and those that go on are verified whole."""
    await superuser.execute("update eventlog.events set actor = 'x' where stream_id <> 'player:an' and version = 3")
    await superuser.execute("update eventlog.events set actor = 'x' where stream_id = 'player:an' and version = 1")
    last = max(event.recorded_at for event in await log.read_stream(PLAYED, limit=100_000))
    async with open_survey(dsn) as survey:
        audit = LogAudit(log)
        found = {one.stream_id async for one in audit.whole(survey, last)}
    assert PLAYED in found
    assert StreamId("player:an") not in found
