"""Bots among the players: told by their names, which only who seats players for others gives."""

from typing import Final

from baohuang.rules.state import PlayerId

BOT_PREFIX: Final = "bot:"


def is_bot(player: PlayerId) -> bool:
    """Tell whether the player is a bot; nobody is none."""
    return player.startswith(BOT_PREFIX)
