"""The threshold model: minimum risk under a constraint on utility, and its two variants.

A record's risk and utility both fall as it is generalised [ARUBA, Lemma 1]. The objective is one
of [ARUBA, Eqs. (1)-(3)]: minimum risk at a given utility, maximum utility at a given risk, or the
best balance ``r - λu`` of both.

This module has the objectives and the answers; :mod:`~hedgerow.disclosure.solvers.solve` connects
them.
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
    """Minimise the risk among nodes of at least this utility [ARUBA, Eq. (2)].

    With ``of_most``, ``at_least`` is a share of the utility of the record itself.
    """

    at_least: float
    of_most: bool = False

    def __post_init__(self) -> None:
        _check_number("utility > at-least", self.at_least)


@dataclass(frozen=True, kw_only=True)
class MaximiseUtility:
    """Maximise the utility among nodes of at most this risk [ARUBA, Eq. (1); TKDE, Def. 1]."""

    at_most: float

    def __post_init__(self) -> None:
        _check_number("risk > at-most", self.at_most)


@dataclass(frozen=True, kw_only=True)
class Balance:
    """Minimise the risk minus ``rate`` times utility [ARUBA, Eq. (3)]."""

    rate: float

    def __post_init__(self) -> None:
        _check_number("rate", self.rate)
        if self.rate < 0:
            raise SettingError.out_of_range("rate", self.rate, "a number of 0 or more")


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
        """True if no generalisation increases risk or utility."""
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

    ``utility_parts`` and ``severity_parts`` are the contributions of each level of each
    attribute; without the latter, Φ is 1. ``exposure[n]`` is the factor on Φ for ``n`` matches.
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
        """Return the risk and utility of a record whose matches ``counter`` counts.

        ``utility`` are tables over codes and levels; ``person`` selects the weights; ``known`` is
        what the recipient already has of the record, and is included in the risk.
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
        """Return Φ of the node times the exposure of its matches."""
        exposure = float(self.exposure[self.counter.count(node)])
        if self.severity_parts is None:
            return exposure
        return total(self.severity_parts, node) * exposure

    def utility(self, node: Node) -> float:
        """Return the sum of the utilities of the node's levels."""
        return total(self.utility_parts, node)

    def risks(self) -> Floats:
        """Return the risk of all nodes."""
        exposure: Floats = self.exposure[self.counter.cube()]
        if self.severity_parts is None:
            return exposure
        return self.lattice.totals(self.severity_parts) * exposure

    def utilities(self) -> Floats:
        """Return the utility of all nodes."""
        return self.lattice.totals(self.utility_parts)


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer:
    """The node to disclose, or ``None`` if no node is feasible; confidential.

    ``n_visited`` counts the nodes whose risk or utility the search computed. ``exact`` is
    false if the search relies on a monotone risk and the risk is not monotone.
    """

    node: Node | None
    risk: float
    utility: float
    n_visited: int
    exact: bool = True
