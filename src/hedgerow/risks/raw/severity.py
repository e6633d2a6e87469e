"""ARUBA's three risk models for every original record [ARUBA, Sec. IV-B]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.lattice.risk import RiskModel, Severities
from hedgerow.evaluation.distinct import row_numbers
from hedgerow.risks.raw.read import RawTable

MODELS: tuple[Literal[1, 2, 3], ...] = (1, 2, 3)
FORMULAS = {1: "severity / matches", 2: "1 / matches", 3: "severity x ln(people / matches)"}
"""Formulas of the models; matches are the people who share a record's quasi-identifiers."""


@dataclass(frozen=True, kw_only=True)
class ModelRisk:
    """The risk of all records by one model: its mean, 95 % point and maximum."""

    model: int
    formula: str
    mean: float
    high: float
    largest: float


def model_risks(raw: RawTable) -> tuple[ModelRisk, ...]:
    """Return the risk of the original records, with the weights of the plan.

    Without a ``disclose`` section every attribute weighs 1 and the attacker knows the table.
    """
    if not len(raw):
        return ()
    severity = _severities(raw)
    matches = matches_of(raw)
    n_people = len(raw.confidential.against)
    found = []
    for number in MODELS:
        model = RiskModel(number=number)
        risk = model.exposure(n_people)[np.minimum(matches, n_people)]
        risk = risk * severity if model.personal else risk
        found.append(
            ModelRisk(
                model=number,
                formula=FORMULAS[number],
                mean=float(risk.mean()),
                high=float(np.quantile(risk, 0.95)),
                largest=float(risk.max()),
            )
        )
    return tuple(found)


def matches_of(raw: RawTable) -> NDArray[np.int64]:
    """Return how many people of the attacker's dictionary share each record's quasi-identifiers."""
    places = _places(raw)
    ours = [raw.confidential.table.codes[at] for at in places]
    theirs = [raw.confidential.against.codes[at] for at in places]
    number, _ = row_numbers([np.concatenate([a, b]) for a, b in zip(ours, theirs, strict=True)])
    n_ours = len(raw)
    counts = np.bincount(number[n_ours:], minlength=int(number.max(initial=0)) + 1)
    return np.asarray(counts[number[:n_ours]], dtype=np.int64)


def _places(raw: RawTable) -> list[int]:
    """Return the positions of the quasi-identifiers among the attributes of the schema."""
    names = {column.name for column in raw.quasi}
    return [at for at, each in enumerate(raw.ready.schema.attributes) if each.name in names]


def _severities(raw: RawTable) -> NDArray[np.float64]:
    """Return the severity of each record: the sum of the weights of its quasi-identifiers."""
    ready, confidential = raw.ready, raw.confidential
    weights = Severities.of(
        ready.chains,
        attributes=ready.attribute_weights,
        values=ready.value_weights,
        inner=ready.disclose.risk.inner,
    )
    total = np.zeros(len(raw))
    for at in _places(raw):
        part = weights.tables[at][confidential.table.codes[at], 0]
        total += part if confidential.personal is None else part * confidential.personal[:, at]
    return total
