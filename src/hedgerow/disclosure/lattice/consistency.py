"""Consistency of dictionary records with a disclosed record.

By default a dictionary record is consistent with the records that generalise it, ``t ⪯ x``, counted
in :mod:`~hedgerow.disclosure.lattice.matches`. The experiments of [ARUBA, Sec. VI] use similarity
instead: a Jaro similarity of at least 0.8. That is implemented here, and it is *not monotone*: a
generalisation may be less similar to a record than what it generalises, so only brute force is
sure to find the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.disclosure.lattice.dictionary import Dictionary
from hedgerow.disclosure.lattice.lattice import Chains, Lattice, RecordCodes
from hedgerow.disclosure.lattice.matches import MatchCounter
from hedgerow.errors import MissingExtraError, SettingError

Consistency: TypeAlias = Literal["hierarchical", "approximate"]
CONSISTENCIES: tuple[Consistency, ...] = get_args(Consistency)

SIMILAR_FROM = 0.8
"""Minimum similarity in the experiments of [ARUBA, Sec. VI]."""


def match_counter(
    record: RecordCodes,
    dictionary: Dictionary,
    *,
    consistency: Consistency = "hierarchical",
    similar_from: float = SIMILAR_FROM,
) -> MatchCounter:
    """Return a counter of a record's matches in a dictionary, for either kind of consistency."""
    if consistency == "hierarchical":
        return dictionary.counter(record)
    if consistency == "approximate":
        return ApproximateMatches.of(record, dictionary, similar_from=similar_from)
    raise SettingError(
        f"{consistency!r} is not a kind of consistency.",
        where="risk > consistency",
        do=f"Choose one of: {', '.join(CONSISTENCIES)}.",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ApproximateMatches:
    """Counts of dictionary records that are similar to the nodes of one record's lattice.

    ``similarities[i][level, entry]`` compares the label disclosed at a level of attribute ``i``
    with that of the value of a dictionary record; a root is similar to every value. Records are
    similar if the mean over their attributes is at least ``similar_from``: the paper does not say
    how it combines attributes.
    """

    monotone: ClassVar[bool] = False
    lattice: Lattice
    similarities: tuple[NDArray[np.float64], ...]
    many: NDArray[np.int64]
    similar_from: float

    @classmethod
    def of(
        cls, record: RecordCodes, dictionary: Dictionary, *, similar_from: float = SIMILAR_FROM
    ) -> ApproximateMatches:
        """Compare a record's generalisations with a dictionary; needs the extra ``disclose``."""
        if not 0 <= similar_from <= 1:
            raise SettingError.out_of_range(
                "risk > similar-from", similar_from, "a number between 0 and 1"
            )
        lattice = Lattice.of(record, dictionary.chains)
        similarities = [
            _similarities(chain, chain.nodes[code, : height + 1])[:, column]
            for code, chain, height, column in zip(
                record, dictionary.chains, lattice.heights, dictionary.columns, strict=True
            )
        ]
        return cls(
            lattice=lattice,
            similarities=tuple(similarities),
            many=dictionary.many,
            similar_from=similar_from,
        )

    @cached_property
    def n_records(self) -> int:
        """The size of the dictionary."""
        return int(self.many.sum())

    def count(self, node: Sequence[int]) -> int:
        """Return the number of records that are similar to one node."""
        totals = np.zeros(len(self.many))
        for similarity, level in zip(self.similarities, node, strict=True):
            totals += similarity[level]
        # Rounding may put a mean of exactly 0.8 a little lower.
        enough = (self.similar_from - 1e-12) * len(self.similarities)
        return int(self.many[totals >= enough].sum())

    def counts(self, levels: ArrayLike) -> NDArray[np.int64]:
        """Return the number of similar records for each of many nodes, one row of levels each."""
        rows = np.asarray(levels, dtype=np.int64)
        return np.array([self.count(row) for row in rows], dtype=np.int64)

    def cube(self) -> NDArray[np.int64]:
        """Return the number of similar records for each node of the lattice."""
        return self.counts(self.lattice.every_node()).reshape(self.lattice.shape)


def _similarities(chain: Chains, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the similarity of each node's label to that of each leaf."""
    try:
        from rapidfuzz.distance import Jaro
        from rapidfuzz.process import cdist
    except ImportError:
        raise MissingExtraError("approximate matching", extra="disclose") from None
    tree = chain.taxonomy
    labels = [tree.labels[node] for node in nodes]
    looks: NDArray[np.float64] = cdist(
        labels, tree.leaf_labels, scorer=Jaro.similarity, dtype=np.float64
    )
    looks[nodes == 0] = 1.0
    return looks
