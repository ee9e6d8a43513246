"""`baohuang play`: a person plays in the terminal against four bots."""

import asyncio
import sys
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from baohuang.client import BearerToken, ClientError
from baohuang.embedded.errors import EmbeddedServerError
from baohuang.rpc.auth import caller_id
from baohuang.rules.rulesets import BOUNDS, RULESETS, Options
from baohuang.rules.state import PlayerId
from command_line.backend import MigrationError
from command_line.identities import Identify, by_key, by_own_word, subject_of
from command_line.passing import backend_for, stoppable, while_alive
from command_line.play.bot_names import BOTS, is_bot, unused_names
from command_line.play.company import Sought, company_at
from command_line.play.displays import Display, LineDisplay, PictureDisplay
from command_line.play.inbox import Inbox
from command_line.play.keyboard import read_in_background, unbuffered_terminal
from command_line.play.session import Session
from command_line.reaching import NotReachedError, reached
from command_line.running import address_of, key_of
from command_line.services import SCORING

_PACE_ON_A_TERMINAL: Final = 0.7
_WIDE: Final = 200
"""The width of lines that go elsewhere than to a terminal: they are not to be folded."""
_SHORTEST, _LONGEST = BOUNDS["turn_seconds"]


@dataclass(frozen=True, slots=True)
class _Service:
    """A service that is there already: where, and how the person and the bots prove who they are."""

    address: str
    person: Identify
    bots: Identify


@dataclass(frozen=True, slots=True)
class _Wish:
    """What was asked for on the command line."""

    sought: Sought
    name: PlayerId
    think_seconds: float
    seed: int | None
    service: _Service | None


def play(
    *,
    ruleset: Annotated[str, typer.Option(help=f"one of {', '.join(RULESETS)}")] = "ourgame-simple",
    name: Annotated[str, typer.Option(help="who you are; a --token says so itself")] = "me",
    seed: Annotated[int | None, typer.Option(min=0, help="the deal, for a backend of its own: the same again")] = None,
    address: Annotated[
        str | None, typer.Option(help="host:port of a table service; by default one of its own is started")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="data folder of a running `baohuang up`: play there, with tokens of its key")
    ] = None,
    token: Annotated[
        str | None, typer.Option(envvar="BAOHUANG_TOKEN", help="your token for that service; the bots need --data")
    ] = None,
    turn_seconds: Annotated[int, typer.Option(min=_SHORTEST, max=_LONGEST, help="seconds to think")] = 60,
    pace: Annotated[
        float | None, typer.Option(min=0, help="seconds a bot thinks; by default a little on a terminal, else none")
    ] = None,
) -> None:
    """Play in the terminal against four bots; type h for what is possible."""
    _check(ruleset, name)
    service = _service(address, data, token)
    if service is not None and seed is not None:
        raise typer.BadParameter("a service shuffles as it was started", param_hint="--seed")
    on_terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    console = Console(highlight=False) if on_terminal else Console(highlight=False, width=_WIDE, force_terminal=False)
    options = Options(turn_seconds=turn_seconds, declare_seconds=turn_seconds, bots=True)
    think_seconds = pace if pace is not None else _PACE_ON_A_TERMINAL if on_terminal else 0.0
    player = subject_of(token) if token is not None else None
    wish = _Wish(Sought(ruleset, options), player or PlayerId(name), think_seconds, seed, service)
    try:
        asyncio.run(stoppable(_run(console, wish)))
    except asyncio.CancelledError:
        _fail("told to stop")
    except (ClientError, NotReachedError, EmbeddedServerError, MigrationError, OSError) as failed:
        _fail(str(failed))


async def _run(console: Console, wish: _Wish) -> None:
    """Play against the service at the address, or against a backend that lives as long as this."""
    if wish.service is not None:
        await reached(wish.service.address)
        await _play_at(console, wish, wish.service)
        return
    console.print(Text("starting PostgreSQL, NATS, the table service and the ledger"))
    async with backend_for(wish.seed, (SCORING,)) as backend:
        service = _Service(backend.table.address, by_own_word, by_own_word)
        await while_alive(backend, _play_at(console, wish, service))


async def _play_at(console: Console, wish: _Wish, service: _Service) -> None:
    async with AsyncExitStack() as stack:
        stack.enter_context(unbuffered_terminal() if console.is_terminal else nullcontext())
        inbox = Inbox()
        read_in_background(inbox.typed)
        company = company_at(
            service.address,
            wish.name,
            service.person(wish.name),
            bot_names=BOTS if wish.service is None else unused_names(),
            identify_bot=service.bots,
            think_seconds=wish.think_seconds,
        )
        await Session(await stack.enter_async_context(company), inbox, _display(console)).play(wish.sought)
        console.print()


def _display(console: Console) -> Display:
    return PictureDisplay(console) if console.is_terminal else LineDisplay(console)


def _check(ruleset: str, name: str) -> None:
    if ruleset not in RULESETS:
        raise typer.BadParameter(f"{ruleset!r} is not one of {', '.join(RULESETS)}", param_hint="--ruleset")
    if caller_id(name) is None or is_bot(name):
        taken = ", ".join(BOTS)
        raise typer.BadParameter(f"1 to 64 of A-Z a-z 0-9 . _ @ : -, and no bot's: {taken}", param_hint="--name")


def _service(address: str | None, data: Path | None, token: str | None) -> _Service | None:
    """Return the service that was asked for, None for one of our own."""
    if data is not None:
        identify = by_key(key_of(data))
        address = address or address_of(data)
    elif address is not None:
        identify = by_own_word
    elif token is not None:
        raise typer.BadParameter("goes with --address or --data", param_hint="--token")
    else:
        return None
    return _Service(address, identify if token is None else lambda _: BearerToken(token), identify)


def _fail(why: str) -> NoReturn:
    Console(stderr=True, highlight=False).print(Text(f"play: FAILED {why}", style="red"), soft_wrap=True)
    raise typer.Exit(1)
