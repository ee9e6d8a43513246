"""`python -m command_line.bots.main`: plays for the bots at tables; see `command_line.bots.serving`."""

from baohuang.starting import load


def main() -> None:
    """Play for the bots that matchmaking seats, as the environment says: BAOHUANG_TABLE_ADDRESS, BAOHUANG_BOTS_KEY."""
    load("command_line.bots.serving").main()


if __name__ == "__main__":
    main()
