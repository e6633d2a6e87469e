"""Random sequences, and runs of the methods for them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from hedgerow.auditing.sequences import encoded_sequences
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.tree import Taxonomy

ONE = Fraction(1)


def flat(n_items: int) -> Taxonomy:
    return Taxonomy.flat([f"i{code}" for code in range(n_items)])


def grouped(n_items: int, size: int) -> Taxonomy:
    """Items in groups of that size."""
    groups = {
        f"g{at}": [f"i{code}" for code in range(at, min(at + size, n_items))]
        for at in range(0, n_items, size)
    }
    return Taxonomy.from_nested("Any", groups)


@st.composite
def sequences(draw, *, n_items: int = 3, min_records: int = 0, most: int = 12):
    one = st.lists(st.integers(0, n_items - 1), min_size=1, max_size=6).map(tuple)
    return draw(st.lists(one, min_size=min_records, max_size=most))


def journeys(n: int = 4000, *, n_items: int = 8, seed: int = 3) -> list[tuple[int, ...]]:
    """A Markov chain with a few habits; long enough for both forests to grow."""
    rng = np.random.default_rng(seed)
    step = rng.dirichlet(np.full(n_items, 0.4), size=n_items)
    made = []
    for _ in range(n):
        item, sequence = int(rng.zipf(1.7) - 1) % n_items, []
        while True:
            sequence.append(item)
            if rng.random() < 0.3 or len(sequence) >= 25:
                break
            item = int(rng.choice(n_items, p=step[item]))
        made.append(tuple(sequence))
    return made


def published(method, taxonomy, records, *, epsilon=ONE, seed=1, compiled=None):
    ledger = PathLedger(epsilon)
    engine = BasketMemory(baskets=encoded_sequences(taxonomy, records), compiled=compiled)
    released = method.publish(
        Run(engine=engine, epsilon=epsilon, ledger=ledger, source=SeededSource(seed))
    )
    return released, ledger


def rows_of(released):
    return [tuple(released.items[a:b].tolist()) for a, b in pairwise(released.offsets.tolist())]


def listed(released):
    return dict(zip(rows_of(released), released.counts.tolist(), strict=True))
