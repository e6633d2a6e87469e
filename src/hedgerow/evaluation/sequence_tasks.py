"""Tasks of an evaluation of sequences; each returns its figures as plain facts."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hedgerow.evaluation.grams import gram_counts, relative_error, top_patterns
from hedgerow.evaluation.subject import BasketSubject
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.progress import Done, unheard
from hedgerow.report.headlines import Facts

SHARE = Fraction(1, 1000)
"""Minimum count of a compared run, as a share of all sequences."""

LONGEST = 4
TOP = 100


def begun_with(subject: BasketSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the errors of the counts of frequent prefixes of 1 to 4 items."""
    return _grams(subject, begins=True)


def held_runs(subject: BasketSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the errors of the counts of frequent runs of 1 to 4 items."""
    return _grams(subject, begins=False)


def _grams(subject: BasketSubject, *, begins: bool) -> Facts:
    least = float(SHARE * subject.records.total)
    lengths = []
    for n in range(1, LONGEST + 1):
        true = gram_counts(subject.records, n, begins=begins)
        error, compared = relative_error(
            true, gram_counts(subject.release, n, begins=begins), least=least
        )
        lengths.append({"items": n, "compared": compared, "relative": error})
    return {"share": str(SHARE), "lengths": lengths}


def patterns(subject: BasketSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the agreement of the most frequent substrings of records and release."""
    true = top_patterns(subject.records, TOP)
    done(0.5)
    noisy = top_patterns(subject.release, TOP)
    kept = [max(0.0, 1 - abs(noisy.get(each, 0) - n) / n) for each, n in true.items()]
    found = sum(each in noisy for each in true)
    return {
        "k": len(true),
        "f1": 2 * found / max(1, len(true) + len(noisy)),
        "utility": sum(kept) / max(1, len(kept)),
        "examples": [
            {
                "items": [subject.labels[code] for code in each],
                "records": support,
                "release": noisy.get(each),
            }
            for each, support in islice(
                ((each, n) for each, n in true.items() if len(each) > 1), 10
            )
        ],
    }


def lengths(subject: BasketSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the error of the lengths of sequences, and the numbers of items."""
    longest = max(_longest(subject.records), _longest(subject.release))
    true, noisy = _shares(subject.records, longest), _shares(subject.release, longest)
    return {
        "total-variation": float(np.abs(true - noisy).sum() / 2),
        "items": {"records": _n_items(subject.records), "release": _n_items(subject.release)},
    }


def _longest(sequences: WeightedSets) -> int:
    return int(np.diff(sequences.offsets).max(initial=0))


def _shares(sequences: WeightedSets, longest: int) -> NDArray[np.float64]:
    counts = np.bincount(
        np.diff(sequences.offsets), weights=sequences.weights, minlength=longest + 1
    )
    shares: NDArray[np.float64] = counts / max(1.0, float(counts.sum()))
    return shares


def _n_items(sequences: WeightedSets) -> int:
    return int((np.diff(sequences.offsets) * sequences.weights).sum())
