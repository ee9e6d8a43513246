"""SQL in files, one a query, each with one line of purpose on top."""

from importlib.resources import files


def query_in(package: str, name: str) -> str:
    """Return the text of a package's query by its file's name; FileNotFoundError if there is none."""
    return files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")
