"""Chance that is the same on every run."""

from random import Random


def dice(*name: object) -> Random:
    """Return a source of chance that belongs to the name."""
    return Random(repr(name))  # noqa: S311 - to be the same on every run is the point
