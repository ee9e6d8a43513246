"""The hand that the transcript tells: a hidden solo who shows himself, one full trick, four trustees, the end."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

TABLE_ID: Final = "TABLE_ID"
"""Stands in a body for the id that OpenTable gave."""
LAST: Final = "LAST"
"""Stands in a body for the last version that the player was shown on a stream."""
UNTIL_HEARTBEAT: Final = 0
"""How many messages to show of a stream that is resumed: those missed, and the heartbeat behind them."""
TABLES: Final = "baohuang.table.v1.TableService/"
RULES: Final = "baohuang.rules.v1.RulesService/"
VIEW_KEPT: Final = frozenset({"version", "hash", "viewerSeat", "status", "seats", "commitment", "millisLeft", "hand"})
HAND_KEPT: Final = frozenset({"phase", "turn", "hands", "roles", "trick", "turnVersion", "dueAt", "result", "fines"})
_SEATS: Final = ("an", "bo", "cai", "du", "en")
_ENTROPY: Final = ("an likes 9776", "", "cai", "", "")
_PLAYED_OUT: Final = (
    "3c 3c 3d 3h",
    "4c 4d 4h 4s",
    "6c 6c 6c 6d 6h 6s",
    "8c 8c 8d 8d 8s",
    "9c 9c 9c 9d 9s",
    "Tc Tc Th Ts",
    "Jc Jc Jh Js",
    "Ad Ah Ah As",
)
"""What seat 0 leads once nobody answers any more, but for its last set."""


@dataclass(frozen=True, slots=True)
class Said:
    """A heading between commands, and text under it."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A call to make: whose, which, with what; `messages` of a stream are shown. `headers` come beside the player's."""

    player: str
    method: str
    body: Mapping[str, Any]
    messages: int = 1
    background: bool = False
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Awaited:
    """`fg`: so many messages of the stream in the background."""

    messages: int


def scenario() -> Sequence[Said | Asked | Awaited]:
    """Return the whole hand."""
    return (*_beginning(), *_before_play(), *_first_trick(), *_standing(), *_ending())


def body_of(asked: Asked, table_id: str, last_shown: int) -> str:
    """Return the body as it is sent."""
    text = json.dumps(asked.body, ensure_ascii=False)
    return text.replace(TABLE_ID, table_id).replace(f'"{LAST}"', str(last_shown))


def _beginning() -> Sequence[Said | Asked]:
    opening = {"requestId": "an-1", "ruleset": "ourgame-simple", "options": {"turnSeconds": 300, "declareSeconds": 300}}
    sitting = [_change(player, "SitDown", 2, seat=seat) for seat, player in enumerate(_SEATS)]
    getting_ready = [
        _change(player, "SetReady", 3, ready=True, **({"entropy": entropy} if entropy else {}))
        for player, entropy in zip(_SEATS, _ENTROPY, strict=True)
    ]
    return (
        Said(
            "### Open, sit down, get ready\n\nLong views are cut; `an` opens a table, all five sit down and get ready."
        ),
        Asked("an", TABLES + "OpenTable", opening),
        *sitting,
        *getting_ready,
        Said(
            "The fifth ready player started the hand; his call's version is that of the *last* event of it.\n"
            "`an` has followed the table up to version 12, resumes there, and is shown his own cards only:"
        ),
        _watch("an", after=12),
        Said("A spectator begins with nothing, and gets a snapshot without any card:"),
        _watch("zoe"),
    )


def _before_play() -> Sequence[Said | Asked]:
    return (
        Said("### CROWN and DECLARE\n\nThe crown is not offered to `bo`; `an`, whom it is offered to, takes it."),
        _move("bo", 4, enthrone={}),
        _move("an", 4, enthrone={}),
        Said(
            "`an` holds the sword card as well: he is a hidden solo, and he alone is told. All five are asked to\n"
            "declare; `bo` revolts, `an` shows himself, which leaves the revolt without effect (DECL-6)."
        ),
        _watch("an", after=LAST),
        _move("an", 5, declare={"answer": "ANSWER_OPEN_SOLO"}),
        _move("bo", 5, declare={"answer": "ANSWER_REVOLT"}),
        _move("bo", 6, declare={"answer": "ANSWER_NONE"}),
        *(_move(player, 4, declare={"answer": "ANSWER_NONE"}) for player in ("cai", "du", "en")),
        Said("`bo` was shown no answer but his own until all were published together:"),
        _watch("bo", after=16),
    )


