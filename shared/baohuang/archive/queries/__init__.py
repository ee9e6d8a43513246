"""The SQL of archives, one file a query."""

from baohuang.database.queries import query_in


def query(name: str) -> str:
    """Return the text of a query by its file's name; FileNotFoundError if there is none."""
    return query_in(__name__, name)
