"""A crowd at one table after another: players, spectators and an operator who do anything at all, over two replicas.

They see what they are sent and act on it, or on what they last saw. Time goes on when the crowd says so, the log
loses answers, one replica's clock runs ahead.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

import grpc

from baohuang.eventlog.port import Append, Appended, EventLog, OutcomeUnknown, StreamId, Version
from baohuang.gen.rules.v1 import ruleset_pb2
from baohuang.gen.table.v1 import moves_pb2, table_view_pb2
from baohuang.gen.table.v1 import table_service_pb2 as pb
from baohuang.rules import commands as cmd
from baohuang.rules.cards import SWORD
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.state import Answer, PlayerId, Table, TableStatus, in_progress, seat_of
from bench.random_player import RandomPlayer, chance_of, illegal_line, mood_of
from tables.clients import Client, act, fresh, ready, sit, stand
from tables.ledger import Ledger
from tables.logs import FrontLog
from tables.replicas import Replica
from tables.viewers import Viewer

NAMES = ("an", "bo", "cai", "du", "en", "fa")
"""Six who want five seats."""
TURN_SECONDS = 5
_DOUBTFUL_MOVES = (cmd.Pass(), cmd.Enthrone(), cmd.Yield(), cmd.Play((SWORD,)), cmd.Declare(Answer.REVOLT))
_CUT = {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE}
"""How a stream may end that its viewer did not end: too long open, or the log away."""


class Weather(FrontLog):
    """Keeps the true time of every append, and loses some answers after the commit while `losing`."""

    def __init__(self, behind: EventLog, now: Callable[[], datetime], dice: Random) -> None:
        super().__init__(behind)
        self.losing = 0.0
        self.appended_at: dict[tuple[StreamId, Version], datetime] = {}
        self._now = now
        self._dice = dice

    async def append(self, command: Append) -> Any:
        """Append; raise OutcomeUnknown now and then."""
        outcome = await self.behind.append(command)
        if isinstance(outcome, Appended):
            self.appended_at.update({(one.stream_id, one.version): self._now() for one in outcome.events})
        if self._dice.random() < self.losing:
            raise OutcomeUnknown("the connection was lost")
        return outcome


@dataclass(slots=True)
class Place:
    """Where the crowd meets: the replicas, the table of the day, and everything that was asked and seen."""

    replicas: Sequence[Replica]
    ruleset: str
    table_id: str = ""
    tables: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    views: list[tuple[str, table_view_pb2.TableView]] = field(default_factory=list)

    async def open(self, client: Client) -> None:
        """Open a table for all to go to; if the answer gets lost the one before stays."""
        options = ruleset_pb2.Options(turn_seconds=TURN_SECONDS, declare_seconds=TURN_SECONDS)
        request = pb.OpenTableRequest(request_id=fresh(), ruleset=self.ruleset, options=options)
        await self.ledger.ask(client, request)
        for reply in self.ledger.asked[client.player, request.request_id][0].replies:
            self.table_id = reply.table_id
            self.tables.append(reply.table_id)


class Spectator:
    """Watches, leaves, comes back with what he has or with nothing, and tries what is not his to do."""

    def __init__(self, place: Place, name: str, seed: object, metadata: Sequence[tuple[str, str]] = ()) -> None:
        self.name = name
        self.viewers: list[Viewer] = []
        self.streams: list[asyncio.Task[None]] = []
        self._place = place
        self._dice = chance_of(seed, name)
        self._clients = [Client(replica.channel, name) for replica in place.replicas]
        for client in self._clients:
            client.metadata = (*client.metadata, *metadata)
        self._idle = 0

    @property
    def viewer(self) -> Viewer:
        """What he sees now, or saw last."""
        return self.viewers[-1]

    @property
    def watches(self) -> bool:
        """Whether a stream is open to him."""
        return bool(self.streams) and not self.streams[-1].done()

    async def step(self) -> None:
        """Do one thing, or nothing."""
        if self._idle:
            self._idle -= 1
        elif not self.viewers or self.viewer.table_id != self._place.table_id:
            self._come_afresh()
        elif not self.watches:
            self._come_back()
        else:
            await self._choice()()

    async def at_last(self) -> None:
        """Watch again, whatever he did before, from what he has."""
        if not self.viewers or self.viewer.table_id != self._place.table_id:
            self._come_afresh()
        if not self.watches:
            self._come_back()

    async def go(self) -> None:
        """Go away; what went wrong on any of his streams is raised here."""
        for stream in self.streams:
            stream.cancel()
        for ended in await asyncio.gather(*self.streams, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended

    def _choice(self) -> Callable[[], Awaitable[None]]:
        return self._dice.choice((self._look, self._drop, self._watch_anew, self._meddle, self._nothing, self._nothing))

    def _anywhere(self) -> Client:
        return self._dice.choice(self._clients)

    def _come_afresh(self) -> None:
        self.viewers.append(Viewer(self._anywhere(), self._place.table_id))
        self._come_back()

    def _come_back(self) -> None:
        for stream in self.streams:
            stream.cancel()
        self.viewer.client = self._anywhere()
        self.streams.append(asyncio.create_task(self._watching(self.viewer)))

    async def _watching(self, viewer: Viewer) -> None:
        try:
            await viewer.watch(lambda: False)
        except grpc.aio.AioRpcError as error:
            if error.code() not in _CUT:
                raise

    async def _nothing(self) -> None:
        """Let others act."""

    async def _drop(self) -> None:
        self.streams[-1].cancel()
        self._idle = self._dice.randint(0, 8)

    async def _watch_anew(self) -> None:
        self.streams[-1].cancel()
        self._come_afresh()

    async def _look(self) -> None:
        reply = await self._anywhere().call(pb.GetTableRequest(table_id=self._place.table_id))
        self._place.views.append((self.name, reply.table))

    async def _ask(self, request: Any) -> None:
        await self._place.ledger.ask(self._anywhere(), request)

    async def _meddle(self) -> None:
        await self._ask(act(self._place.table_id, self._dice.choice(_DOUBTFUL_MOVES)))


class Operator(Spectator):
    """Watches as a spectator does; seldom takes a player's seat from him, voids a hand, or closes the table."""

    def __init__(self, place: Place, name: str, seed: object) -> None:
        super().__init__(place, name, seed, (("baohuang-role", "operator"),))

    async def _meddle(self) -> None:
        if self._dice.random() > 0.1:
            return
        seat, table_id = self._dice.randint(-1, 5), self._place.table_id
        await self._ask(
            self._dice.choice((
                pb.KickPlayerRequest(request_id=fresh(), table_id=table_id, seat=seat),
                pb.VoidHandRequest(request_id=fresh(), table_id=table_id, reason="a disturbance"),
                pb.CloseTableRequest(request_id=fresh(), table_id=table_id, reason="a disturbance"),
            ))
        )  # fmt: skip


