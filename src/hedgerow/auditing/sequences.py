"""Neighbouring sequences on which flaws are most visible, and features of releases of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.methods.chain.alphabet import Alphabet
from hedgerow.methods.chain.budget import ChainBudget
from hedgerow.model.baskets import EncodedBaskets, item_dtype, offsets_of
from hedgerow.model.sequences import NoisySequences
from hedgerow.privacy.path_tests import rule_for
from hedgerow.taxonomy.tree import Taxonomy

MOST_ITEMS = 6
MOST_PREFIXES = 40
MOST_ROWS = 30
LONGEST = 5

ALIKE = 40
"""Number of sequences in one leaf for which a noisy count is rarely negative."""


@dataclass(frozen=True, kw_only=True)
class SequencePair:
    """Sequences of item codes with and without ``record``."""

    name: str
    about: str
    taxonomy: Taxonomy
    rest: tuple[tuple[int, ...], ...]
    record: tuple[int, ...]

    def engine(self, *, has_record: bool) -> BasketMemory:
        """Return an engine over the sequences, with or without the record."""
        kept = (*self.rest, self.record) if has_record else self.rest
        return BasketMemory(baskets=encoded_sequences(self.taxonomy, kept))


def encoded_sequences(taxonomy: Taxonomy, sequences: Sequence[Sequence[int]]) -> EncodedBaskets:
    """Return sequences of codes in the form of an engine, without empty ones.

    >>> encoded_sequences(Taxonomy.flat(["a", "b"]), [(1, 0, 1), ()]).items.tolist()
    [1, 0, 1]
    """
    codes = [code for sequence in sequences for code in sequence]
    lengths = np.array([len(sequence) for sequence in sequences if len(sequence)], dtype=np.int64)
    return EncodedBaskets(
        taxonomy=taxonomy,
        offsets=offsets_of(lengths),
        items=np.array(codes, dtype=item_dtype(taxonomy.n_leaves)),
    )


def sequence_pairs(*, epsilon: Fraction, seed: int = 1) -> tuple[SequencePair, ...]:
    """Return the pairs for methods that publish sequences."""
    flat = Taxonomy.flat([f"i{code}" for code in range(3)])
    rng = np.random.default_rng([seed, 7])
    random = [tuple(rng.integers(0, 3, size).tolist()) for size in rng.integers(1, 6, 4)]
    rows_of_pairs = [
        ("T5", "one record or none", (), (0,)),
        ("T6", "a sequence and its reverse, or one of them", ((0, 1),), (1, 0)),
        ("T8", "an item of one record", ((0, 0),), (2,)),
        ("N", "nine equal sequences or eight", ((1, 2, 1),) * 8, (1, 2, 1)),
        ("R1", "four random sequences, or three", tuple(random[:3]), random[3]),
    ]
    pairs = [
        SequencePair(name=name, about=about, taxonomy=flat, rest=rest, record=record)
        for name, about, rest, record in rows_of_pairs
    ]
    return (*pairs, one_leaf_pair(), border_pair(flat, epsilon))


def one_leaf_pair() -> SequencePair:
    """Return a pair with all sequences in one leaf, whose noisy count is the total."""
    return SequencePair(
        name="L",
        about=f"{ALIKE} sequences or one less, all in one leaf",
        taxonomy=Taxonomy.flat(["i0"]),
        rest=((0,),) * (ALIKE - 1),
        record=(0,),
    )


def border_pair(taxonomy: Taxonomy, epsilon: Fraction) -> SequencePair:
    """Return a pair whose record decides tests: its first two prefixes are at their borders."""
    budget = ChainBudget(epsilon=epsilon)
    rule = rule_for(budget.first_tests, fan_out=Alphabet.of(taxonomy).fan_out)
    second = budget.first_threshold + 2 * rule.delta
    last = taxonomy.n_leaves - 1
    return SequencePair(
        name="B",
        about=f"{second + 1} sequences or one less: a prefix at the border of its test",
        taxonomy=taxonomy,
        rest=((last, 0, last),) * second,
        record=(last, 0, last),
    )


def sequences_over(
    taxonomy: Taxonomy, *, epsilon: Fraction, seed: int = 1
) -> tuple[SequencePair, ...]:
    """Return pairs over a public universe of items; no confidential record is read."""
    n = taxonomy.n_leaves
    rng = np.random.default_rng([seed, 9])
    random = tuple(
        tuple(rng.integers(0, n, size).tolist()) for size in rng.integers(1, 6, 40).tolist()
    )
    rows_of_pairs = [
        ("T5", "one record or none", (), (n - 1,)),
        ("T6", "a sequence and its reverse, or one of them", ((0, n - 1),), (n - 1, 0)),
        ("N", "nine equal sequences or eight", ((0, n - 1, 0),) * 8, (0, n - 1, 0)),
        ("R1", "forty random sequences, or one less", random[:39], random[39]),
    ]
    pairs = [
        SequencePair(name=name, about=about, taxonomy=taxonomy, rest=rest, record=record)
        for name, about, rest, record in rows_of_pairs
    ]
    return (*pairs, border_pair(taxonomy, epsilon))


def sequence_features(released: NoisySequences, pair: SequencePair) -> dict[str, float]:
    """Return the features of sequences: prefixes and their expansion, items, lengths, order."""
    found: dict[str, float] = {
        "sequences": len(released),
        "records": float(released.counts.sum()),
        "items in the universe": released.taxonomy.n_leaves,
    }
    counts = released.counts.tolist()
    rows = [
        tuple(released.items[start:stop].tolist())
        for start, stop in pairwise(released.offsets.tolist())
    ]
    own = sum(count for row, count in zip(rows, counts, strict=True) if row == pair.record)
    found["sequences like the record"] = float(own)
    for row, count in list(zip(rows, counts, strict=True))[:MOST_ROWS]:
        if len(row) <= LONGEST:
            found[f"sequence {row}"] = float(count)
    of_items = np.bincount(released.items, np.repeat(counts, released.lengths), MOST_ITEMS)
    for item, total in enumerate(of_items[:MOST_ITEMS].tolist()):
        found[f"item {item}"] = float(total)
    of_lengths = np.bincount(np.minimum(released.lengths, LONGEST + 1), counts, LONGEST + 2)
    for length, total in enumerate(of_lengths.tolist()):
        found[f"length {length}"] = float(total)
    found["rows in order"] = float(all(a < b for a, b in pairwise(rows)))
    return found | _prefix_features(released)


def _prefix_features(released: NoisySequences) -> dict[str, float]:
    prefixes = released.prefixes
    if prefixes is None:
        return {}
    found: dict[str, float] = {"prefixes": len(prefixes)}
    for place, (start, stop) in enumerate(pairwise(prefixes.offsets.tolist()[: MOST_PREFIXES + 1])):
        prefix = tuple(prefixes.items[start:stop].tolist())
        found[f"prefix {prefix}"] = float(prefixes.counts[place])
        found[f"prefix {prefix} is followed"] = float(prefixes.ends[place] >= 0)
    return found
