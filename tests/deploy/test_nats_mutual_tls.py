"""The component `nats-mutual-tls` where it does not go: services refuse it, in words that the page has."""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from deploy.pods import workloads
from deploy.rendering import Combination
from deploy.tree import ROOT
from tls.authorities import Authority

COMPONENT: Final = "nats-mutual-tls"
ON_NATS: Final = ("table", "scoring", "rating")


def told(name: str, combination: Combination) -> Mapping[str, str]:
    """Return the variables of a Deployment's container that no Secret has."""
    (found,) = [one for one in workloads(combination) if one.name == name]
    return {variable: text for variable, text in found.told().items() if text is not None}


async def said_at_the_start(name: str, variables: Mapping[str, str]) -> str:
    """Run a service until it ends by itself, and give what it said."""
    bare = {name: text for name, text in os.environ.items() if not name.startswith("BAOHUANG_")}
    command = (sys.executable, "-m", "command_line", "serve", name)
    running = await asyncio.create_subprocess_exec(*command, env={**bare, **variables}, stderr=asyncio.subprocess.PIPE)
    _, said = await asyncio.wait_for(running.communicate(), 60)
    assert running.returncode == 1
    return said.decode()


@pytest.mark.parametrize("name", ON_NATS)
async def test_without_certificates_of_services_they_end_at_their_start(
    name: str, tmp_path: Path, own_database_dsn: str
) -> None:
    """With neither `tls` nor `gateway-tls` beside it, with the file's name."""
    ca, keys = Authority("ours").written(tmp_path / "ca.crt"), tmp_path / "jwks.json"
    variables = {
        **told(name, Combination("production", (COMPONENT,))),
        "BAOHUANG_POSTGRES_DSN": own_database_dsn,
        "BAOHUANG_NATS_URL": f"tls://{name}:p@127.0.0.1:1",
        "BAOHUANG_NATS_CA": str(ca),
    }
    said = await said_at_the_start(name, {**variables, "BAOHUANG_JWKS": str(keys)})
    missing = "cannot read /etc/baohuang/tls/tls.crt"
    assert missing in said
    assert f"`{missing}`" in (ROOT / "docs/operations.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ON_NATS)
async def test_over_a_nats_in_the_clear_they_end_at_their_start(name: str) -> None:
    """As in `dev`, and so in `kind`; with the variables' names."""
    variables = {
        **told(name, Combination("dev", (COMPONENT,))),
        "BAOHUANG_POSTGRES_DSN": "postgresql://127.0.0.1:1/baohuang",
        "BAOHUANG_NATS_URL": f"nats://{name}:p@nats:4222",
    }
    said = await said_at_the_start(name, variables)
    assert "BAOHUANG_NATS_CERT go with a BAOHUANG_NATS_URL that begins with tls://" in said
