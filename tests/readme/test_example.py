"""The README's example is a program that runs."""

import re
from pathlib import Path
from typing import Any

import pytest

from client.in_process import running

README = Path(__file__).parents[2] / "README.md"


async def test_the_example_opens_a_table_and_watches_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python block of the README, its own address aside, prints the seat it took and ends by itself."""
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    definitions, _, _ = block.partition("asyncio.run(")
    names: dict[str, Any] = {}
    exec(compile(definitions, str(README), "exec"), names)  # noqa: S102 - our own README
    async with running() as service:
        await names["main"](service.address)
    assert "['Chen', '', '', '', '']" in capsys.readouterr().out
