"""Random baskets, and runs of the methods for set-valued data."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.run import Run
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource
from hedgerow.taxonomy.builders import context_free
from hedgerow.taxonomy.tree import Taxonomy

ONE = Fraction(1)


def universe(n_items: int, *, fan_out: int = 2) -> Taxonomy:
    return context_free([f"i{code + 1}" for code in range(n_items)], fan_out=fan_out)


@st.composite
def taxonomies(draw, *, most_items: int = 12):
    """Context-free trees, and real ones with wide nodes and single children."""
    n_items = draw(st.integers(1, most_items))
    if draw(st.booleans()):
        return universe(n_items, fan_out=draw(st.integers(2, 5)))
    names = [f"i{code}" for code in range(n_items)]
    groups, at = {}, 0
    while at < n_items:
        size = draw(st.integers(1, n_items - at))
        members = names[at : at + size]
        groups[f"g{at}"] = {f"h{at}": members} if draw(st.booleans()) else members
        at += size
    return Taxonomy.from_nested("all", groups)


@st.composite
def encoded_baskets(draw, *, most_items: int = 12, min_records: int = 0):
    taxonomy = draw(taxonomies(most_items=most_items))
    sets = st.sets(st.integers(0, taxonomy.n_leaves - 1), min_size=1)
    kinds = draw(st.lists(sets, min_size=1, max_size=6))
    records = draw(st.lists(st.sampled_from(kinds), min_size=min_records, max_size=60))
    return EncodedBaskets.from_sets(taxonomy, records)


def published(method, baskets, *, epsilon=ONE, seed=1):
    ledger = PathLedger(epsilon)
    noisy = method.publish(
        Run(
            engine=BasketMemory(baskets=baskets),
            epsilon=epsilon,
            ledger=ledger,
            source=SeededSource(seed),
        )
    )
    return noisy, ledger


def listed(noisy):
    """A release, or baskets of sets, as {items: count}."""
    counts = getattr(noisy, "counts", None)
    rows = {}
    for r in range(len(noisy)):
        key = tuple(noisy.items[noisy.offsets[r] : noisy.offsets[r + 1]].tolist())
        rows[key] = rows.get(key, 0) + (1 if counts is None else int(counts[r]))
    return rows
