"""Readers keep their promises on hostile bytes: a brief run of what `tools/fuzz.py` does for long.

The corpus holds one valid file of every kind, and every input that once broke a promise.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import DataError, InternalError, PlanError
from support.fuzz_targets import (
    CONFIDENTIAL,
    TARGETS,
    Finding,
    check_message,
    folder,
    own_words,
    released,
    shows,
    try_bytes,
)

CORPUS = Path(__file__).with_name("corpus")
SEEDS = {name: sorted((CORPUS / name).iterdir()) for name in TARGETS}
KEPT = [path for paths in SEEDS.values() for path in paths]


@pytest.fixture(scope="module", autouse=True)
def _clean_up():
    yield
    if folder.cache_info().currsize:
        shutil.rmtree(folder(), ignore_errors=True)
        folder.cache_clear()
        released.cache_clear()


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_kept_input_breaks_no_promise(path):
    try_bytes(path.parent.name, path.read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_has_an_input_that_is_accepted(target):
    assert any(try_bytes(target, path.read_bytes()) is None for path in SEEDS[target])


def test_the_corpus_is_small():
    assert len(KEPT) <= 80
    assert sum(path.stat().st_size for path in KEPT) < 300_000


@st.composite
def mutated(draw, target):
    """A kept input with some of its bytes changed, left out, repeated or put in."""
    data = bytearray(draw(st.sampled_from(SEEDS[target])).read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 12))
        piece = draw(st.sampled_from([b"", bytes(data[at : at + length]) * 2, b"\0", b"\xff"]))
        given_bytes = draw(st.binary(max_size=6)) if draw(st.booleans()) else piece
        data[at : at + length] = given_bytes
    return bytes(data)


@pytest.mark.parametrize("target", TARGETS)
@given(data=st.data())
@settings(max_examples=60)
def test_a_damaged_file_breaks_no_promise(target, data):
    try_bytes(target, data.draw(mutated(target)))


CELLS = st.sampled_from(
    ["", "a", "b", "1", "-1.5", '"', '""', '"x"', '"a,b"', '"a\nb"', " ", "é", "=", "'", "nan"]
)
BREAKS = st.sampled_from([",", ",", ";", "\t", "|", "\n", "\n", "\r\n", "\r", "\n\n"])


@given(st.integers(0, 3), st.lists(st.tuples(CELLS, BREAKS), max_size=30))
@settings(max_examples=100)
def test_any_cells_between_any_delimiters_break_no_promise(option, pieces):
    text = "".join(cell + end for cell, end in pieces)
    for target in ("delimited", "baskets", "taxonomy"):
        try_bytes(target, bytes([option]) + text.encode())
    try_bytes("encode", text.encode())
    try_bytes("draft", b"\0" + text.encode())


OBJECTS = st.recursive(
    st.sampled_from([None, True, 0, 1.5, 2**53 + 1, "a", "", "\ud800", "x" * 1100, "2011-08-21"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["age", "job", "", "a\nb", "k" * 1100]), inner, max_size=3),
    ),
    max_leaves=5,
)


@given(st.integers(0, 15), st.lists(OBJECTS, max_size=6), st.integers(1, 25))
@settings(max_examples=60)
def test_any_objects_on_lines_break_no_promise(option, objects, times):
    lines = "\n".join(map(json.dumps, objects * times)).encode()
    try_bytes("objects", bytes([option]) + lines)
    try_bytes("draft", b"\2" + lines)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**7),
    st.floats(),
    st.sampled_from(
        ["numeric", "values", "flat", "prefix", "dates", "*", "1/2", "x", "", "\u2028"]
    ),
    st.text(max_size=4),
)
KEYS = st.sampled_from(
    ["numeric", "values", "taxonomy", "step", "edges", "role", "other", "flat", "prefix", "length"]
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


@given(TREES, TREES, st.sampled_from(["attributes", "items", "publish", "ledger", "disclose"]))
@settings(max_examples=100)
def test_any_tree_in_a_plan_breaks_no_promise(one, other, section):
    plan = {"attributes": {"a": one}, section: other}
    try_bytes("plan", b"\2" + json.dumps(plan).encode())
    try_bytes("taxonomy", b"\3" + json.dumps(one).encode())


def test_the_checks_of_messages_can_fail():
    coloured = PlanError("what", do="x")
    coloured.args = ("\x1b[31m",)  # past the words that an error writes out itself
    for error in (
        InternalError("x"),
        PlanError("what"),
        coloured,
        PlanError("x" * 30_000, do="x"),
    ):
        with pytest.raises(Finding):
            check_message(error)
    leak = DataError("the value 'Ada Lovelace' is not listed", do="x")
    check_message(leak)
    with pytest.raises(Finding, match="shows the data"):
        check_message(leak, b"name\nAda Lovelace\n")


def test_own_words_are_no_leak():
    assert b"Name a file that can be read." in own_words()
    assert not shows("Name a file that can be read.", b"Name a file that can be read.")
    assert set(CONFIDENTIAL) < set(TARGETS)
