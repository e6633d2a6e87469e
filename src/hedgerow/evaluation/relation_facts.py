"""The figures of relations as plain facts: every pair, every mean, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.evaluation.relations import MeanRelation, PairRelation, Relations
from hedgerow.report.headlines import Facts


def relation_facts(found: Relations, names: Sequence[str]) -> Facts:
    """Return the facts of all pairs and means, by the names of their attributes."""
    return {
        "tables": "exact" if found.exact else "of records drawn from the release",
        "impossible": _impossible(found.pairs),
        "correlations": _correlations(found.pairs),
        "mean-errors": _mean_errors(found.means),
        "means": [_mean(each, names) for each in found.means],
        "pairs": [_pair(each, names) for each in found.pairs],
    }


def _impossible(pairs: Sequence[PairRelation]) -> Facts | None:
    if not pairs:
        return None
    shares = [each.impossible for each in pairs]
    return {
        "n-pairs": len(pairs),
        "mean": float(np.mean(shares)),
        "worst": max(shares),
        "even": float(np.mean([each.even for each in pairs])),
    }


def _correlations(pairs: Sequence[PairRelation]) -> Facts | None:
    both = [
        (each.correlation, each.true_correlation)
        for each in pairs
        if each.correlation is not None and each.true_correlation is not None
    ]
    if not both:
        return None
    told, true = np.array(both).T
    return {
        "n-pairs": len(both),
        "mean-error": float(np.abs(told - true).mean()),
        "worst": float(np.abs(told - true).max()),
        "answering-zero": float(np.abs(true).mean()),
    }


def _mean_errors(means: Sequence[MeanRelation]) -> Facts | None:
    errors = [each.error for each in means if each.error is not None]
    middles = [each.middle for each in means if each.error is not None and each.middle is not None]
    if not errors:
        return None
    return {
        "n-attributes": len(errors),
        "mean-error": float(np.mean(errors)),
        "worst": max(errors),
        "answering-middle": float(np.mean(middles)),
    }


def _mean(each: MeanRelation, names: Sequence[str]) -> Facts:
    return {
        "attribute": names[each.attribute],
        "release": each.mean,
        "records": each.true_mean,
        "error": each.error,
        "answering-middle": each.middle,
    }


def _pair(each: PairRelation, names: Sequence[str]) -> Facts:
    return {
        "attributes": [names[at] for at in each.attributes],
        "error": each.error,
        "impossible": each.impossible,
        "even": each.even,
        "correlation": None
        if each.true_correlation is None
        else {"release": each.correlation, "records": each.true_correlation},
    }
