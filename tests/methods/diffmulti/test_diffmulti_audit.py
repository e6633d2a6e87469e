"""Twins of DiffMulti with the paper's own leaks: the audit refutes each.

They do what the paper prints: test a true count for zero, divide by a true count, split at
midpoints of the data. That DiffMulti itself is not refuted, with any score, is what
`hedgerow audit diffmulti` finds.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.methods.diffmulti import growth as diffmulti_growth
from hedgerow.methods.diffmulti.budget import fair_shares
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.diffmulti.growth import PrintedGrowth
from hedgerow.methods.diffmulti.scores import UNITS, multi_score
from hedgerow.methods.diffmulti.splits import Chosen
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.source import SeededSource
from support.broken_twins import TABLES, outcome, outcome_at_once

pytestmark = pytest.mark.audit


def printed(score, *, h):
    return DiffMulti(
        specialisations=h,
        score=multi_score(score, faithful=True),
        fair=True,
        depth=None,
        faithful=True,
    )


# T2: is the child of the one record specialised again? [Eq. (10), first case]


def spares_empty_children(self, level, parents):
    """Eq. (10) as printed: a child without records gets nothing."""
    first = np.flatnonzero(np.diff(parents, prepend=-1))
    starts = np.append(first, len(parents))
    left = self.left[parents[first]]
    shares = fair_shares(left, self._noisy_sizes(level), starts, source=self.run.source)
    return np.where(level.classes().sum(axis=1) == 0, 0, shares)


def test_whether_a_child_is_specialised_again_refutes_nothing():
    method = printed("discernibility", h=21)
    assert outcome(method, TABLES["T2"], runs=600) == "not refuted"


def test_a_twin_that_tests_a_true_count_for_zero_is_refuted(monkeypatch):
    monkeypatch.setattr(PrintedGrowth, "_handed_down", spares_empty_children)
    assert outcome(printed("discernibility", h=21), TABLES["T2"]) == "refuted"


# T3: ten children, all records in the last; a parent of 1 or of 2 records.

RUNS = 100_000
SHARE = Fraction(1, 10)


def divided(*, exact):
    """Return the nine empty children's specialisations, in many runs at once."""

    def columns(*, has_record, runs, seed):
        source, n_records = SeededSource(seed), 2 if has_record else 1
        counts = np.zeros((runs, 10), dtype=np.int64)
        counts[:, 9] = n_records
        noise = discrete_laplace(counts.size, epsilon=SHARE, source=source)
        noisy = counts + noise.reshape(counts.shape)
        if exact:
            shares = np.maximum(noisy * 20 // n_records, 0)
        else:
            left, starts = np.full(runs, 21, dtype=np.int64), np.arange(0, 10 * runs + 1, 10)
            shares = fair_shares(left, noisy.ravel(), starts, source=source).reshape(runs, 10)
        return {
            f"children with {least}": (shares[:, :9] >= least).sum(axis=1).astype(float)
            for least in (1, 2, 5, 10, 20, 40)
        }

    return columns


@pytest.mark.parametrize("exact", [False, True], ids=["ours", "a twin that divides by |P|"])
def test_dividing_by_noisy_counts_refutes_nothing_and_by_the_true_count_is_refuted(exact):
    found = outcome_at_once(divided(exact=exact), epsilon=SHARE, runs=RUNS)
    assert found == ("refuted" if exact else "not refuted")


# T4: {20, 40} or {20} on [0, 100]; the split point itself.


def midpoints(offers, choice, *, run, **asked):
    """[Sec. 4.3, last paragraph]: score and split intervals between records at midpoints."""
    chosen = sound_choice(offers, choice, run=run, **asked)
    each = offers[0]
    if len(each) < 2:
        return chosen
    # The score is linear between records, but for the rounding of its units.
    changes = np.flatnonzero(np.abs(np.diff(np.diff(each.scores))) > UNITS // 500) + 1
    edges = np.unique(np.concatenate([[0], changes, [len(each) - 1]]))
    middle = (edges[:-1] + edges[1:]) // 2
    pick = middle[int(run.source.words(1)[0] % np.uint64(len(middle)))]
    return Chosen(box=chosen.box, attribute=chosen.attribute, border=each.border[[pick]])


sound_choice = diffmulti_growth.choose_splits


def test_the_split_point_refutes_nothing():
    assert outcome(printed("ncp", h=1), TABLES["T4"], runs=600) == "not refuted"


def test_a_twin_that_splits_at_midpoints_is_refuted(monkeypatch):
    monkeypatch.setattr(diffmulti_growth, "choose_splits", midpoints)
    assert outcome(printed("ncp", h=1), TABLES["T4"], runs=600) == "refuted"
