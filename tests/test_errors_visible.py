"""Messages show what nobody would see: characters that turn the text, or take no room."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.cli.console import say
from hedgerow.errors import DataError, visible
from hedgerow.report.page import shown_whole

HIDDEN = ["\u202e", "\u2066", "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u115f",
          "\u3164", "\u2028", "\u061c", "\x1b", "\x07", "\x85", "\U000e0041", "\ufe0f"]  # fmt: skip


@pytest.mark.parametrize("letter", HIDDEN)
def test_what_nobody_would_see_is_written_out(letter, capsys):
    text = visible(f"pay{letter}roll")
    assert letter not in text
    assert f"{ord(letter):x}" in text
    error = DataError(f"a {letter}", where=f"b{letter}.csv", do=f"c {letter}")
    assert not any(letter in part for part in (str(error), error.what, error.where, error.do))
    if letter != "\x1b":  # begins a colour
        say(f"pay{letter}roll")
        assert letter not in capsys.readouterr().out
    assert letter not in shown_whole(letter)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_what_can_be_seen_stays(text):
    blank = "\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800\ufffc\ufffd"
    plain = "".join(each for each in text if each not in blank and unicodedata.name(each, ""))
    assert visible(plain) == plain
