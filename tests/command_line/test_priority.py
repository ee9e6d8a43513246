"""Who gives way to play."""

import os
import subprocess
import sys

from typer.testing import CliRunner

from command_line.main import app

NOWHERE = ("verify", "--postgres-dsn", "postgresql://nobody@127.0.0.1:1/none")


def test_verification_gives_way_in_a_process_of_its_own() -> None:
    """Its priority is lowered there, and nowhere else: whoever calls the command from code goes on with his own."""
    asked = f"import sys, os; from command_line.main import main; sys.argv[1:] = {NOWHERE!r}"
    looked = "\ntry:\n    main()\nexcept SystemExit as ended:\n    print(ended.code, os.nice(0))"
    ran = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", asked + looked], capture_output=True, text=True, timeout=60, check=False
    )
    before = os.nice(0)
    assert ran.stdout == f"2 {max(10, before)}\n"
    assert CliRunner().invoke(app, NOWHERE).exit_code == 2
    assert os.nice(0) == before
