"""Checking one's own game with the SDK and nothing but public data; and what a service that lies cannot hide."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from audit.forging import Forger, _hashed, first_of, with_fields
from baohuang.audit.findings import Check
from baohuang.client import (
    CheckedGame,
    DevelopmentIdentity,
    EventsSought,
    GameCheck,
    HistoryClient,
    RecordedEvent,
    connect,
    connect_history,
)
from baohuang.eventlog.chain import digest_of
from baohuang.eventlog.codec import decode
from baohuang.eventlog.port import Actor, EventLog, RequestId, StoredEvent, StreamId, Version
from baohuang.rules import events as ev
from baohuang.rules.state import PlayerId, TableId
from bench.random_player import chance_of
from history_service.serving import Caller
from tables.games import Game, started
from tables.replicas import Replica

Change = Callable[[list[StoredEvent]], Sequence[StoredEvent]]


@pytest.fixture
async def client(spectator: Caller) -> AsyncIterator[HistoryClient]:
    """Give the SDK's client of somebody who plays nowhere."""
    async with connect_history(spectator.address, DevelopmentIdentity(PlayerId("spectator"))) as connected:
        yield connected


async def two_hands(service: Replica) -> Game:
    """Play a hand, and begin another."""
    game, chance = await started(service, "homy-weihai"), chance_of("check game")
    await game.play(chance)
    await game.all_ready()
    for _ in range(12):
        await game.step(chance)
    return game


async def test_an_honest_game_is_found_to_be_so(service: Replica, client: HistoryClient) -> None:
    """Finished hands are decided and dealt again, the one that is played followed by its chain, to the hash shown."""
    game = await two_hands(service)
    async with connect(service.address, DevelopmentIdentity(PlayerId("spectator"))) as tables:
        seen = await tables.get_table(TableId(game.table_id))
    checked = await client.check_game(TableId(game.table_id), {seen.version: seen.hash})
    assert checked.findings == ()
    assert (checked.version, checked.hash, checked.hands) == (seen.version, seen.hash, 1)
    second = [one.version for one in await game.events() if one.type == "HandStarted"][1]
    assert checked.decided_until == second - 1


async def test_a_hand_that_ends_meanwhile_is_checked_as_well(service: Replica, client: HistoryClient) -> None:
    """Again and again while a hand is played to its end: nothing is ever found."""
    game, chance = await two_hands(service), chance_of("to the end")
    playing = asyncio.create_task(game.play(chance))
    checked = None
    while not playing.done():
        checked = await client.check_game(TableId(game.table_id))
        assert checked.findings == ()
    await playing
    checked = await client.check_game(TableId(game.table_id))
    assert (checked.findings, checked.hands) == ((), 2)
    assert checked.decided_until == checked.version


def changed(kind: type[ev.Event], **fields: Any) -> Change:
    """Give what changes the first event of a kind."""

    def change(events: list[StoredEvent]) -> list[StoredEvent]:
        place = first_of(events, kind)
        events[place] = with_fields(events[place], **fields)
        return events

    return change


def without(kind: type[ev.Event]) -> Change:
    """Give what takes out the first event of a kind."""

    def change(events: list[StoredEvent]) -> list[StoredEvent]:
        del events[first_of(events, kind)]
        return events

    return change


def dealt_otherwise(events: list[StoredEvent]) -> list[StoredEvent]:
    """Swap two cards of two hands before anybody saw them."""
    place = first_of(events, ev.CardsDealt)
    dealt: Any = decode(events[place].type, events[place].data)
    (a, *_), (b, *_) = dealt.hidden.hands[0].cards, dealt.hidden.hands[1].cards
    hands = list(dealt.hidden.hands)
    hands[0] = replace(hands[0], cards=tuple(sorted((b, *hands[0].cards[1:]))))
    hands[1] = replace(hands[1], cards=tuple(sorted((a, *hands[1].cards[1:]))))
    events[place] = with_fields(events[place], hidden=replace(dealt.hidden, hands=tuple(hands)))
    return events


FORGERIES: dict[str, tuple[Change, Check]] = {
    "points": (changed(ev.HandFinished, points=(8, 8, 8, -12, -12)), Check.COMMAND),
    "a card": (changed(ev.CardsPlayed, left=1), Check.COMMAND),
    "a seed": (changed(ev.HandFinished, seeds=("00" * 32,)), Check.DEAL),
    "a deal": (dealt_otherwise, Check.DEAL),
    "a player": (changed(ev.PlayerSat, player=PlayerId("zoe")), Check.COMMAND),
    "a pass left out": (without(ev.Passed), Check.COMMAND),
}


async def listed(client: HistoryClient, game: Game) -> list[RecordedEvent]:
    """Return what is shown of a game."""
    return [event async for event in client.stream(EventsSought(StreamId(game.table_id)))]


def check(game: Game, events: Sequence[RecordedEvent], shown: dict[Version, bytes] | None = None) -> CheckedGame:
    """Check events as they were told."""
    made = GameCheck(TableId(game.table_id), shown or {})
    for event in events:
        made.take(event)
    return made.checked()


