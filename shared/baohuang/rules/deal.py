"""The deck, the documented shuffle and the deal (DECK-2, DEAL-1, FAIR-1).

The shuffle is a pure function of the service's seed and the five players' entropy, so anyone can recompute a deal:

1. key = SHA-256(`baohuang/deal/v1` ‖ 0x00 ‖ seed ‖ for each seat 0..4: length of its entropy in UTF-8 as four bytes,
   big-endian, then the entropy).
2. words = the 32-bit big-endian words of SHA-256(key ‖ 0), SHA-256(key ‖ 1), …, the counter as eight bytes, big-endian.
3. Fisher-Yates over `cards_of(deck)`: for i from the last index down to 1, take words until one is below the largest
   multiple of i + 1 that 2^32 holds; j = word mod (i + 1); swap cards i and j.
4. Card k goes to seat (dealer + k) mod 5.

Before the deal SHA-256(seed) is published; the seed when the hand is over.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

from baohuang.rules.cards import COPIES, CROWN, JOKERS, PLAIN, RANKS, SWORD, Card, in_order
from baohuang.rules.rulesets import Deck

SEATS: Final = 5
SEED_BYTES: Final = 32
ENTROPY_BYTES: Final = 64
"""The most bytes of entropy, in UTF-8, that a player may contribute."""

_DOMAIN: Final = b"baohuang/deal/v1\x00"
_WORD: Final = 4
_WORD_RANGE: Final = 1 << 32
_SHORT_FROM: Final = RANKS.index("6")
_SIXES_GONE: Final = Card("6d")
_WEIHAI_SIXES_GONE: Final = 3


def cards_of(deck: Deck) -> tuple[Card, ...]:
    """Return the deck's cards from lowest to highest: the order in which the shuffle begins (DECK-1..3)."""
    plain = PLAIN if deck is Deck.FULL else PLAIN[_SHORT_FROM * COPIES :]
    cards = [card for card in plain for _ in range(COPIES)]
    if deck is Deck.WEIHAI:
        for _ in range(_WEIHAI_SIXES_GONE):
            cards.remove(_SIXES_GONE)
    for joker in JOKERS:
        cards += [joker] * (1 if joker in (CROWN, SWORD) else COPIES - 1)
    return tuple(cards)


def commitment_to(seed: bytes) -> str:
    """Return what is published before the deal: SHA-256 of the seed, in hex (FAIR-1)."""
    return sha256(seed).hexdigest()


def shuffled(deck: Deck, seed: bytes, entropy: Sequence[str]) -> tuple[Card, ...]:
    """Return the deck shuffled by the seed (32 bytes) and the players' entropy, by seat (FAIR-1)."""
    cards = list(cards_of(deck))
    words = _words(_key(seed, entropy))
    for last in range(len(cards) - 1, 0, -1):
        other = _below(last + 1, words)
        cards[last], cards[other] = cards[other], cards[last]
    return tuple(cards)


def dealt(cards: Sequence[Card], dealer: int) -> tuple[tuple[Card, ...], ...]:
    """Return the five hands, by seat, each in order: one card at a time from `dealer` on (DEAL-1)."""
    return tuple(in_order(cards[(seat - dealer) % SEATS :: SEATS]) for seat in range(SEATS))


def _key(seed: bytes, entropy: Sequence[str]) -> bytes:
    key = sha256(_DOMAIN + seed)
    for contribution in entropy:
        text = contribution.encode()
        key.update(len(text).to_bytes(_WORD, "big") + text)
    return key.digest()


def _words(key: bytes) -> Iterator[int]:
    counter = 0
    while True:
        block = sha256(key + counter.to_bytes(8, "big")).digest()
        yield from (int.from_bytes(block[at : at + _WORD], "big") for at in range(0, len(block), _WORD))
        counter += 1


def _below(bound: int, words: Iterator[int]) -> int:
    limit = _WORD_RANGE - _WORD_RANGE % bound
    return next(word for word in words if word < limit) % bound
