"""Commands whose server is not there: each says which one it is, and keeps the password."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from typer.core import TyperOption
from typer.testing import CliRunner, Result

from baohuang.embedded.ports import free_port
from command_line.main import _FUNCTIONS, _imported, app

PASSWORD: Final = "hunter2"  # noqa: S105 (nobody's)
DSN: Final = "BAOHUANG_POSTGRES_DSN"
NATS: Final = "BAOHUANG_NATS_URL"
ASKING_THE_DATABASE: Final = (
    "up --data data",
    "migrate",
    "verify",
    "verify table-1",
    "reconcile",
    "rebuild scoring",
    "rebuild rating",
    "rebuild-stream",
    "rebuild-stream scoring --check",
    "set-aside",
    "clear-alarm scoring",
    "clear-alarm rating",
    "redrive",
    "skip scoring 1 --reason why",
    "skip rating 1 --reason why",
    "history",
    "rulings",
    "explain table-1 1",
    "export table-1",
    "replay table-1",
    "archive --to .",
    "unarchive keys.json",
    "checkpoint --key key.pem",
)
CALLING_A_SERVICE: Final = (
    "health ADDRESS",
    "play --address ADDRESS --token x.y.z",
    "reverse table-1 1 --reason why --address ADDRESS --token x.y.z",
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder that has a key for checkpoints."""
    monkeypatch.chdir(tmp_path)
    assert run("checkpoint-key --key key.pem --keys keys.json", {}).exit_code == 0


def run(command: str, told: Mapping[str, str]) -> Result:
    """Run a command, told this and nothing of another server."""
    return CliRunner(env={DSN: None, NATS: None, **told}).invoke(app, shlex.split(command))


def names_it(found: Result, address: str) -> None:
    """See that it failed, said on one line which server it did not reach, and repeated no password."""
    assert found.exit_code in {1, 2}
    assert found.exception is None or isinstance(found.exception, SystemExit)
    last = found.stderr.strip().splitlines()[-1]
    assert address in last
    assert PASSWORD not in found.output


@pytest.mark.parametrize("command", ASKING_THE_DATABASE)
def test_a_database_that_is_away_is_named(command: str) -> None:
    """With host, port and the variable that says so."""
    address = f"127.0.0.1:{free_port()}"
    found = run(command, {DSN: f"postgresql://ana:{PASSWORD}@{address}/db", NATS: "nats://127.0.0.1:1"})
    names_it(found, f"no connection to PostgreSQL at {address} ({DSN}): ")


def test_every_command_that_asks_the_database_is_tried() -> None:
    """None is left out that has an option for it."""
    asking = {
        name
        for name in _FUNCTIONS
        for one in _imported(name).params
        if isinstance(one, TyperOption) and one.envvar == DSN
    }
    assert asking == {command.split()[0] for command in ASKING_THE_DATABASE}


@pytest.mark.parametrize("command", ["rebuild-stream", "rebuild-stream scoring", "rebuild-stream --check"])
def test_a_nats_that_is_away_is_named(command: str, own_database_dsn: str) -> None:
    """With host and port, where the database is there."""
    address = f"127.0.0.1:{free_port()}"
    found = run(command, {DSN: own_database_dsn, NATS: f"nats://ana:{PASSWORD}@{address}"})
    names_it(found, f"no connection to NATS at {address}: ")


@pytest.mark.parametrize("command", CALLING_A_SERVICE)
def test_a_service_that_is_away_is_named(command: str) -> None:
    """By the address that was given."""
    address = f"127.0.0.1:{free_port()}"
    names_it(run(command.replace("ADDRESS", address), {}), address)