class Player(Spectator):
    """Wants a seat and plays; and does everything that bad lines and bad temper make people do."""

    def __init__(self, place: Place, name: str, seed: object) -> None:
        super().__init__(place, name, seed)
        self._player = RandomPlayer(self._dice, mood_of(self._dice))

    def _choice(self) -> Callable[[], Awaitable[None]]:
        table, dice = self.viewer.table, self._dice
        if table is None:
            return self._nothing
        if dice.random() < 0.15:
            return dice.choice((
                super()._choice(), self._repeat, self._reuse_id, self._act_late, self._do_what_is_forbidden,
                self._send_rubbish, self._change_standing, self._change_place,
            ))  # fmt: skip
        if not in_progress(table):
            return self._get_ready
        seat = self._seat(table)
        if seat is None or table.hand is None:
            return self._nothing
        standing = table.hand.trusteeships[seat]
        if standing.active:
            return self._nothing if standing.permanent else self._take_seat_back
        return self._move if seat in seats_to_act(table.hand) else self._nothing

    def _seat(self, table: Table) -> int | None:
        players = table.hand.players if table.hand and in_progress(table) else ()
        return players.index(PlayerId(self.name)) if self.name in players else None

    async def _get_ready(self) -> None:
        table = self.viewer.table
        assert table is not None
        if table.status is not TableStatus.OPEN:
            await self._place.open(self._anywhere())
        elif seat_of(table, PlayerId(self.name)) is not None:
            await self._ask(ready(self._place.table_id, self.name))
        elif free := [seat for seat, taken in enumerate(table.seats) if not taken.player]:
            await self._ask(sit(self._place.table_id, self._dice.choice(free)))

    async def _move(self) -> None:
        """Make a legal move, as far as he knows; once, several times at once, or hanging up and trying again."""
        request = self._request()
        match self._dice.randrange(6):
            case 0:
                asked = [self._place.ledger.ask(client, request) for client in self._clients * 2]
                await asyncio.gather(*asked)
            case 1:
                await self._place.ledger.ask(self._anywhere(), request, self._dice.randrange(20))
                await self._ask(request)
            case 2:
                request.expected_version = self.viewer.version
                await self._ask(request)
            case _:
                await self._ask(request)

    def _request(self) -> pb.ActRequest:
        table = self.viewer.table
        assert table is not None
        seat = self._seat(table)
        assert seat is not None
        return act(self._place.table_id, self._player.move(table, seat))

    async def _take_seat_back(self) -> None:
        await self._ask(self._trusteeship(active=False))

    def _trusteeship(self, *, active: bool) -> pb.SetTrusteeshipRequest:
        return pb.SetTrusteeshipRequest(request_id=fresh(), table_id=self._place.table_id, active=active)

    async def _repeat(self) -> None:
        """Send again what he sent before, accepted or not."""
        if before := self._place.ledger.of(self.name):
            await self._ask(self._dice.choice(before).request)

    async def _reuse_id(self) -> None:
        if before := self._place.ledger.of(self.name):
            request = ready(self._place.table_id, f"another {self._dice.random()}")
            request.request_id = self._dice.choice(before).request.request_id
            await self._ask(request)

    async def _act_late(self) -> None:
        """Insist on a version that is past, or may be."""
        request = act(self._place.table_id, self._dice.choice(_DOUBTFUL_MOVES))
        request.expected_version = max(0, self.viewer.version - self._dice.randint(0, 3))
        await self._ask(request)

    async def _do_what_is_forbidden(self) -> None:
        table = self.viewer.table
        assert table is not None
        move: cmd.Move = self._dice.choice(_DOUBTFUL_MOVES)
        if table.hand and seats_to_act(table.hand) == (self._seat(table),):
            move = illegal_line(table, self._dice)[1]
        await self._ask(act(self._place.table_id, move))

    async def _send_rubbish(self) -> None:
        table_id = self._place.table_id
        await self._ask(
            self._dice.choice((
                pb.ActRequest(request_id=fresh(), table_id=table_id),
                pb.ActRequest(request_id=fresh(), table_id=table_id, play=moves_pb2.Play(cards=["??", "9h"])),
                pb.ActRequest(request_id=fresh(), table_id=table_id[::-1], play=moves_pb2.Play(cards=["9h"])),
                sit(table_id, 5),
                ready(table_id, "x" * 65),
            ))
        )  # fmt: skip

    async def _change_standing(self) -> None:
        """Ask for the trustee, take the seat back, leave; seldom forfeit."""
        if self._dice.random() < 0.05:
            await self._ask(pb.ForfeitSeatRequest(request_id=fresh(), table_id=self._place.table_id))
        elif self._dice.random() < 0.3:
            await self._ask(pb.LeaveTableRequest(request_id=fresh(), table_id=self._place.table_id))
        else:
            await self._ask(self._trusteeship(active=self._dice.random() < 0.5))

    async def _change_place(self) -> None:
        """Stand up, sit down somewhere, or be ready no more."""
        await self._ask(
            self._dice.choice((
                stand(self._place.table_id),
                sit(self._place.table_id, self._dice.randrange(5)),
                pb.SetReadyRequest(request_id=fresh(), table_id=self._place.table_id, ready=False),
            ))
        )  # fmt: skip


def crowd(place: Place, seed: object) -> list[Spectator]:
    """Return the people."""
    players: list[Spectator] = [Player(place, name, seed) for name in NAMES]
    return [*players, Spectator(place, "spec-1", seed), Spectator(place, "spec-2", seed), Operator(place, "olga", seed)]
