"""What is played for the dump of a release: something of everything that an upgrade has to carry over.

Hands to their end under several rulesets, one of them with a fine that was taken back; a private table; tickets in the
queue; and last a hand in its middle, with a trustee and a deadline.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from baohuang.client import (
    DevelopmentIdentity,
    connect,
    connect_history,
    connect_matchmaking,
    fresh_invitation_code,
)
from baohuang.history.sought import RulingsSought
from baohuang.rpc.auth import PLAYER_KEY, ROLE_KEY, Role
from baohuang.rpc.credentials import Metadata
from baohuang.rules.phases.asking import seats_to_act
from baohuang.rules.rulesets import Options
from baohuang.rules.state import PlayerId, TableId
from command_line.bots.runner import Bot
from command_line.demo.stage import play_one_hand

PATIENT: Final = Options(turn_seconds=300, declare_seconds=300)
RULESETS: Final = ("ourgame-simple", "homy-standard", "homy-weihai")
QUEUED: Final = (PlayerId("quan"), PlayerId("qiao"))
_ROUNDS: Final = 12
"""How often everybody is asked for a move in the hand in its middle."""


@dataclass(frozen=True, slots=True)
class _OperatorsWord:
    """Credentials of an operator, for a service that believes its callers."""

    player: PlayerId

    def metadata(self) -> Metadata:
        return ((PLAYER_KEY, self.player), (ROLE_KEY, Role.OPERATOR))


_OPERATOR: Final = _OperatorsWord(PlayerId("olga"))


class Played(Struct, frozen=True):
    """What is in a dump: hands that ended, where a fine was taken back; who is in which seat of the hand going on."""

    hands: tuple[str, ...]
    fined: str
    middle: str
    players: tuple[str, ...]
    private: str
    invitation_code: str


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the services are that it is played at."""

    table: str
    matchmaking: str


async def play_all(at: Addresses) -> Played:
    """Play all of it. Raises ClientError."""
    hands = [await _a_hand(at.table, ruleset, f"{ruleset[:3]}{n}") for n, ruleset in enumerate(RULESETS)]
    fined = await _a_fine_taken_back(at.table)
    private, code = await _a_private_table(at.table)
    await _tickets(at.matchmaking)
    players = _five("m")
    middle = await _a_hand_in_its_middle(at.table, players)
    return Played((*hands, fined), fined, middle, players, private, code)


def _five(prefix: str) -> tuple[PlayerId, ...]:
    return tuple(PlayerId(f"{prefix}-{seat}") for seat in range(5))


async def _opened(address: str, ruleset: str, options: Options, code: str = "") -> TableId:
    async with connect(address, DevelopmentIdentity(PlayerId("host"))) as host:
        return (await host.open_table(ruleset, options, invitation_code=code)).table_id


async def _a_hand(address: str, ruleset: str, prefix: str) -> str:
    table_id = await _opened(address, ruleset, Options())
    await play_one_hand(address, table_id, _five(prefix), 0.0, lambda _: None)
    return table_id


async def _a_private_table(address: str) -> tuple[str, str]:
    code = fresh_invitation_code()
    return await _opened(address, "homy-classic", Options(), code), code


async def _tickets(address: str) -> None:
    for player in QUEUED:
        async with connect_matchmaking(address, DevelopmentIdentity(player)) as queues:
            await queues.create_ticket("homy-qingdao")


async def _all_ready(stack: AsyncExitStack, address: str, table_id: TableId, players: Sequence[PlayerId]) -> list[Bot]:
    """Sit everybody down and get them ready: a hand begins."""
    clients = [await stack.enter_async_context(connect(address, DevelopmentIdentity(one))) for one in players]
    bots = [Bot(client, seat) for seat, client in enumerate(clients)]
    for bot in bots:
        await bot.take_place(table_id, f"seat {bot.seat}")
    return bots


async def _a_fine_taken_back(address: str) -> str:
    """Have one forfeit at the beginning of a hand, which the others play on; then the fine is taken back."""
    players, table_id = _five("f"), await _opened(address, "ourgame-simple", Options())
    async with AsyncExitStack() as stack:
        first, *others = await _all_ready(stack, address, table_id, players)
        await first.client.forfeit_seat(table_id)
        async with asyncio.TaskGroup() as tasks:
            for bot in others:
                tasks.create_task(bot.play_hand(table_id))
    async with connect_history(address, _OPERATOR) as history:
        sought = RulingsSought(player=players[0], kinds=("PlayerFined",))
        fines = [ruling.recorded.version async for ruling in history.rulings(sought)]
        await history.reverse(table_id, fines[0], "the network was down")
    return table_id


async def _a_hand_in_its_middle(address: str, players: Sequence[PlayerId]) -> str:
    """Make some moves, and leave one seat to a trustee."""
    table_id = await _opened(address, "ourgame-simple", PATIENT)
    async with AsyncExitStack() as stack:
        bots = await _all_ready(stack, address, table_id, players)
        for _ in range(_ROUNDS):
            for bot in bots:
                await _move_if_asked(bot, table_id)
        await bots[-1].client.set_trusteeship(table_id, active=True)
    return table_id


async def _move_if_asked(bot: Bot, table_id: TableId) -> None:
    table = (await bot.client.get_table(table_id)).table
    if table.hand is not None and bot.seat in seats_to_act(table.hand):
        await bot.client.act(table_id, bot.policy(table, bot.seat))
