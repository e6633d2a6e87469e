"""The threshold model: the least risk that leaves a record useful, and its two relatives.

A record's risk and utility both fall as it is generalised [ARUBA, Lemma 1]. What is asked is
one of [ARUBA, Eqs. (1)-(3)]: the least risk at a given utility, the most utility at a given
risk, or the best balance ``r - λu`` of both.

Here are the questions and the answers; :mod:`~hedgerow.disclosure.solvers.solve` connects the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from hedgerow.disclosure.lattice.known import known_parts, with_known
from hedgerow.disclosure.lattice.lattice import (
    Lattice,
    Levels,
    Node,
    Parts,
    RecordCodes,
    parts_of,
    total,
)
from hedgerow.disclosure.lattice.matches import MatchCounter
from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.errors import SettingError
from hedgerow.model.arrays import Floats


@dataclass(frozen=True, kw_only=True)
class MinimiseRisk:
    """The least risk among nodes of at least this utility [ARUBA, Eq. (2)].

    With ``of_most``, ``at_least`` is a share of the utility of the record itself.
    """

    at_least: float
    of_most: bool = False

    def __post_init__(self) -> None:
        _check_number("utility > at-least", self.at_least)


@dataclass(frozen=True, kw_only=True)
class MaximiseUtility:
    """The most utility among nodes of at most this risk [ARUBA, Eq. (1); TKDE, Def. 1]."""

    at_most: float

    def __post_init__(self) -> None:
        _check_number("risk > at-most", self.at_most)


@dataclass(frozen=True, kw_only=True)
class Balance:
    """The least risk minus ``rate`` times utility [ARUBA, Eq. (3)]."""

    rate: float

    def __post_init__(self) -> None:
        _check_number("rate", self.rate)
        if self.rate < 0:
            raise SettingError.out_of_range("rate", self.rate, "a number from 0 up")


Objective: TypeAlias = MinimiseRisk | MaximiseUtility | Balance


def _check_number(setting: str, value: float) -> None:
    if not math.isfinite(value):
        raise SettingError.out_of_range(setting, value, "a finite number")


class Landscape(Protocol):
    """Risk and utility over the lattice of one record; both are confidential."""

    @property
    def lattice(self) -> Lattice:
        """The record's generalisations."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether risk and utility fall, or stay, with every generalisation."""
        ...

    def risk(self, node: Node) -> float:
        """Return the risk of one node."""
        ...

    def utility(self, node: Node) -> float:
        """Return the utility of one node."""
        ...

    def risks(self) -> Floats:
        """Return the risk of all nodes, in the shape of the lattice."""
        ...

    def utilities(self) -> Floats:
        """Return the utility of all nodes, in the shape of the lattice."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RecordLandscape:
    """The risk and utility of one record.

    ``utility_parts`` and ``severity_parts`` say what each level of each attribute adds;
    without the latter, Φ is 1. ``exposure[n]`` is what Φ is multiplied by for ``n`` matches.
    """

    counter: MatchCounter
    utility_parts: Parts
    severity_parts: Parts | None
    exposure: Floats
    monotone: bool = True

    @classmethod
    def of(
        cls,
        record: RecordCodes,
        counter: MatchCounter,
        *,
        utility: Parts,
        severities: Severities,
        model: RiskModel,
        person: int = 0,
        known: Levels | None = None,
    ) -> RecordLandscape:
        """The risk and utility of a record whose matches ``counter`` counts.

        ``utility`` are tables over codes and levels; ``person`` is whose weights count;
        ``known`` what the recipient has of the record, together with which risk is taken.
        """
        lattice = counter.lattice
        parts = severities.parts(record, lattice, person) if model.personal else None
        return cls(
            counter=with_known(counter, known),
            utility_parts=parts_of(record, utility, lattice),
            severity_parts=None if parts is None else known_parts(parts, known),
            exposure=model.exposure(counter.n_records),
            monotone=model.monotone and counter.monotone,
        )

    @property
    def lattice(self) -> Lattice:
        """The record's generalisations."""
        return self.counter.lattice

    def risk(self, node: Node) -> float:
        """Φ of the node times the exposure of its matches."""
        exposure = float(self.exposure[self.counter.count(node)])
        if self.severity_parts is None:
            return exposure
        return total(self.severity_parts, node) * exposure

    def utility(self, node: Node) -> float:
        """The sum of what the levels of the node are worth."""
        return total(self.utility_parts, node)

    def risks(self) -> Floats:
        """The risk of all nodes."""
        exposure: Floats = self.exposure[self.counter.cube()]
        if self.severity_parts is None:
            return exposure
        return self.lattice.totals(self.severity_parts) * exposure

    def utilities(self) -> Floats:
        """The utility of all nodes."""
        return self.lattice.totals(self.utility_parts)


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer:
    """The node to disclose, or ``None`` where no node is feasible; confidential.

    ``n_visited`` counts the nodes whose risk or utility the search asked for. ``exact`` is
    false where the search relied on a monotone risk and had none.
    """

    node: Node | None
    risk: float
    utility: float
    n_visited: int
    exact: bool = True
