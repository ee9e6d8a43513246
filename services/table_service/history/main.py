"""`python -m table_service.history.main`: the history service alone; see `table_service.history.serving`."""

from baohuang.starting import load


def main() -> None:
    """Run the service."""
    load("table_service.history.serving").main()


if __name__ == "__main__":
    main()
