"""The subcommands, imported when they are asked for."""

import subprocess
import sys

from typer.testing import CliRunner

from command_line.main import _FUNCTIONS, app


def test_every_subcommand_is_there() -> None:
    """The help names each with its purpose, so each can be imported; one that does not exist is named."""
    runner = CliRunner(env={"COLUMNS": "200"})
    shown = runner.invoke(app, ["--help"])
    assert shown.exit_code == 0
    lines = [line.strip("│ ").split(maxsplit=1) for line in shown.output.splitlines()]
    assert {line[0] for line in lines if len(line) > 1} >= set(_FUNCTIONS)
    unknown = runner.invoke(app, ["nonsense"])
    assert unknown.exit_code == 2
    assert "nonsense" in unknown.output


def test_judging_needs_no_database() -> None:
    """What only other subcommands need is not imported: it would cost each start a second or more."""
    asked = "import sys; from command_line.main import app; app(['judge'], standalone_mode=False)"
    looked = "print(sorted({'alembic', 'sqlalchemy', 'asyncpg', 'grpc'} & set(sys.modules)))"
    ran = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", f"{asked}; {looked}"], input="", capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "[]\n", "")
