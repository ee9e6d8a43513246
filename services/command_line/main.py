"""The `baohuang` command; one module a subcommand."""

import typer

from command_line import up

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def _baohuang() -> None:
    """Run and inspect a backend for the five-player card game 保皇."""


app.command("up")(up.command)


def main() -> None:
    """Run the command."""
    app()
