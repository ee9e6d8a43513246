"""Bytes from a terminal or a pipe, made into lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line.play.keyboard import LineEditor


def _fed(*chunks: bytes) -> tuple[list[str], str, int]:
    """Return the lines, what is half typed, and how often the end was told."""
    lines: list[str] = []
    ends: list[None] = []
    editor = LineEditor(lines.append, lambda: ends.append(None))
    for chunk in chunks:
        editor.feed(chunk)
    return lines, editor.typed, len(ends)


@pytest.mark.parametrize(
    ("chunks", "lines", "typed", "ends"),
    [
        ([b"99\n"], ["99"], "", 0),
        ([b"9", b"9 s\np\n"], ["99 s", "p"], "", 0),
        ([b"98\x7f9\n"], ["99"], "", 0),
        ([b"\x7f\x089\r"], ["9"], "", 0),
        ([b"abc\x15p\n"], ["p"], "", 0),
        ([b"\x1b[A9\x1b[D9\x1bOP\n"], ["99"], "", 0),
        ([b"9\t9\x00"], [], "99", 0),
        (["保".encode()[:1], "保".encode()[1:]], [], "保", 0),
        ([b"\x04"], [], "", 1),
        ([b"9\x04"], [], "9", 0),
        ([b"p\n", b""], ["p"], "", 1),
        ([b"p", b""], ["p"], "", 1),
    ],
)
def test_lines_from_bytes(chunks: list[bytes], lines: list[str], typed: str, ends: int) -> None:
    """Backspace, Ctrl-U, arrows, Ctrl-D, a character in two halves, a last line without its newline."""
    assert _fed(*chunks) == (lines, typed, ends)


@given(st.lists(st.binary(min_size=1, max_size=8), max_size=8))
def test_no_bytes_break_it(chunks: list[bytes]) -> None:
    """Whatever comes, lines have neither controls nor newlines in them."""
    lines, typed, _ = _fed(*chunks)
    assert all(text.isprintable() for text in (*lines, typed))
