"""What a plan will cost and keep, told before any record is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Literal

import numpy as np

from hedgerow.partition.method import Outline
from hedgerow.pipeline import Prepared
from hedgerow.privacy.budget import epsilon_text
from hedgerow.release.precision import deviation, within
from hedgerow.taxonomy.domain import code_dtype

Verdict = Literal["feasible", "coarse", "mostly noise", "depends on the number of records"]

COARSE_FROM = 1.0
NOISE_FROM = 5.0
"""Noise of all groups together over the records: from here on a release is mostly noise."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What can be said of a plan without its data.

    ``noise_ratio`` compares the noise of all groups together (their number times the
    standard deviation of one count) with the number of records. Below 1 most groups
    stand out from their noise; above 5 hardly any does.
    """

    epsilon: Fraction
    outline: Outline
    records: int | None
    bytes_per_record: int

    @property
    def error_95(self) -> int:
        """A count is within this of the truth in 95 of 100 cases."""
        return within(self.outline.counts)

    @property
    def records_needed(self) -> int:
        """Records from which on the release is feasible."""
        return ceil(self.outline.n_groups * deviation(self.outline.counts) / COARSE_FROM)

    @property
    def noise_ratio(self) -> float | None:
        """Noise over records, where the number of records is known."""
        return None if self.records is None else self.records_needed / max(self.records, 1)

    @property
    def epsilon_needed(self) -> Fraction | None:
        """The epsilon at which the release would be feasible, rounded up."""
        ratio = self.noise_ratio
        if ratio is None or ratio <= COARSE_FROM:
            return None
        return Fraction(ceil(float(self.epsilon) * ratio * 20), 20)

    @property
    def verdict(self) -> Verdict:
        """Whether the release will be worth making."""
        ratio = self.noise_ratio
        if ratio is None:
            return "depends on the number of records"
        if ratio <= COARSE_FROM:
            return "feasible"
        return "coarse" if ratio <= NOISE_FROM else "mostly noise"

    @property
    def memory_bytes(self) -> int:
        """A rough peak: the encoded table, scratch for keys, and the groups."""
        per_group = 64
        return (self.records or 0) * (self.bytes_per_record + 8) + self.outline.n_groups * per_group

    @property
    def advice(self) -> str:
        """The verdict in words, with what would do."""
        needed = f"{self.records_needed:,}"
        if self.records is None:
            return f"Feasible from about {needed} records on. Say how many with --records."
        if self.verdict == "feasible":
            return f"Feasible: about {needed} records would do."
        would_do = (
            f"epsilon {epsilon_text(self.epsilon_needed or self.epsilon)}, or {needed} records,"
        )
        if self.verdict == "coarse":
            return f"Coarse: only large groups will stand out; {would_do} would do better."
        return f"Mostly noise: {would_do} would do, or fewer specialisations."

    def as_dict(self) -> dict[str, Any]:
        """Return the forecast for JSON, budgets as exact text."""
        return {
            "epsilon": str(self.epsilon),
            "steps": [
                {"on": step.on, "share": str(step.share), "times": step.times}
                for step in self.outline.steps
            ],
            "count-share": str(self.outline.counts),
            "count-error-95": self.error_95,
            "groups": self.outline.n_groups,
            "bytes-per-record": self.bytes_per_record,
            "memory-bytes": self.memory_bytes,
            "records": self.records,
            "records-needed": self.records_needed,
            "epsilon-needed": None if self.epsilon_needed is None else str(self.epsilon_needed),
            "verdict": self.verdict,
        }


def forecast(ready: Prepared, *, records: int | None = None) -> Forecast:
    """Return what can be said of a prepared plan; no record is read.

    ``records`` is about how many there are, if that is public knowledge.
    """
    sizes = [attribute.domain.size for attribute in ready.schema.used()]
    return Forecast(
        epsilon=ready.epsilon,
        outline=ready.method.outline(ready.schema, ready.epsilon),
        records=records,
        bytes_per_record=sum(np.dtype(code_dtype(size)).itemsize for size in sizes),
    )
