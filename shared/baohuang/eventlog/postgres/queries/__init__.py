"""The log's SQL, one file a query, each with one line of purpose on top."""

from importlib.resources import files


def query(name: str) -> str:
    """Return the text of a query by its file's name; FileNotFoundError if there is none."""
    return files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
