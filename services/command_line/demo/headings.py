"""The headings of the demo's story."""

from rich.console import Console
from rich.text import Text


def print_heading(console: Console, title: str, told: str = "") -> None:
    """Print where the story is."""
    console.print()
    console.print(Text.assemble(("▌ ", "yellow"), (title, "bold"), f"  {told}" if told else ""), soft_wrap=True)