def _first_trick() -> Sequence[Said | Asked]:
    return (
        Said("### A trick\n\n`an` leads; `bo` tries a set that is too low, asks the rules, and passes."),
        _move("an", 6, play={"cards": ["7d", "7d", "7h"]}),
        _move("bo", 7, play={"cards": ["4d", "4d", "4s"]}),
        Asked(
            "bo",
            RULES + "ListLegalPlays",
            {"ruleset": "ourgame-simple", "hand": ["4d", "4d", "4s", "Ts", "Td", "Td", "BJ"], "on": ["7d", "7d", "7h"]},
        ),
        _move("bo", 8, passTurn={}),
        _move("cai", 5, play={"cards": ["8d", "8d", "8h"]}),
        Said(
            "The reply was lost: `cai` sends the same request again, and gets the same reply; nothing is played twice."
        ),
        _move("cai", 5, play={"cards": ["8d", "8d", "8h"]}),
        _move("du", 5, play={"cards": ["9s", "9s", "9s"]}),
        _move("en", 5, play={"cards": ["Th", "Ts", "Ts"]}),
        _move("an", 7, play={"cards": ["SJ", "SJ*", "BJ"]}),
        *(_move(player, number, passTurn={}) for player, number in (("bo", 9), ("cai", 6), ("du", 6), ("en", 6))),
        _watch("zoe", after=LAST),
    )


def _standing() -> Sequence[Said | Asked]:
    operator = (("baohuang-role", "operator"),)
    kick = {"requestId": "op-1", "tableId": TABLE_ID, "seat": 4}
    return (
        Said(
            "### Trustees\n\n`bo` asks for the trustee, takes his seat back and asks again; `cai` leaves; `du`\n"
            "forfeits and is fined; an operator kicks `en`."
        ),
        _change("bo", "SetTrusteeship", 10, active=True),
        _change("bo", "SetTrusteeship", 11, active=False),
        _change("bo", "SetTrusteeship", 12, active=True),
        _change("cai", "LeaveTable", 7),
        _change("du", "ForfeitSeat", 7),
        Asked("op", TABLES + "KickPlayer", kick, headers=operator),
        _watch("zoe", after=LAST),
    )


def _ending() -> Sequence[Said | Asked | Awaited]:
    leads = [_move("an", 8 + number, play={"cards": cards.split()}) for number, cards in enumerate(_PLAYED_OUT)]
    return (
        Said("### The end\n\n`an` leads set after set; each call stores his play and the four passes of the trustees."),
        *leads,
        Said("`zoe` watches the last play, which ends the hand: an open solo does as soon as any seat is out (END-L)."),
        _watch("zoe", background=True),
        _move("an", 16, play={"cards": ["Ks", "BJ*"]}),
        Awaited(3),
        Said("Nothing of the hand is hidden any more; the seed can be checked against the commitment:"),
        Asked("zoe", TABLES + "GetTable", {"tableId": TABLE_ID}),
        Said(
            "Seats were in trusteeship when the hand ended, so the table is dissolved (TRUST-4): nobody can sit there."
        ),
        _change("zoe", "SitDown", 1, seat=1),
    )


def _change(player: str, method: str, number: int, **body: Any) -> Asked:
    return Asked(player, TABLES + method, {"requestId": f"{player}-{number}", "tableId": TABLE_ID, **body})


def _move(player: str, number: int, **action: Any) -> Asked:
    return _change(player, "Act", number, **action)


def _watch(player: str, after: int | str = 0, *, background: bool = False) -> Asked:
    if not after:
        return Asked(player, TABLES + "WatchTable", {"tableId": TABLE_ID}, background=background)
    body = {"tableId": TABLE_ID, "afterVersion": after}
    return Asked(player, TABLES + "WatchTable", body, UNTIL_HEARTBEAT)
