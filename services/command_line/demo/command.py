"""`baohuang demo`: from an empty folder to a verified hand and a leaderboard, in one command."""

import asyncio
import sys
import time
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from baohuang.client import ClientError
from baohuang.embedded.errors import EmbeddedServerError
from baohuang.eventlog.chain import ChainBroken
from baohuang.eventlog.port import EventLogError
from baohuang.eventlog.postgres.log import open_log
from baohuang.rules.rulesets import RULESETS, RulesetId
from command_line.backend import LocalBackend, MigrationError
from command_line.demo.aftermath import aftermath_of, check_aftermath
from command_line.demo.checking import CheckError, check, check_as_client, finish_of, recorded
from command_line.demo.headings import print_heading
from command_line.demo.ladder import (
    print_leaderboard,
    print_match,
    print_ratings,
    print_score,
    print_tickets,
)
from command_line.demo.queueing import NotSeatedError, Queue, Seated
from command_line.demo.report import print_checks, print_history
from command_line.demo.screens import screen_for
from command_line.demo.stage import PLAYERS, play_one_hand
from command_line.passing import backend_for, stoppable, while_alive
from command_line.services import MATCHMAKING, RATING, SCORING

_SERVICES = (SCORING, RATING, MATCHMAKING)
_BOUND_SECONDS = 90.0
_PACE_ON_A_TERMINAL = 0.03
_WIDE = 200
"""The width of lines that go elsewhere than to a terminal: they are not to be folded."""


def demo(
    *,
    ruleset: Annotated[str, typer.Option(help=f"one of {', '.join(RULESETS)}")] = "ourgame-simple",
    seed: Annotated[int, typer.Option(min=0, help="the deal: the same seed gives the same hands")] = 7,
    pace: Annotated[
        float | None, typer.Option(min=0, help="seconds a bot thinks; by default a little on a terminal, else none")
    ] = None,
) -> None:
    """Take five bots from their tickets over a hand to the leaderboard, by gRPC, and verify all there is to verify."""
    if ruleset not in RULESETS:
        raise typer.BadParameter(f"{ruleset!r} is not one of {', '.join(RULESETS)}", param_hint="--ruleset")
    console = Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=_WIDE)
    think_seconds = pace if pace is not None else _PACE_ON_A_TERMINAL if console.is_terminal else 0.0
    try:
        verdict = asyncio.run(stoppable(_bounded(console, ruleset, seed, think_seconds)))
    except asyncio.CancelledError:
        _fail("told to stop")
    except TimeoutError:
        _fail(f"not done after {_BOUND_SECONDS:.0f} s")
    except (
        ClientError,
        CheckError,
        NotSeatedError,
        ChainBroken,
        EmbeddedServerError,
        MigrationError,
        EventLogError,
        OSError,
    ) as failed:
        _fail(str(failed))
    console.print(Text(verdict, style="bold green"), soft_wrap=True)


async def _bounded(console: Console, ruleset: str, seed: int, think_seconds: float) -> str:
    """Play and verify, and return the verdict once everything is stopped and removed."""
    async with asyncio.timeout(_BOUND_SECONDS):
        console.print(
            Text(f"baohuang demo: {RULESETS[RulesetId(ruleset)].title}, {ruleset}, seed {seed}"), style="bold"
        )
        async with AsyncExitStack() as stack:
            since = time.monotonic()
            with _waiting(console):
                backend = await stack.enter_async_context(backend_for(seed, _SERVICES))
            _print_services(console, backend, time.monotonic() - since)
            return await while_alive(backend, _story(console, backend, ruleset, think_seconds))


async def _story(console: Console, backend: LocalBackend, ruleset: str, think_seconds: float) -> str:
    """Tell it from the tickets to the leaderboard, check it, and return the verdict."""
    seated = await _seated(console, backend, ruleset)
    print_heading(console, "hand 牌局", "five bots play through the public API, a spectator watches")
    with screen_for(console) as screen:
        players = seated.matched.players
        seen = await play_one_hand(backend.table.address, seated.matched.table_id, players, think_seconds, screen.show)
    after = await aftermath_of(seen, backend.beside[SCORING].address, backend.beside[RATING].address)
    async with open_log(backend.postgres_dsn) as log:
        history = await recorded(log, seen.table_id)
    check(history, seen)
    checked = await check_as_client(backend.table.address, seen)
    check_aftermath(finish_of(history), after)
    print_history(console, history)
    print_score(console, after)
    print_ratings(console, after)
    print_leaderboard(console, after)
    print_checks(console, history, seen, checked)
    points = " ".join(map(str, finish_of(history).points))
    return f"demo: OK {len(history)} events, chain verified, points {points}"


async def _seated(console: Console, backend: LocalBackend, ruleset: str) -> Seated:
    async with Queue(backend.beside[MATCHMAKING].address, ruleset, PLAYERS) as queue:
        queued = await queue.queue()
        print_tickets(console, queued)
        seated = await queue.seated(queued)
    print_match(console, seated)
    return seated


def _print_services(console: Console, backend: LocalBackend, seconds: float) -> None:
    print_heading(console, "services 服务", f"up in {seconds:.1f} s: PostgreSQL, NATS, and over gRPC")
    processes = {"table": backend.table, **{service.name: one for service, one in backend.beside.items()}}
    console.print(Text("  " + " · ".join(f"{name} {one.address}" for name, one in processes.items())), soft_wrap=True)


def _waiting(console: Console) -> AbstractContextManager[object]:
    return console.status("starting PostgreSQL, NATS and four services") if console.is_terminal else nullcontext()


def _fail(why: str) -> NoReturn:
    Console(stderr=True, highlight=False).print(Text(f"demo: FAILED {why}", style="red"), soft_wrap=True)
    raise typer.Exit(1)
