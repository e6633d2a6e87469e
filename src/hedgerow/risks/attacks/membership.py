"""Membership decisions by scores that are fixed before they are measured.

The game: a member and an outsider, drawn from one population, are shown in random order with the
release, and the attacker names the member. The order of preference between scores, the weights of a
combination and the minimum margin of a sure guess are fixed on the first pairs; only the others
count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.model.binomial import lower_bound
from hedgerow.risks.attacks.limits import SwapLimits
from hedgerow.risks.attacks.pairs import rate_facts
from hedgerow.risks.attacks.traces import Scores

LEAST_SURE = 10
"""Minimum number of pairs on which a margin must decide."""

_RIDGE = 1.0
_STEPS = 25

ScoreWeights = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Decisions:
    """Differences of scores, member minus outsider, of the pairs that fix and that measure."""

    fixing: Scores
    measuring: Scores

    def facts(self, limits: SwapLimits | None, *, mistake: float, seed: int) -> dict[str, Any]:
        """Return accuracy and advantage with exact intervals, the bound, and verdicts."""
        rng = np.random.default_rng([seed, 6])
        coins = rng.random(len(self.measuring)) < 0.5
        right = (self.measuring > 0) | ((self.measuring == 0) & coins)
        accuracy = rate_facts(int(right.sum()), len(right))
        margin = sure_margin(self.fixing)
        decided = np.abs(self.measuring) >= margin
        sure = rate_facts(int((right & decided).sum()), int(decided.sum()))
        pairs = len(self.measuring)
        found = [(accuracy["hits"], pairs - accuracy["hits"])]
        found.append((sure["hits"], sure["of"] - sure["hits"]))
        chance = SwapLimits(epsilon=0.0)
        each = mistake / len(found)
        return {
            "pairs": pairs,
            "accuracy": accuracy,
            "advantage": _advantage(accuracy),
            "undecided-by-score": int((self.measuring == 0).sum()),
            "sure": sure,
            "bound": None if limits is None else limits.accuracy,
            "beyond-guessing": _any_refutes(chance, found, pairs, each),
            "beyond-bound": None if limits is None else _any_refutes(limits, found, pairs, each),
        }


def _any_refutes(
    limits: SwapLimits, found: list[tuple[int, int]], pairs: int, mistake: float
) -> bool:
    return any(limits.refuted_by(*each, pairs=pairs, mistake=mistake) for each in found)


def _advantage(accuracy: dict[str, Any]) -> dict[str, Any]:
    """Return how much better than guessing the attack is: 0 for a coin, 1 for certainty."""
    return {
        key: None if accuracy[key] is None else 2 * accuracy[key] - 1
        for key in ("rate", "low", "high")
    }


def sure_margin(differences: Scores) -> float:
    """Return the margin above which guesses are surest, on pairs that do not count.

    This is the margin whose guesses have the largest lower bound on their accuracy, among those
    that decide on enough pairs; 0 if there are too few.
    """
    size = np.abs(differences)
    best, margin = 0.0, 0.0
    for share in (0.0, 0.5, 0.75, 0.9, 0.95, 0.98):
        least = float(np.quantile(size, share)) if len(size) else 0.0
        decided = (size >= least) & (size > 0)
        n_decided = int(decided.sum())
        if n_decided < LEAST_SURE:
            continue
        right = int((differences[decided] > 0).sum())
        proven = lower_bound(right, n_decided, mistake=0.05)
        if proven > best:
            best, margin = proven, max(least, float(size[decided].min()))
    return margin


def paired(scores: Scores, n_fixing: int) -> Decisions:
    """Return the differences of one score; targets are members first, then their outsiders."""
    members, outsiders = np.split(scores, 2)
    difference = members - outsiders
    return Decisions(fixing=difference[:n_fixing], measuring=difference[n_fixing:])


def best_decisions(decisions: list[Decisions]) -> Decisions:
    """Return the score with the best result on the pairs that fix it."""
    return max(decisions, key=lambda each: float(np.sign(each.fixing).sum()))


def score_weights(differences: NDArray[np.float64]) -> ScoreWeights:
    """Return weights of scores for membership, by ridge logistic regression on differences.

    ``differences`` has one row per pair: the scores of the member minus those of the outsider. A
    model without intercept is fitted to "the difference points to the member".
    """
    weights = np.zeros(differences.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(differences @ weights, -30, 30)))
        slope = differences.T @ (1 - chance) - _RIDGE * weights
        curve = (differences.T * (chance * (1 - chance))) @ differences
        step = np.linalg.solve(curve + _RIDGE * np.eye(len(weights)), slope)
        weights = weights + step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return weights


def standardised_scores(scores: dict[str, Scores]) -> NDArray[np.float64]:
    """Return all scores side by side, each by its median and spread, clipped at 5 spreads.

    Members and outsiders are treated alike.
    """
    columns = []
    for each in scores.values():
        centre = np.median(each)
        spread = float(np.mean(np.abs(each - centre))) or 1.0
        columns.append(np.clip((each - centre) / spread, -5, 5))
    return np.stack(columns, axis=1)


def pair_differences(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of each member minus those of its outsider."""
    members, outsiders = np.split(columns, 2)
    return np.asarray(members - outsiders)
