"""Which sizes of tables weave offers for a pair of attributes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hedgerow.methods.weave.candidates import resolutions, table_candidates


@dataclass
class Size:
    """An attribute of so many values, merged to at most as many groups as asked for."""

    values: int
    ordered: bool = True

    def n_groups(self, most: int) -> int:
        return min(self.values, most)


@pytest.mark.parametrize(
    ("first", "second", "cap", "shape"),
    [
        (100, 100, 64, (8, 8)),
        (100, 100, 4, (2, 2)),
        (2, 100, 64, (2, 32)),
        (100, 3, 64, (21, 3)),
        (100, 100, 2, (2, 2)),
        (5, 5, 4096, (5, 5)),
    ],
)
def test_tables_are_as_square_as_their_attributes_allow(first, second, cap, shape):
    assert resolutions(Size(first), Size(second), (cap,)) == [shape]


@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_tables_by_class_are_as_small_as_others_but_for_the_coarsest(n_classes):
    found = table_candidates(
        [Size(100), Size(100)],
        n_records=1e6,
        share=1.0,
        n_classes=n_classes,
        purpose="general",
    )
    plain = [each.shape for each in found if not each.by_class]
    by_class = [each.shape for each in found if each.by_class]
    largest = max(a * b for a, b in plain)
    fitting = [shape for shape in plain if shape[0] * shape[1] * n_classes <= largest + 9]
    if n_classes == 1:
        assert by_class == []
    else:
        assert by_class[0] == plain[0]
        assert set(by_class) <= set(fitting)
        assert len(by_class) < len(plain)
