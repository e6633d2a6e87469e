"""Statistical audits of DiffMulti, with twins that have the paper's own leaks.

An event with probabilities p on D and q on D' refutes the claim of epsilon when the lower
confidence bound of p exceeds e^epsilon times the upper bound of q, or the reverse. Bounds
are Clopper-Pearson at 1 - 10^-6. The twins do what the paper prints: they test a true
count for zero, divide by a true count, or split at midpoints of the data.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from auditing import certified
from hedgerow.count.memory import MemoryEngine
from hedgerow.partition import diffmulti_growth
from hedgerow.partition.diffmulti import DiffMulti
from hedgerow.partition.diffmulti_budget import fair_shares
from hedgerow.partition.diffmulti_growth import PrintedGrowth
from hedgerow.partition.diffmulti_scores import UNITS, multi_score
from hedgerow.partition.diffmulti_splits import Chosen
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.source import SeededSource
from tables import grid, schema_of, table_of, values

pytestmark = pytest.mark.audit


def frequencies(rows, schema, method, events, *, epsilon, runs, seed):
    engine, source = MemoryEngine(table=table_of(schema, rows)), SeededSource(seed)
    counts = Counter()
    for _ in range(runs):
        groups = method.publish(engine, epsilon=epsilon, ledger=PathLedger(epsilon), source=source)
        counts.update(set(events(groups)))
    return counts


def method(score, *, h, faithful):
    return DiffMulti(
        specialisations=h,
        score=multi_score(score, faithful=faithful),
        fair=True,
        depth=3,
        faithful=faithful,
    )


SCHEMA = schema_of(values(4, 2), grid(6))
RECORD = (3, 4, 1)
PAIRS = {
    "one record or none": ([RECORD], []),
    "a few, and one more": ([(0, 0, 0), (1, 5, 0), RECORD, RECORD], [(0, 0, 0), (1, 5, 0), RECORD]),
}


def shapes(groups):
    """Name what an attacker may look at: the tree, and the group of the record."""
    tree = groups.tree
    yield ("boxes", len(groups.boxes[0]))
    yield ("first split", tuple(tree.attribute[1:3].tolist()), tuple(tree.first[1:3].tolist()))
    here = np.ones(len(groups.boxes[0]), dtype=np.bool_)
    for ranges, place, code in zip(groups.ranges, groups.boxes, RECORD, strict=False):
        here &= (ranges.first[place] <= code) & (code < ranges.stop[place])
    box = int(np.flatnonzero(here)[0])
    mine = tuple(int(column[box]) for column in groups.boxes)
    widths = [int((r.stop - r.first)[i]) for r, i in zip(groups.ranges, mine, strict=True)]
    yield ("widths of the record's box", *widths)
    same = groups.classes == RECORD[-1]
    for column, place in zip(groups.index, mine, strict=True):
        same &= column == place
    size = int(groups.counts[same].sum())
    for least in (1, 2, 3, 5, 8):
        if size >= least:
            yield ("size at least", least)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    ("faithful", "score"),
    [(True, "discernibility"), (True, "max"), (False, "discernibility"), (False, "ncp")],
)
def test_no_event_refutes_the_claim(faithful, score, pair):
    runs, epsilon = 600, Fraction(1)
    found = [
        frequencies(
            rows,
            SCHEMA,
            method(score, h=4, faithful=faithful),
            shapes,
            epsilon=epsilon,
            runs=runs,
            seed=seed,
        )
        for seed, rows in enumerate(PAIRS[pair])
    ]
    assert certified(*found, runs) <= epsilon


# T2: is the child of the one record specialised again? [Eq. (10), first case]

ONE_ATTRIBUTE = schema_of(values(16, 4))


def again(groups):
    """The last of four parts of the domain, which holds the record, is divided further."""
    parts = np.flatnonzero(groups.tree.parent == 0)
    if len(parts) and groups.tree.box[parts[-1]] < 0:
        yield "specialised again"


def child_specialised(monkeypatch=None):
    if monkeypatch is not None:
        monkeypatch.setattr(PrintedGrowth, "_handed_down", spares_empty_children)
    runs = 800
    return runs, [
        frequencies(
            rows,
            ONE_ATTRIBUTE,
            method("discernibility", h=21, faithful=True),
            again,
            epsilon=Fraction(1),
            runs=runs,
            seed=seed,
        )
        for seed, rows in enumerate(([(15, 0)], []))
    ]


def spares_empty_children(self, level, parents):
    """Eq. (10) as printed: a child without records gets nothing."""
    first = np.flatnonzero(np.diff(parents, prepend=-1))
    starts = np.append(first, len(parents))
    left = self.left[parents[first]]
    shares = fair_shares(left, self._noisy_sizes(level), starts, source=self.source)
    return np.where(level.classes().sum(axis=1) == 0, 0, shares)


def test_whether_a_child_is_specialised_again_refutes_nothing():
    runs, found = child_specialised()
    assert found[0]["specialised again"] > runs / 10
    assert certified(*found, runs) <= 1


def test_a_twin_that_tests_a_true_count_for_zero_is_refuted(monkeypatch):
    runs, found = child_specialised(monkeypatch)
    assert found[1]["specialised again"] == 0
    assert certified(*found, runs) > 1


# T3: ten children, all records in the last; a parent of 1 or of 2 records.

RUNS = 100_000
SHARE = Fraction(1, 10)
TEN = np.arange(0, 10 * RUNS + 1, 10)


def divided(n_records, *, exact, seed):
    """Return the nine empty children's specialisations, in many runs."""
    source = SeededSource(seed)
    counts = np.zeros((RUNS, 10), dtype=np.int64)
    counts[:, 9] = n_records
    noisy = counts + discrete_laplace(counts.size, epsilon=SHARE, source=source).reshape(RUNS, 10)
    if exact:
        shares = np.maximum(noisy * 20 // n_records, 0)
    else:
        left = np.full(RUNS, 21, dtype=np.int64)
        shares = fair_shares(left, noisy.ravel(), TEN, source=source).reshape(RUNS, 10)
    return shares[:, :9]


def large_shares(shares):
    return Counter(
        {
            (least, at_least): int(((shares >= at_least).sum(axis=1) >= least).sum())
            for least in range(1, 10)
            for at_least in (1, 2, 3, 5, 10, 20, 40)
        }
    )


@pytest.mark.parametrize("exact", [False, True], ids=["ours", "a twin that divides by |P|"])
def test_dividing_by_noisy_counts_refutes_nothing_and_by_the_true_count_is_refuted(exact):
    found = [large_shares(divided(n, exact=exact, seed=n)) for n in (1, 2)]
    assert (certified(*found, RUNS) > SHARE) is exact


# T4: {20, 40} or {20} on [0, 100]; the split point itself.

HUNDRED = schema_of(grid(101))
STRAIGHT = 1000


def split_point(groups):
    if len(groups.tree) > 1:
        yield int(groups.tree.stop[1])


def midpoints(offers, choice, *, purchase):
    """[Sec. 4.3, last paragraph]: score and split intervals between records at midpoints."""
    chosen = diffmulti_growth_choose(offers, choice, purchase=purchase)
    each = offers[0]
    if len(each) < 2:
        return chosen
    # The score is linear between records, but for the rounding of its units.
    changes = np.flatnonzero(np.abs(np.diff(np.diff(each.scores))) > UNITS // 500) + 1
    edges = np.unique(np.concatenate([[0], changes, [len(each) - 1]]))
    middle = (edges[:-1] + edges[1:]) // 2
    source = SeededSource(int(purchase.source.words(1)[0] >> np.uint64(32)))
    pick = middle[int(source.words(1)[0] % np.uint64(len(middle)))]
    return Chosen(box=chosen.box, attribute=chosen.attribute, border=each.border[[pick]])


diffmulti_growth_choose = diffmulti_growth.choose_splits


def split_points():
    return [
        frequencies(
            rows,
            HUNDRED,
            method("ncp", h=1, faithful=True),
            split_point,
            epsilon=Fraction(1),
            runs=STRAIGHT,
            seed=seed,
        )
        for seed, rows in enumerate(([(20, 0), (40, 0)], [(20, 0)]))
    ]


def test_the_split_point_refutes_nothing():
    found = split_points()
    assert len(found[0]) > 90  # any position of the public grid may come out
    assert certified(*found, STRAIGHT) <= 1


def test_a_twin_that_splits_at_midpoints_is_refuted(monkeypatch):
    monkeypatch.setattr(diffmulti_growth, "choose_splits", midpoints)
    found = split_points()
    assert len(found[0]) <= 9
    assert certified(*found, STRAIGHT) > 1
