"""The README's example is a program that runs."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from baohuang.rpc.settings import ServerSettings
from client.in_process import running
from rpc.signers import ed25519, jwks

README = Path(__file__).parents[2] / "README.md"


async def test_the_example_opens_a_table_and_watches_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The Python block of the README, its own address aside, prints the seat it took and ends by itself."""
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    definitions, _, _ = block.partition("asyncio.run(")
    names: dict[str, Any] = {}
    exec(compile(definitions, str(README), "exec"), names)  # noqa: S102 - our own README
    (tmp_path / "jwks.json").write_bytes(jwks(ed25519()))
    settings = ServerSettings(jwks=str(tmp_path / "jwks.json"), drain_grace_seconds=0.5)
    async with running(settings=settings) as service:
        await names["main"](service.address, ed25519().token(time.time(), sub="Chen"))
    assert "['Chen', '', '', '', '']" in capsys.readouterr().out
