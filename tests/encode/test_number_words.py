"""The reading of a number-like word does not depend on the other words of its block."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.encode import columns
from hedgerow.encode.columns import column_encoder, many_numbers, number_in
from hedgerow.encode.sums import ColumnSums
from hedgerow.model.schema import Attribute
from hedgerow.taxonomy.domain import NumericDomain

HOSTILE = re.findall(
    r"\S+",
    """
nan NaN NAN -nan +nan nan(1) nan() nan(x_1) NaN(ind) nanq snan 1nan inf INF +inf -inf Inf
infinity Infinity -infinity infinit infinityy 1e5 1E5 1e+5 1e-5 1e 1e+ e5 1e5.0 1e400
-1e400 1e-400 1e99999999999999999999 0e99999999999 0x10 0X1p3 0b11 0o17 1_000 _1 1__0
1,000 1.000,5 +1 -1 ++1 +-1 - + . 1. .5 -.5 +.5 -0 -0.0 00017 0.1 0.30000000000000004
9007199254740993 179769313486231570814527423731704356798070e270 4.9e-324 2.4e-324 1d5 1f
1L 1j 1% 1/2 1:2 #1 $1 None null NA N/A ? true 1e5e5 1-1 1+1 1.2.3 .e1 0. 5e-1 1E+05
""",
)
HOSTILE += ["", " ", " 1", "1 ", "\t1", "1\n", "\x0b1", "1\x1f", "\u00a01", "1\u2009000", "1 000"]
HOSTILE += ["\u0661", "\uff11\uff12", "\u00b2", "\u2212" + "1", "1\u200b", "\ufeff1", "1\0", "\0"]
HOSTILE += ["9" * 400, "0." + "3" * 800, "1" + "0" * 308, "0" * 500 + "7"]

FILL = [str(i / 8) for i in range(columns._MANY_WORDS + 1)]
ENCODERS = {
    unreadable: column_encoder(
        Attribute(
            name="x",
            domain=NumericDomain.even(low=-10, high=9000, step="1/2"),
            unreadable=unreadable,
        ),
        missing_values=frozenset({"?", "999", "1e2"}),
        missing_code=None,
    )
    for unreadable in ("refuse", "missing")
}
LETTERS = st.text(alphabet="0123456789+-.eE", min_size=1, max_size=8)
WORDS = st.one_of(st.sampled_from(HOSTILE), LETTERS, st.text(max_size=4), st.floats().map(repr))


def reading(words, unreadable="refuse"):
    """What becomes of each word: missing, refused, or a code."""
    found = ENCODERS[unreadable](pa.array(words, pa.string()))
    n_words = len(words)
    missing = [False] * n_words if found.missing is None else found.missing.tolist()
    unlisted = [False] * n_words if found.unlisted is None else found.unlisted.tolist()
    return [
        "refused" if wrong else "missing" if lacks else code
        for wrong, lacks, code in zip(unlisted, missing, found.codes.tolist(), strict=True)
    ]


@pytest.mark.parametrize("unreadable", ["refuse", "missing"])
def test_a_hostile_word_reads_the_same_in_any_block(unreadable):
    for word in HOSTILE:
        alone = reading([word], unreadable)
        assert reading([*FILL, word], unreadable)[-1:] == alone, word
        assert reading([*FILL, word, "x"], unreadable)[-2:-1] == alone, word


@given(st.lists(WORDS, min_size=1, max_size=4), st.sampled_from(["refuse", "missing"]))
@settings(max_examples=60)
def test_any_word_reads_the_same_in_any_block(words, unreadable):
    alone = [reading([word], unreadable)[0] for word in words]
    assert reading(words, unreadable) == alone
    assert reading(FILL + words, unreadable)[len(FILL) :] == alone


@pytest.mark.parametrize("word", HOSTILE)
def test_a_hostile_word_has_the_same_sum_in_any_block(word):
    def total(*blocks):
        sums = ColumnSums(bytes(32))
        for block in blocks:
            sums.add_column("x", pa.array(block, pa.string()))
        return sums.totals

    assert total([*FILL, word]) == total(FILL, [word])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_many_numbers_are_those_that_each_text_writes(kind):
    words = [*FILL, "+1", "1e400", "5.", "-0", "4.9e-324"]
    found = many_numbers(pa.array([None, "x", *words], pa.string()).cast(kind)[2:])
    assert found is not None
    assert found.to_pylist() == [number_in(word) for word in words]
    assert many_numbers(pa.array([*FILL, None], kind)).to_pylist()[-1] is None
    assert many_numbers(pa.array([*FILL, "nan"], kind)) is None
