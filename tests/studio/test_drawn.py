"""What the page Release draws: names that do not touch, and counts that add up."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.draw.bars import length_bars
from hedgerow.draw.map_names import LINE, NARROW, WIDE, names_across, names_down
from hedgerow.draw.maps import HEIGHT, WIDTH, BoxMap, MapMark
from hedgerow.model.sequences import NoisySequences
from hedgerow.studio.itemsview import held_bars, next_bars
from hedgerow.taxonomy.tree import Taxonomy

marks = st.lists(
    st.builds(MapMark, at=st.floats(0, 1), text=st.text("abc-", min_size=1, max_size=30)),
    max_size=30,
    unique_by=lambda mark: mark.at,
)


def drawn(across: list[MapMark], down: list[MapMark], *, slanted: bool) -> BoxMap:
    return BoxMap(
        across="x",
        down="y",
        slanted=slanted,
        left=0,
        below=0,
        shapes=(),
        across_marks=tuple(MapMark(at=each.at * WIDTH, text=each.text) for each in across),
        down_marks=tuple(MapMark(at=each.at * HEIGHT, text=each.text) for each in down),
        n_rectangles=0,
        stretched=False,
        thinned=False,
    )


@given(marks, marks, st.booleans())
def test_names_beside_a_map_do_not_touch_on_wide_pages_or_narrow_ones(across, down, slanted):
    found = drawn(across, down, slanted=slanted)
    for names, pixels in (
        (names_across(found), (WIDE[0], NARROW[0])),
        (names_down(found), (WIDE[1], NARROW[1])),
    ):
        for narrow, room in zip((False, True), pixels, strict=True):
            shown = [name for name in names if name.narrow or not narrow]
            kept = sorted(name.percent / 100 * room for name in shown)
            assert (np.diff(kept) >= LINE * 0.7).all()
    assert bool(names_down(found)) == bool(down)
    assert all(0 <= name.percent <= 100 for name in (*names_across(found), *names_down(found)))


sequences = st.lists(
    st.tuples(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(1, 9)),
    min_size=1,
    max_size=8,
)


@given(sequences, st.integers(0, 4))
def test_what_follows_an_item_is_what_counting_by_hand_finds(listed, item):
    labels = [str(n) for n in range(5)]
    offsets = np.cumsum([0, *(len(items) for items, _ in listed)]).astype(np.int64)
    noisy = NoisySequences.distinct_of(
        Taxonomy.from_nested("*", labels),
        offsets=offsets,
        items=np.concatenate([items for items, _ in listed]).astype(np.int64),
        counts=np.array([count for _, count in listed], dtype=np.int64),
    )
    follows: Counter[str] = Counter()
    holds: Counter[str] = Counter()
    for items, count in listed:
        holds.update({str(each): count for each in set(items)})
        for one, other in pairwise(items):
            follows[str(other)] += count * (one == item)
    n_with, bars = next_bars(noisy, str(item))
    assert n_with == holds[str(item)]
    assert {bar.label: bar.count for bar in bars} == {k: v for k, v in follows.items() if v}
    assert {bar.label: bar.count for bar in held_bars(noisy)} == dict(holds)
    assert sum(bar.count for bar in length_bars(noisy, "{n}+")) == sum(n for _, n in listed)
