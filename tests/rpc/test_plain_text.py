"""What a text may hold that others are shown, and how it is written if it holds more."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from baohuang.rpc.plain_text import is_plain, plain

OBEYED = ["\0", "\n", "\r", "\t", "\x1b[31m", "\x7f", "\x9b31m", "\u2028", "\u202e", "\u2066", "\u200f", "\udcff"]


def test_what_a_terminal_obeys_is_not_plain() -> None:
    """Control characters of both sets, separators of lines, marks of direction, halves of surrogates."""
    for obeyed in OBEYED:
        assert not is_plain(f"two{obeyed}words")
        assert plain(obeyed).isprintable()


def test_words_of_any_language_are_plain() -> None:
    """Chinese with its wide blank, accents, emoji joined of several, right-to-left words without marks."""
    for words in ("掉线了\u3000请见谅", "é à ñ", "👩\u200d🚀", "שלום", "a\u00a0b", "“…”"):
        assert is_plain(words)
        assert plain(words) == words


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_stays_the_same_json(text: str) -> None:
    """Written out, what was printed as JSON still reads as the same, and holds nothing that is obeyed."""
    printed = plain(msgspec.json.encode({"note": text}).decode())
    assert is_plain(printed)
    assert msgspec.json.decode(printed) == {"note": text}
