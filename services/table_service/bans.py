"""Bans: a player's own stream, decided and appended as a table's is, with the name that keeps him out claimed."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from baohuang.eventlog.chain import instant
from baohuang.eventlog.codec import encode
from baohuang.eventlog.port import (
    NO_HASH,
    NO_VERSION,
    Actor,
    Append,
    Appended,
    Duplicate,
    EventLog,
    EventLogError,
    NewEvent,
    RequestId,
    StoredEvent,
    StreamId,
    Version,
    VersionConflict,
)
from baohuang.rpc.errors import MalformedInput, Reason, Unavailable
from baohuang.rules.bans import SetBan, decide_ban, is_banned
from baohuang.rules.events import PlayerBanned
from baohuang.rules.refusals import RefusedError
from baohuang.rules.state import Instant, PlayerId
from table_service.claims import claims_of
from table_service.clock import DatabaseClock
from table_service.readable import events_in
from table_service.refusing import refusal_of


@dataclass(frozen=True, slots=True)
class BanRequest:
    """A SetBan as it came in; `digest` is that of its body."""

    operator: PlayerId
    request_id: RequestId
    digest: bytes
    player: PlayerId
    banned: bool
    note: str


@dataclass(frozen=True, slots=True)
class BanSet:
    """What it came to: version and hash of the event on the player's stream."""

    version: Version
    hash: bytes


def stream_of(player: PlayerId) -> StreamId:
    """Return the player's own stream; no table's id is like it."""
    return StreamId(f"player:{player}")


class Bans:
    """Sets and lifts bans."""

    def __init__(self, log: EventLog, clock: DatabaseClock) -> None:
        self._log = log
        self._clock = clock

    async def set_ban(self, request: BanRequest) -> BanSet:
        """Ban the player or lift his ban. Raises Refusal: WrongState (by the rules), MalformedInput, Unavailable."""
        try:
            while True:
                done = await self._try(request)
                if done is not None:
                    return done
        except EventLogError as error:
            raise Unavailable(Reason.LOG_UNAVAILABLE, "the event log did not answer: retry the same request") from error

    async def _try(self, request: BanRequest) -> BanSet | None:
        """Return what came of it, None if another command was first."""
        stored = await self._log.read_since_last(stream_of(request.player), PlayerBanned.__name__)
        try:
            append = self._decide(request, stored)
        except RefusedError as refused:
            duplicate = await self._log.find_request(Actor(request.operator), request.request_id)
            if duplicate is None:
                raise refusal_of(refused) from refused
            return await self._first_outcome(request, duplicate)
        match await self._log.append(append):
            case Appended(version, hash_):
                return BanSet(version, hash_)
            case Duplicate() as duplicate:
                return await self._first_outcome(request, duplicate)
            case VersionConflict():
                return None
            case outcome:
                raise RuntimeError(f"nothing of a player's stream keeps a ban from being appended: {outcome}")

    def _decide(self, request: BanRequest, stored: Sequence[StoredEvent]) -> Append:
        now = self._clock.now()
        banned = is_banned(events_in(stored))
        command = SetBan(request.player, request.banned, request.note, Instant(instant(now)))
        event = decide_ban(banned=banned, command=command)
        version = stored[-1].version if stored else NO_VERSION
        claims = claims_of((event,))
        return Append(
            stream_id=stream_of(request.player),
            expected_version=version,
            expected_hash=stored[-1].hash if stored else NO_HASH,
            events=(NewEvent(*encode(event)),),
            actor=Actor(request.operator),
            request_id=request.request_id,
            request_digest=request.digest,
            recorded_at=now,
            outcome=msgspec.json.encode({"player": request.player, "version": version + 1}),
            claims=tuple(claims.claims),
            releases=tuple(claims.releases),
        )

    async def _first_outcome(self, request: BanRequest, duplicate: Duplicate) -> BanSet:
        if duplicate.request_digest != request.digest:
            raise MalformedInput.field("request_id", "was used for another request", Reason.REQUEST_ID_REUSED)
        (last,) = await self._log.read_stream(duplicate.stream_id, Version(duplicate.version - 1), 1)
        return BanSet(last.version, last.hash)
