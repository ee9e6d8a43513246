"""A variable whose name is misspelt is told at the start of a service; the others' names are known."""

import json
import os
import re
import subprocess
import sys
from typing import Final

import pytest

from baohuang.embedded.ports import free_port
from baohuang.rpc.variables import KNOWN, PREFIX, unread
from command_line.main import _FUNCTIONS
from deploy.told import SETTINGS, _read_by_any, read_by
from deploy.tree import DEPLOY

_READ: Final = frozenset({".yaml", ".conf", ".py", ".sh"})
_OF_SERVICES_BY_ANOTHER_NAME: Final = frozenset({"bots"})
"""Commands that are services, and read what those read."""


def test_every_name_that_anything_reads_is_known() -> None:
    """By services, by commands, by files under deploy/; and no other is."""
    services = {name for service in SETTINGS for name in read_by(["serve", service])}
    commands = set(_read_by_any([one for one in _FUNCTIONS if one not in _OF_SERVICES_BY_ANOTHER_NAME]))
    files = (path for path in DEPLOY.rglob("*.*") if path.is_file() and path.suffix in _READ)
    deployed = {name for path in files for name in re.findall(r"\bBAOHUANG_[A-Z_]*[A-Z]\b", path.read_text("utf-8"))}
    assert {name for name in services | commands | deployed if name.startswith(PREFIX)} == KNOWN


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("BAOHUANG_MAX_STREAM_PER_PLAYER", ["BAOHUANG_MAX_STREAM_PER_PLAYER (BAOHUANG_MAX_STREAMS_PER_PLAYER?)"]),
        ("baohuang_jwk", ["baohuang_jwk (BAOHUANG_JWKS?)"]),
        ("BAOHUANG_XYZZY", ["BAOHUANG_XYZZY"]),
        ("BAOHUANG_RATING_ADDRESS", []),
        ("baohuang_jwks", []),
        ("BAOHUANG_TABLE_SERVICE_HOST", []),
        ("BAOHUANG_TABLE_PORT_50051_TCP_ADDR", []),
        ("PATH", []),
    ],
)
def test_one_that_nobody_reads_is_told_with_the_nearest(name: str, told: list[str]) -> None:
    """In whatever letters, as variables are read; what Kubernetes adds by itself is none."""
    assert unread([name]) == told


def test_a_service_tells_it_in_one_line_without_its_value() -> None:
    """Before anything else can end it, and it goes on."""
    dsn = f"postgresql://u@127.0.0.1:{free_port()}/none"
    kept = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    chosen = {"BAOHUANG_POSTGRES_DSN": dsn, "BAOHUANG_NATS_ULR": "nats://u:hunter2@h:1", "BAOHUANG_JWKS": os.devnull}
    command = [sys.executable, "-m", "command_line", "serve", "scoring"]
    ended = subprocess.run(command, env=kept | chosen, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - our own
    lines = ended.stderr.splitlines()
    assert json.loads(lines[0])["variables"] == ["BAOHUANG_NATS_ULR (BAOHUANG_NATS_URL?)"]
    assert json.loads(lines[0])["level"] == "warning"
    assert "BAOHUANG_POSTGRES_DSN" in lines[-1]
    assert len([line for line in lines if "ULR" in line]) == 1
    assert "hunter2" not in ended.stderr
