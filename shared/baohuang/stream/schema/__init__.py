"""The tables that a relay and a consumer need, in the schema of whichever service runs them.

A migration of that service makes them, in its own schema and for its own role. What is here has been run by released
migrations: it is never edited; a change is a file and a function of its own.
"""

from importlib.resources import files


def relay_tables(role: str) -> str:
    """Return the statements that make the table `relays`, for a role."""
    return _statements("relay_tables", role)


def consumer_tables(role: str) -> str:
    """Return the statements that make `checkpoints`, `passed` and `set_aside`, for a role."""
    return _statements("consumer_tables", role)


def _statements(name: str, role: str) -> str:
    return files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8").replace("{role}", role)
