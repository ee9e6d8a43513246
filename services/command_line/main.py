"""The `baohuang` command; one module a subcommand."""

import typer

from command_line import up
from command_line.audit.rebuild import rebuild
from command_line.audit.reconcile import reconcile
from command_line.audit.redrive import redrive, skip
from command_line.demo.command import demo
from command_line.judge.command import judge
from command_line.play.command import play
from command_line.rebuild_stream import rebuild_stream
from command_line.tokens import token

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def _baohuang() -> None:
    """Run and inspect a backend for the five-player card game 保皇."""


app.command("up")(up.command)
app.command("demo")(demo)
app.command("play")(play)
app.command("judge")(judge)
app.command("token")(token)
app.command("rebuild-stream")(rebuild_stream)
app.command("reconcile")(reconcile)
app.command("rebuild")(rebuild)
app.command("redrive")(redrive)
app.command("skip")(skip)


def main() -> None:
    """Run the command."""
    app()
