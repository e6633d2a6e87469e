"""The risk of disclosing a generalised record, from its severity and its number of matches.

The severity Φ of [ARUBA, Sec. IV-B] is a sum over attributes with personal weights; the number of
matches |ρ| in the attacker's dictionary measures how well the person is hidden. A model
multiplies Φ by the *exposure*, a function of |ρ|.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.disclosure.lattice.lattice import Chains, Lattice, Parts, RecordCodes, parts_of
from hedgerow.errors import SettingError

InnerWeights: TypeAlias = Literal["harmonic", "constant"]


@dataclass(frozen=True, kw_only=True)
class RiskModel:
    """Risk as Φ times the exposure of |ρ| matches, by its number in [ARUBA, Sec. IV-B].

    - 1: ``Φ / |ρ|``;
    - 2: ``1 / |ρ|``, the same for everybody;
    - 3: ``Φ ln(|Θ| / |ρ|)``, entropic.

    A record that is not in the dictionary counts as one match, its own.

    Departs: model 3 is printed as ``Φ ln(1 / |ρ|)``. That is at most 0, and largest if
    nothing is disclosed, so no search that relies on [ARUBA, Lemma 1] finds its optimum; with the
    relative frequency ``|ρ| / |Θ|`` instead of ``|ρ|`` it falls with every generalisation.
    ``printed`` selects the printed form, which is *not monotone*.
    """

    number: Literal[1, 2, 3] = 1
    printed: bool = False

    def __post_init__(self) -> None:
        if self.number not in (1, 2, 3):
            raise SettingError.out_of_range("risk > model", self.number, "1, 2 or 3")
        if self.printed and self.number != 3:
            raise SettingError(
                "Models 1 and 2 are as printed anyway.",
                where="risk > printed",
                do="Omit it, or choose model 3.",
            )

    @property
    def monotone(self) -> bool:
        """True if no generalisation increases the risk."""
        return not self.printed

    @property
    def personal(self) -> bool:
        """True if the risk depends on the severities."""
        return self.number != 2

    def exposure(self, n_dictionary: int) -> NDArray[np.float64]:
        """Return the factor on Φ for each number of matches, ``0..n_dictionary``.

        >>> RiskModel(number=1).exposure(4).tolist()
        [1.0, 1.0, 0.5, 0.3333333333333333, 0.25]
        """
        hidden_among = np.maximum(np.arange(n_dictionary + 1), 1)
        if self.number != 3:
            return 1 / hidden_among
        known = 1 if self.printed else max(n_dictionary, 1)
        return np.log(known / hidden_among)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Severities:
    """Weights of all persons: the contribution of each level above each code to Φ.

    ``tables`` hold the weights of each attribute by code and level, the same for all;
    ``personal``, if any, one factor per record and attribute. The harmonic mean scales with its
    terms, so a person's weight for an attribute is such a factor.
    """

    tables: tuple[NDArray[np.float64], ...]
    personal: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        chains: Sequence[Chains],
        *,
        attributes: Mapping[int, float] | None = None,
        values: Mapping[int, ArrayLike] | None = None,
        personal: ArrayLike | None = None,
        inner: InnerWeights = "harmonic",
    ) -> Severities:
        """Combine the weights of attributes, of their values (by code) and of persons by products.

        The default weight is 1. A root weighs 0. The weight of an inner node is the modified
        harmonic mean ``1 / sum(1 / w)`` over its children [ARUBA, Sec. VI], or with ``constant``
        that of the record's own value [TKDE, Sec. II-A].
        """
        tables = []
        for i, chain in enumerate(chains):
            leaves = np.ones(chain.taxonomy.n_leaves)
            if values is not None and i in values:
                leaves = _checked(values[i], leaves.shape, f"values of attribute {i + 1}")
            weight = _checked((attributes or {}).get(i, 1.0), (), f"attribute {i + 1}")
            tables.append(weight * _inner_weights(leaves, chain, inner))
        if personal is not None:
            factors = np.asarray(personal, dtype=np.float64)
            personal = _checked(factors, (*factors.shape[:1], len(tables)), "records")
        return cls(tables=tuple(tables), personal=personal)

    def parts(self, record: RecordCodes, lattice: Lattice, person: int = 0) -> Parts:
        """Return each level's contribution to Φ for one record, with the weights of one person."""
        parts = parts_of(record, self.tables, lattice)
        if self.personal is None:
            return parts
        return tuple(
            part * weight for part, weight in zip(parts, self.personal[person], strict=True)
        )


def _checked(numbers: ArrayLike, shape: tuple[int, ...], whose: str) -> NDArray[np.float64]:
    weights = np.array(numbers, dtype=np.float64)
    if weights.shape != shape or not (np.isfinite(weights) & (weights >= 0)).all():
        raise SettingError(
            "A weight is missing, negative or not a number.",
            where=f"weights of {whose}",
            do="Give one number of 0 or more for each.",
        )
    return weights


def _inner_weights(
    leaves: NDArray[np.float64], chain: Chains, inner: InnerWeights
) -> NDArray[np.float64]:
    """Return the weight of each level above each code.

    The modified harmonic mean of harmonic means is that of all leaves below: sums of
    reciprocals add up. A leaf of weight 0 makes the weight of all its ancestors 0.
    """
    above = np.arange(chain.tallest + 1) < chain.heights[:, None]
    if inner == "constant":
        return np.where(above, leaves[:, None], 0.0)
    tree = chain.taxonomy
    borders = np.stack([tree.first, tree.stop], axis=1).reshape(-1)
    with np.errstate(divide="ignore"):
        sums = np.add.reduceat(np.append(1 / leaves, 0.0), borders)[::2]
    weights = 1 / sums[chain.nodes]
    weights[:, 0] = leaves
    # Rounding must not make a node heavier than its children.
    return np.where(above, np.minimum.accumulate(weights, axis=1), 0.0)
