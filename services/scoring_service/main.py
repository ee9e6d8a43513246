"""`python -m scoring_service.main`: one replica of the scoring service; see `scoring_service.serving`."""

from baohuang.starting import load


def main() -> None:
    """Run the service."""
    load("scoring_service.serving").main()


if __name__ == "__main__":
    main()
