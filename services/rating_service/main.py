"""`python -m rating_service.main`: one replica of the rating service; see `rating_service.serving`."""

from baohuang.starting import load


def main() -> None:
    """Run the service."""
    load("rating_service.serving").main()


if __name__ == "__main__":
    main()
