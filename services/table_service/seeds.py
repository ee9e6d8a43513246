"""Where the seeds of the deals come from (FAIR-1)."""

import secrets
from hashlib import sha256
from typing import Protocol

from baohuang.rules.deal import SEED_BYTES
from baohuang.rules.state import Table


class SeedSource(Protocol):
    """Gives every command a fresh seed, should deciding it take one."""

    def seed_for(self, table: Table | None) -> str:
        """Return 32 bytes, in hex, for a command to this table (None: one yet to be opened)."""


class RandomSeeds:
    """Seeds from the operating system's cryptographic source: what every real table gets."""

    def seed_for(self, table: Table | None) -> str:  # noqa: ARG002 - the protocol's signature
        """Return a random seed."""
        return secrets.token_hex(SEED_BYTES)


class DevelopmentSeeds:
    """Seeds that follow from one number, so that a development server deals the same hands again."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def seed_for(self, table: Table | None) -> str:
        """Return the seed of what comes next at such a table: alike for all tables at the same hand and deal."""
        hands, deal = (table.hands_played, table.hand.deal if table.hand else 0) if table else (0, 0)
        return sha256(f"baohuang/development/{self._seed}/{hands}/{deal}".encode()).hexdigest()


def seeds_from(dev_seed: int | None) -> SeedSource:
    """Return development seeds for a number, random ones for None."""
    return RandomSeeds() if dev_seed is None else DevelopmentSeeds(dev_seed)
