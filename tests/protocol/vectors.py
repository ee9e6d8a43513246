"""The worked examples, computed by the document's own words: nothing of the service is used here."""

import base64
import json
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count, pairwise
from typing import Final

from .reflected import Json
from .transcript import WIDTH, Step

RANKS: Final = "3456789TJQKA2"
SUITS: Final = "cdhs"
JOKERS: Final = ("SJ", "SJ", "SJ", "SJ*", "BJ", "BJ", "BJ", "BJ*")
_CHAINED: Final = "CardsPlayed"


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal to be recomputed: the seed, and each seat's entropy; the first card goes to `dealer`."""

    seed: bytes
    entropy: tuple[str, ...]
    dealer: int

    @property
    def key(self) -> bytes:
        """Step 1."""
        told = b"".join(len(text.encode()).to_bytes(4, "big") + text.encode() for text in self.entropy)
        return sha256(b"baohuang/deal/v1\0" + self.seed + told).digest()

    def words(self) -> Iterable[int]:
        """Step 2."""
        for counter in count():
            block = sha256(self.key + counter.to_bytes(8, "big")).digest()
            yield from (int.from_bytes(block[at : at + 4], "big") for at in range(0, 32, 4))

    def shuffled(self) -> Sequence[str]:
        """Step 3, of 216 cards."""
        cards = [rank + suit for rank in RANKS for suit in SUITS for _ in range(4)] + list(JOKERS)
        words = iter(self.words())
        for last in range(len(cards) - 1, 0, -1):
            limit = 2**32 // (last + 1) * (last + 1)
            other = next(word for word in words if word < limit) % (last + 1)
            cards[last], cards[other] = cards[other], cards[last]
        return cards

    def hand(self, seat: int) -> Sequence[str]:
        """Step 4: a seat's cards, from lowest to highest."""
        lowest = [rank + suit for rank in RANKS for suit in SUITS] + list(dict.fromkeys(JOKERS))
        return sorted(self.shuffled()[(seat - self.dealer) % 5 :: 5], key=lowest.index)


def updates_in(replies: Iterable[Iterable[Json]]) -> Sequence[Json]:
    """Return all updates among replies."""
    return [message["update"] for messages in replies for message in messages if "update" in message]


def event_of(update: Json) -> Json:
    """Return the event's own message."""
    (event,) = update["event"].values()
    return dict(event)


def deal_in(replies: Sequence[Iterable[Json]]) -> Deal:
    """Return the deal of the hand that the replies tell of."""
    updates = updates_in(replies)
    started = event_of(_first(updates, "HandStarted"))
    finished = event_of(_first(updates, "HandFinished"))
    return Deal(bytes.fromhex(finished["seeds"][0]), tuple(started["entropy"]), started.get("dealer", 0))


def public_part(update: Json, table_id: str) -> bytes:
    """Return the bytes that the chain hashes of an update."""
    data = {key: value for key, value in event_of(update).items() if key != "hidden"}
    public = {
        "actor": update["actor"],
        "data": data,
        "recordedAt": update["recordedAt"],
        "stream": table_id,
        "type": update["type"],
        "version": update["version"],
    }
    return json.dumps(public, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def next_hash(before: bytes, update: Json, table_id: str) -> bytes:
    """Return the hash that the update has to have after `before`."""
    return sha256(before + sha256(public_part(update, table_id)).digest() + raw(update["hiddenDigest"])).digest()


def raw(text: str) -> bytes:
    """Return bytes that JSON holds as base64."""
    return base64.b64decode(text, validate=True)


def deal_example(steps: Sequence[Step]) -> str:
    """Write the worked deal of the transcript's hand."""
    deal = deal_in([step.shown for step in steps])
    words = [word for word, _ in zip(deal.words(), range(4), strict=False)]
    rows = {
        "seed": deal.seed.hex(),
        "commitment": sha256(deal.seed).hexdigest(),
        "entropy": json.dumps(list(deal.entropy)),
        "key": deal.key.hex(),
        "words": " ".join(f"{word:08x}" for word in words) + " …",
        "shuffled": " ".join(deal.shuffled()[:12]) + " …",
        "seat 0": " ".join(deal.hand(0)),
        "seat 1": " ".join(deal.hand(1)),
    }
    return _fenced(rows)


def chain_example(steps: Sequence[Step]) -> str:
    """Write the worked hash of the first play in the transcript that is shown right after another update."""
    table_id = table_id_in([step.shown for step in steps])
    before, update = next(pair for pair in _neighbours(steps) if pair[1]["type"] == _CHAINED)
    public = public_part(update, table_id)
    rows = {
        "before": raw(before["hash"]).hex(),
        "public": public.decode(),
        "SHA-256(public)": sha256(public).hexdigest(),
        "hidden_digest": raw(update["hiddenDigest"]).hex(),
        "hash": next_hash(raw(before["hash"]), update, table_id).hex(),
    }
    return f"Version {update['version']} of the transcript, after version {before['version']}:\n\n{_fenced(rows)}"


def table_id_in(replies: Iterable[Sequence[Json]]) -> str:
    """Return the id of the table that was opened first."""
    return next(str(messages[0]["tableId"]) for messages in replies if messages and "tableId" in messages[0])


def chain_breaks(replies: Iterable[Sequence[Json]], table_id: str) -> Sequence[int]:
    """Return the versions of updates that do not follow, by hash, from the update right before them."""
    return [
        update["version"]
        for messages in replies
        for before, update in _pairs(messages)
        if next_hash(raw(before["hash"]), update, table_id) != raw(update["hash"])
    ]


def _neighbours(steps: Sequence[Step]) -> Iterable[tuple[Json, Json]]:
    return (pair for step in steps for pair in _pairs(step.shown))


def _pairs(messages: Sequence[Json]) -> Iterable[tuple[Json, Json]]:
    updates = updates_in([messages])
    return pairwise(updates)


def _first(updates: Iterable[Json], kind: str) -> Json:
    return next(update for update in updates if update["type"] == kind)


def _fenced(rows: dict[str, str]) -> str:
    wide = max(map(len, rows)) + 2
    return "\n".join(["```", *(_row(name, value, wide) for name, value in rows.items()), "```", ""])


def _row(name: str, value: str, wide: int) -> str:
    """Write a row; JSON is never wrapped, since its bytes are meant."""
    row = f"{name:{wide}}{value}"
    return row if value.startswith("{") else textwrap.fill(row, WIDTH, subsequent_indent=" " * wide)
