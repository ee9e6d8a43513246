"""Matchmaking's SQL, one file a query, each with one line of purpose on top."""

from baohuang.database.queries import query_in


def query(name: str) -> str:
    """Return the text of a query by its file's name; FileNotFoundError if there is none."""
    return query_in(__name__, name)
