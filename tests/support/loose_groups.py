"""Any boxes with counts, and what spreading them code by code comes to."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hedgerow.model.groups import Groups, Ranges
from support.tables import grid, schema_of, values

SCHEMA = schema_of(grid(6), values(4, 2), grid(3))


@st.composite
def loose_groups(draw, marginals: int | None = None):
    """Any boxes with counts, overlapping ones too, over the schema above."""
    ranges, index = [], []
    n = draw(st.integers(1, 6))
    for attribute in SCHEMA.attributes:
        size = attribute.domain.size
        pairs = draw(
            st.sets(
                st.tuples(st.integers(0, size - 1), st.integers(1, size)).map(
                    lambda p: (p[0], max(p[0] + 1, p[1]))
                ),
                min_size=1,
                max_size=4,
            )
        )
        table = Ranges.of(sorted(pairs))
        ranges.append(table)
        places = draw(st.lists(st.integers(0, len(table) - 1), min_size=n, max_size=n))
        index.append(np.array(places, np.int32))
    weights = None
    if marginals is not None:
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        weights = tuple(
            rng.integers(0, 4, (attribute.domain.size, marginals)).astype(np.float64)
            for attribute in SCHEMA.attributes
        )
    return Groups(
        ranges=tuple(ranges),
        index=tuple(index),
        classes=np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), np.int32),
        counts=np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)), np.int64),
        is_cut=False,
        marginals=weights,
    )


def density(groups: Groups) -> np.ndarray:
    """Return the weight of every point of the domain, group by group and code by code."""
    sizes = [attribute.domain.size for attribute in SCHEMA.attributes]
    whole = np.zeros([*sizes, 2])
    for g in range(len(groups)):
        parts = []
        for at, size in enumerate(sizes):
            place = groups.index[at][g]
            span = slice(int(groups.ranges[at].first[place]), int(groups.ranges[at].stop[place]))
            weights = np.zeros(size)
            weights[span] = 1.0
            if groups.marginals is not None:
                own = groups.marginals[at]
                column = int(groups.classes[g]) if own.shape[1] > 1 else 0
                if own[span, column].sum() > 0:
                    weights[span] = own[span, column]
            parts.append(weights / weights.sum())
        cell = np.einsum("a,b,c->abc", *parts) * groups.counts[g]
        whole[..., int(groups.classes[g])] += cell
    return whole


KINDS = st.sampled_from([None, 1, 2]).flatmap(lambda n: loose_groups(marginals=n))
