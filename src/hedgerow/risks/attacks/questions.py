"""Figures of all attacks on one set of pairs: membership, and the three questions of WP29.

The figures of all attacks are built in the same way: success against members, success of the same
attack against outsiders (control), and the bound of the guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow.model.arrays import Flags
from hedgerow.model.certificate import Certificate
from hedgerow.report.headlines import Facts
from hedgerow.risks.attacks.limits import SwapLimits
from hedgerow.risks.attacks.membership import (
    Decisions,
    ScoreWeights,
    best_decisions,
    pair_differences,
    paired,
    score_weights,
    standardised_scores,
)
from hedgerow.risks.attacks.pairs import PairHits, Sample, rate_facts
from hedgerow.risks.attacks.traces import Scores, Traces

NO_HOLDOUT = "there are no held-out records to compare with (--holdout)"
LEAST_PAIRS = 20
"""Minimum number of pairs for measuring membership."""


def not_run(why: str) -> Facts:
    """Return the entry of an attack that was not run."""
    return {"not-run": why}


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """The conversion of hits to figures: the pairs, the bound and the false-alarm probability."""

    n_pairs: int
    n_fixing: int
    has_outsiders: bool
    limits: SwapLimits | None
    mistake: float
    seed: int

    def question(self, hits: Flags) -> Facts:
        """Return the figures of one question; targets are members first, then outsiders."""
        if not self.has_outsiders:
            return {
                "pairs": 0,
                "attack": rate_facts(int(hits.sum()), len(hits)),
                "control": None,
                "bound": None,
                "risk": None,
                "beyond-control": None,
                "beyond-bound": None,
            }
        members, outsiders = np.split(hits, 2)
        return PairHits.of(members, outsiders).facts(self.limits, mistake=self.mistake)

    def decided(self, decisions: Decisions) -> Facts:
        """Return the figures of one membership attack."""
        return decisions.facts(self.limits, mistake=self.mistake, seed=self.seed)

    def baseline(self, hits: Flags) -> Facts:
        """Return how often guessing without the target's other values hits a member."""
        members = hits[: self.n_pairs]
        return rate_facts(int(members.sum()), len(members))


@dataclass(frozen=True, kw_only=True)
class Judge:
    """The bound of a guarantee, if there is one, and the false-alarm probability per verdict."""

    limits: SwapLimits | None
    mistake: float
    seed: int

    def scoring(self, sample: Sample) -> Scoring:
        """Return the conversion of hits to figures for the targets of a sample."""
        return Scoring(
            n_pairs=len(sample),
            n_fixing=sample.n_fixing,
            has_outsiders=len(sample.outsiders) > 0,
            limits=self.limits,
            mistake=self.mistake,
            seed=self.seed,
        )

    def of_both(self, one: Certificate | None, other: Certificate | None) -> Judge:
        """Return the judge of two releases of the same data, whose costs add up."""
        if self.limits is None or one is None or other is None:
            return replace(self, limits=None)
        first, second = one.guarantee, other.guarantee
        if first.epsilon is None or second.epsilon is None:
            return replace(self, limits=None)
        delta = (first.delta or 0) + (second.delta or 0)
        return replace(self, limits=SwapLimits.of(first.epsilon + second.epsilon, delta))


def membership_facts(
    scoring: Scoring, scores: dict[str, Scores], shadow: ScoreWeights | str
) -> Facts:
    """Return the result of each membership attack, or the reason why none was run."""
    if not scoring.has_outsiders:
        return not_run(NO_HOLDOUT)
    if scoring.n_pairs < LEAST_PAIRS:
        return not_run(f"there are fewer than {LEAST_PAIRS} pairs of a member and an outsider")
    singles = {name: paired(each, scoring.n_fixing) for name, each in scores.items()}
    differences = pair_differences(standardised_scores(scores))
    trained = _weighed(
        differences, score_weights(differences[: scoring.n_fixing]), scoring.n_fixing
    )
    found = {
        "distance": scoring.decided(singles["distance"]),
        "density": scoring.decided(best_decisions([singles["density"], singles["cell"]])),
        "trained": scoring.decided(trained),
    }
    if isinstance(shadow, str):
        found["shadow"] = not_run(shadow)
    else:
        found["shadow"] = scoring.decided(_weighed(differences, shadow, scoring.n_fixing))
    return {"attacks": found}


def _weighed(differences: Any, weights: ScoreWeights, n_fixing: int) -> Decisions:
    score = differences @ weights
    return Decisions(fixing=score[:n_fixing], measuring=score[n_fixing:])


def inference_facts(scoring: Scoring, traces: Traces) -> Facts:
    """Return the result of the inference of each hidden column."""
    if not traces.inferred:
        return not_run("no column is marked as sensitive (--sensitive), and there is no class")
    return {
        "columns": {
            name: {
                **scoring.question(hits),
                "baseline": scoring.baseline(traces.guessed[name]),
            }
            for name, hits in traces.inferred.items()
        }
    }
