"""`baohuang demo`: from an empty folder to a verified hand, in one command."""

import asyncio
import sys
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
from command_line.demo.checking import CheckError, check, finish_of, recorded
from command_line.demo.report import print_checks, print_history, print_settlement
from command_line.demo.screens import screen_for
from command_line.demo.stage import Seen, play_one_hand
from command_line.passing import backend_for, stoppable, while_alive

_BOUND_SECONDS = 55.0
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
    """Let five bots play one hand over gRPC against a backend of its own, and verify all that can be verified."""
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
            with _waiting(console):
                backend = await stack.enter_async_context(backend_for(seed))
            console.print(Text(f"PostgreSQL, NATS and the table service are up; gRPC on {backend.table.address}"))
            with screen_for(console) as screen:
                playing = play_one_hand(backend.table.address, ruleset, think_seconds, screen.show)
                seen = await while_alive(backend, playing)
            return await _verify(console, backend, seen)


async def _verify(console: Console, backend: LocalBackend, seen: Seen) -> str:
    async with open_log(backend.postgres_dsn) as log:
        history = await recorded(log, seen.table_id)
    check(history, seen)
    print_history(console, history)
    print_settlement(console, history)
    print_checks(console, history, seen)
    points = " ".join(map(str, finish_of(history).points))
    return f"demo: OK {len(history)} events, chain verified, points {points}"


def _waiting(console: Console) -> AbstractContextManager[object]:
    return console.status("starting PostgreSQL, NATS and the table service") if console.is_terminal else nullcontext()


def _fail(why: str) -> NoReturn:
    Console(stderr=True, highlight=False).print(Text(f"demo: FAILED {why}", style="red"), soft_wrap=True)
    raise typer.Exit(1)
