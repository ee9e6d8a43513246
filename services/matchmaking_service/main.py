"""`python -m matchmaking_service.main`: one replica of the matchmaking service; see `matchmaking_service.serving`."""

from baohuang.starting import load


def main() -> None:
    """Run the service."""
    load("matchmaking_service.serving").main()


if __name__ == "__main__":
    main()
