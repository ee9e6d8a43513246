"""The `baohuang` command; one module a subcommand, imported when it is asked for.

What only some need (migrations above all) costs the start of a process more than most of them do by themselves.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import typer
from typer.core import TyperGroup

from baohuang.starting import load
from command_line.priority import OWN_PROCESS

_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "up": "command_line.up:command",
        "serve": "command_line.serving:serve",
        "health": "command_line.health:health",
        "migrate": "command_line.migrate:migrate",
        "demo": "command_line.demo.command:demo",
        "play": "command_line.play.command:play",
        "bots": "command_line.bots.main:main",
        "judge": "command_line.judge.command:judge",
        "export": "command_line.records.export:export",
        "replay": "command_line.records.replaying:replay",
        "token": "command_line.tokens:token",
        "rebuild-stream": "command_line.rebuild_stream:rebuild_stream",
        "verify": "command_line.audit.verify:verify",
        "history": "command_line.history.events:history",
        "rulings": "command_line.history.rulings:rulings",
        "explain": "command_line.audit.explain:explain_ruling",
        "reverse": "command_line.audit.reverse:reverse",
        "checkpoint": "command_line.audit.checkpoint:checkpoint",
        "checkpoint-key": "command_line.audit.checkpoint:checkpoint_key",
        "archive": "command_line.audit.archive:archive",
        "unarchive": "command_line.audit.archive:unarchive",
        "reconcile": "command_line.audit.reconcile:reconcile",
        "rebuild": "command_line.audit.rebuild:rebuild",
        "redrive": "command_line.audit.redrive:redrive",
        "skip": "command_line.audit.redrive:skip",
        "set-aside": "command_line.audit.set_aside:set_aside",
        "clear-alarm": "command_line.audit.clear_alarm:clear_alarm_of",
    }
)
"""Where each subcommand is, by its name, in the order of the help."""


class _Subcommands(TyperGroup):
    """Imports a subcommand when it is run or asked for its help."""

    def list_commands(self, _ctx: Any) -> list[str]:
        """Name them all."""
        return list(_FUNCTIONS)

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        """Import one, None if there is none of that name."""
        return _imported(cmd_name) if cmd_name in _FUNCTIONS else None


app = typer.Typer(cls=_Subcommands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def _baohuang() -> None:
    """Run and inspect a backend for the five-player card game 保皇."""


def _imported(name: str) -> Any:
    module, function = _FUNCTIONS[name].split(":")
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name)(getattr(load(module), function))
    return typer.main.get_command(alone)


def main() -> None:
    """Run the command in a process of its own."""
    app(obj=OWN_PROCESS)