async def test_a_changed_message_breaks_the_chain(service: Replica, client: HistoryClient) -> None:
    """Whatever is changed of an event as it is told, without making all hashes anew."""
    game = await two_hands(service)
    events = await listed(client, game)
    assert check(game, events).findings == ()
    play = next(index for index, event in enumerate(events) if event.type == "CardsPlayed")
    deal = next(index for index, event in enumerate(events) if event.type == "CardsDealt")
    one = events[play]
    for place, other in (
        (play, replace(one, event=replace(one.event, left=1))),  # type: ignore[type-var] # a dataclass
        (play, replace(one, actor=Actor("zoe"))),
        (play, replace(one, table_id=StreamId("another"))),
        (play, replace(one, version=Version(one.version + 1))),
        (play, replace(one, hash=bytes(32))),
        (play, replace(one, hidden_digest=bytes(32))),
        (play, replace(one, salt=bytes(16))),
        (play, replace(one, event=None)),
        (deal, replace(events[deal], event=replace(events[deal].event, hidden=None))),  # type: ignore[type-var]
        (len(events) - 1, replace(events[-1], hidden_digest=bytes(32))),
        (len(events) - 1, replace(events[-1], actor=Actor("zoe"))),
    ):
        found = check(game, [*events[:place], other, *events[place + 1 :]]).findings
        assert Check.CHAIN in {finding.check for finding in found}, other
        assert found[0].version in {events[place].version, events[place].version + 1}
    assert check(game, events[1:]).findings[0].check is Check.CHAIN


async def test_a_record_made_anew_does_not_follow_the_rules(service: Replica, client: HistoryClient) -> None:
    """All hashes and digests right again: that which was forged does not follow, or is not what was shown."""
    game = await two_hands(service)
    events = await listed(client, game)
    stored = list(await game.events())
    shown = {events[-1].version: events[-1].hash}
    for name, (change, wanted) in FORGERIES.items():
        lied = made_anew(events, change(list(stored)))
        assert wanted in {finding.check for finding in check(game, lied).findings}, name
        assert Check.HEAD in {finding.check for finding in check(game, lied, shown).findings}, name
    cut = check(game, events[:-5], shown)
    assert [finding.check for finding in cut.findings] == [Check.HEAD]
    closed = [replace(event, salt=b"", request_id="") for event in events]  # type: ignore[arg-type]
    assert any("kept back" in finding.message for finding in check(game, closed).findings)


async def test_whatever_is_kept_back_of_a_finished_hand_is_named(service: Replica, client: HistoryClient) -> None:
    """An event of every type that comes without a whole salt, with or without what it hides."""
    events = await listed(client, await two_hands(service))
    last = next(one.version for one in events if one.type == "HandFinished")
    for place in {event.type: place for place, event in enumerate(events[:last])}.values():
        one: Any = events[place]
        bare = replace(one.event, hidden=None) if hasattr(one.event, "hidden") else one.event
        for other in (
            replace(one, salt=b"", request_id=RequestId("")),
            replace(one, salt=b"", hidden_digest=bytes(32)),
            replace(one, salt=b"", event=bare),
            replace(one, salt=one.salt[:-1]),
        ):
            found = findings_of([*events[:place], other, *events[place + 1 :]])
            assert (Check.EVENT, one.version, "its hand is over, and its salt is kept back") in found, other
    assert findings_of(events) == set()


def findings_of(events: Sequence[RecordedEvent]) -> set[tuple[Check, Version, str]]:
    """Check events as they were told, and give what is found."""
    made = GameCheck(TableId(events[0].table_id), {})
    for event in events:
        made.take(event)
    return {(one.check, one.version, one.message) for one in made.checked().findings}


async def test_other_cards_behind_a_digest_that_is_not_opened(service: Replica, client: HistoryClient) -> None:
    """A deal of other cards, all hashes made anew behind it, of which the service gives no salt."""
    game = await two_hands(service)
    events = await listed(client, game)
    lied = made_anew(events, dealt_otherwise(list(await game.events())))
    place = next(index for index, event in enumerate(events) if event.type == "CardsDealt")
    lied[place] = replace(lied[place], event=events[place].event, salt=b"")
    found = [one for one in check(game, lied).findings if one.version == place + 1]
    assert any("kept back" in one.message for one in found)


def test_a_service_that_tells_nothing_is_found_out() -> None:
    """No table is without an event."""
    for shown in ({}, {Version(3): bytes(32)}):
        checked = GameCheck(TableId("a table"), shown).checked()
        assert "there is no event" in checked.findings[0].message
        assert [one.version for one in checked.findings] == [0, *shown]


def made_anew(events: Sequence[RecordedEvent], stored: Sequence[StoredEvent]) -> list[RecordedEvent]:
    """Return what is told of forged events, numbered and hashed anew; what is hidden of the last hand stays so."""
    last_open = max(event.version for event in events if event.salt)
    told, previous = [], bytes(32)
    for version, one in enumerate(stored, 1):
        made = _hashed(structs.replace(one, version=Version(version)), previous)
        previous, is_open = made.hash, one.version <= last_open
        event: Any = decode(made.type, made.data)
        if not is_open and hasattr(event, "hidden"):
            event = replace(event, hidden=None)
        told.append(
            RecordedEvent(
                made.position,
                made.stream_id,
                made.version,
                made.hash,
                digest_of(made),
                made.recorded_at,
                made.actor,
                made.type,
                event,
                made.salt if is_open else b"",
                made.request_id if is_open else "",  # type: ignore[arg-type]
            )
        )
    return told


async def test_a_service_over_a_forged_log_is_found_out(
    service: Replica, client: HistoryClient, log: EventLog, own_database_dsn: str
) -> None:
    """Over gRPC: a forger with all rights on the database, who makes every hash and head anew."""
    game = await started(service)
    await game.play(chance_of("forged"))
    superuser = await asyncpg.connect(own_database_dsn)
    try:
        await superuser.execute("set session_replication_role = replica")
        await Forger(superuser, log).rewrite(StreamId(game.table_id), FORGERIES["points"][0])
    finally:
        await superuser.close()
    checked = await client.check_game(TableId(game.table_id))
    assert {finding.check for finding in checked.findings} == {Check.COMMAND}
    assert "points" in checked.findings[0].message
