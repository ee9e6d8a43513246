"""`python -m table_service.main`: one replica of the table service; see `table_service.serving`."""

from baohuang.starting import load


def main() -> None:
    """Run the service."""
    load("table_service.serving").main()


if __name__ == "__main__":
    main()
