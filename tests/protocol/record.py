"""`python -m tests.protocol.record`: play the scenario and write transcript and vectors into the document anew."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import document
from .matching import ELISION
from .playing import Terminal
from .reflected import Json, Reflected, reflected
from .scenario import HAND_KEPT, VIEW_KEPT, Asked, Awaited, Said, body_of, scenario
from .serving import running
from .transcript import Call, Foreground, Step, block_of, steps_in
from .vectors import chain_example, deal_example

_VIEWS = ("table", "snapshot")


def main() -> None:
    """Record, and rewrite the document's made parts."""
    written = document.with_part("transcript", asyncio.run(_recorded()), document.text())
    document.PATH.write_text(written, encoding="utf-8")
    steps = steps_in(document.part("transcript", written))
    written = document.with_part("deal", deal_example(steps), written)
    document.PATH.write_text(document.with_part("chain", chain_example(steps), written), encoding="utf-8")
    sys.stdout.write(f"{document.PATH.name}: {len(steps)} commands recorded\n")


async def _recorded() -> str:
    async with running() as address:
        return await asyncio.to_thread(_transcript, address)


def _transcript(address: str) -> str:
    with reflected(address) as client:
        return "".join(_Recorder(client).parts())


class _Recorder:
    """Plays the scenario; knows the table opened and what each player was shown last."""

    def __init__(self, client: Reflected) -> None:
        self._terminal = Terminal(client)
        self._table_id = ""
        self._last_shown: dict[str, int] = {}

    def parts(self) -> Iterator[str]:
        """Yield texts and blocks."""
        fence = ""
        for part in scenario():
            if isinstance(part, Said):
                yield f"{fence}\n{part.text}\n\n```console\n"
                fence = "```\n"
            else:
                yield block_of(self._step(part)) + "\n"
        yield f"{fence}\n"

    def _step(self, part: Asked | Awaited) -> Step:
        if isinstance(part, Awaited):
            command: Call | Foreground = Foreground()
        else:
            body = body_of(part, self._table_id, self._last_shown.get(part.player, 0))
            headers = (("baohuang-player", part.player), *part.headers)
            command = Call(part.method, body, headers, part.background)
        came = self._terminal.carry_out(command, part.messages)
        self._table_id = self._table_id or came[0]["tableId"]
        if isinstance(part, Asked):
            self._last_shown.update((part.player, version) for message in came for version in _versions(message))
        return Step(command, tuple(map(_shortened, came)))


def _versions(message: Json) -> Iterator[int]:
    return (message[kind]["version"] for kind in ("snapshot", "update") if kind in message)


def _shortened(reply: Json) -> Json:
    """Leave out of views what the document does not need, and say so."""
    return {key: _kept(value, VIEW_KEPT, _short_hand) if key in _VIEWS else value for key, value in reply.items()}


def _short_hand(key: str, value: Any) -> Any:
    return _kept(value, HAND_KEPT, _short_cards) if key == "hand" else value


def _short_cards(key: str, value: Any) -> Any:
    if key != "hands":
        return value
    return [
        {**held, "cards": [*held["cards"][:2], ELISION]} if len(held.get("cards", ())) > 2 else held for held in value
    ]


def _kept(value: Mapping[str, Any], names: frozenset[str], shorten: Callable[[str, Any], Any]) -> Json:
    kept = {key: shorten(key, item) for key, item in value.items() if key in names}
    return kept if len(kept) == len(value) else {**kept, ELISION: ELISION}


if __name__ == "__main__":
    main()
