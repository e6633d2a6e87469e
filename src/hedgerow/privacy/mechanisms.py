"""The functions that methods call: each books its cost on the path ledger, then draws.

They are the only way from confidential sums to publishable values. A booking that would overdraw
its path raises before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.budget import PathLedger, Shares
from hedgerow.privacy.choice import Rule, choose, rate_for
from hedgerow.privacy.laplace import discrete_laplace
from hedgerow.privacy.path_tests import PathTests, rule_for
from hedgerow.privacy.source import RandomSource
from hedgerow.privacy.sparse import passing_empties


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The cost of a mechanism call and the nodes on which it is booked.

    ``nodes`` are the ledger's nodes whose records the call reads, each at the full cost;
    the root is the whole data set.
    """

    epsilon: Fraction
    on: str
    ledger: PathLedger
    source: RandomSource
    nodes: NDArray[np.int64] | int = 0

    def book(self) -> Fraction:
        """Book the cost on the path of every node; raise if that would overdraw one."""
        return self.ledger.spend(self.epsilon, on=self.on, nodes=self.nodes)


def noisy_counts(
    counts: NDArray[np.int64], *, spending: Spending, per_record: int = 1
) -> NDArray[np.int64]:
    """Return the counts of groups with discrete Laplace noise.

    ``per_record`` is a public bound on the number of groups that one record can be in.

    Departs: [DiffGen, Alg. 1, line 12] adds continuous Laplace noise. Discrete noise
    keeps counts whole, so nothing leaks through low-order bits.

    Privacy: adding or removing one record changes at most ``per_record`` counts by 1, and each has
    noise for ``epsilon / per_record``, so the whole vector costs ``epsilon``.
    """
    epsilon = spending.book() / per_record
    return counts + discrete_laplace(len(counts), epsilon=epsilon, source=spending.source)


def noisy_sparse_counts(
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    *,
    n_groups: int,
    threshold: int,
    spending: Spending,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the groups, of ``n_groups``, whose noisy count reaches ``threshold``.

    ``keys`` are the occupied groups, strictly increasing. The others, which may be
    beyond any memory, are never enumerated: those whose noise reaches the threshold are
    drawn directly, with the same law as if each had been given its noise.

    Privacy: as :func:`noisy_counts`, followed by dropping what is below a public threshold; the
    result is sorted, so that it does not show which groups were occupied.
    """
    block = CellBlock(keys=keys, counts=counts, n_groups=n_groups, threshold=threshold)
    return noisy_sparse_blocks([block], spending=spending)[0]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CellBlock:
    """Disjoint groups under one threshold; ``keys`` are the occupied ones of ``n_groups``."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_groups: int
    threshold: int


def noisy_sparse_blocks(
    blocks: Sequence[CellBlock], *, spending: Spending
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return, for every block, the groups whose noisy count reaches its threshold.

    As :func:`noisy_sparse_counts` for groups that lie in several blocks, each with a
    public threshold of its own; booked once.

    Privacy: no record is in two groups, of one block or of two, so that all together cost
    ``epsilon`` on the path of every node of the spending (parallel composition).
    """
    epsilon = spending.book()
    return [_reaching(block, epsilon, spending.source) for block in blocks]


def _reaching(
    block: CellBlock, epsilon: Fraction, source: RandomSource
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    keys, threshold = block.keys, block.threshold
    noisy = block.counts + discrete_laplace(len(keys), epsilon=epsilon, source=source)
    ranks, values = passing_empties(
        block.n_groups, epsilon=epsilon, threshold=threshold, source=source
    )
    place = np.searchsorted(keys, ranks)
    occupied = np.zeros(len(ranks), dtype=np.bool_)
    inside = place < len(keys)
    occupied[inside] = keys[place[inside]] == ranks[inside]
    kept = noisy >= threshold
    all_keys = np.concatenate([keys[kept], ranks[~occupied]])
    all_values = np.concatenate([noisy[kept], values[~occupied]])
    order = np.argsort(all_keys, kind="stable")
    return all_keys[order], all_values[order]


def noisy_rest(
    counts: NDArray[np.int64],
    *,
    nodes: NDArray[np.int64],
    on: str,
    ledger: PathLedger,
    source: RandomSource,
) -> tuple[NDArray[np.int64], Shares]:
    """Return noisy counts (boxes, classes) of disjoint boxes, at all that their paths have left.

    Every box is drawn with what its own path has left; that is returned as well.

    Privacy: a record is in one box and one class, so box ``nodes[b]`` costs its path what
    is left of it (Lemma L2), and nothing more.
    """
    shares = ledger.spend_rest(on=on, nodes=nodes)
    noisy = counts.copy()
    for share, boxes in shares.groups():
        noise = discrete_laplace(boxes.size * counts.shape[1], epsilon=share, source=source)
        noisy[boxes] += noise.reshape(boxes.size, counts.shape[1])
    return noisy, shares


def choose_by_score(
    scores: NDArray[np.int64],
    *,
    starts: NDArray[np.int64],
    sensitivity: Fraction,
    monotone: bool,
    rule: Rule,
    weights: NDArray[np.float64] | None,
    spending: Spending,
) -> NDArray[np.int64]:
    """Return one candidate of each segment, drawn so that high scores are likely.

    Segments begin at ``starts`` and must score disjoint sets of records. ``weights`` is
    a public base measure: a block of L candidates with one score may be given as one
    candidate of L times the weight.

    Privacy: a choice costs ``epsilon`` by the bounded range of its scores' changes
    (Lemma L1), at rate epsilon / sensitivity for a monotone score and half that for any
    other; choices over disjoint records cost ``epsilon`` together (parallel composition).
    """
    epsilon = spending.book()
    rate = rate_for(epsilon, sensitivity=sensitivity, monotone=monotone)
    return choose(
        scores, rate=rate, rule=rule, weights=weights, starts=starts, source=spending.source
    )


def path_tests(*, fan_out: int, threshold: int, n_roots: int, spending: Spending) -> PathTests:
    """Return the tests that grow a forest of prefixes from ``n_roots`` roots, level by level.

    A node at depth ``d`` passes where its count, with noise, is above ``threshold`` and ``d``
    times what a path descends by. Booked once, for all levels, which :func:`pass_tests` draws.

    Privacy: a record is on one path from one root, along which counts do not grow; all tests of
    a path cost ``epsilon`` together, however deep it is (docs/privacy.md, "Tests along a prefix
    tree").
    """
    rule = rule_for(spending.book(), fan_out=fan_out)
    return PathTests(rule, threshold=threshold, n_roots=n_roots, source=spending.source)


def pass_tests(
    counts: NDArray[np.int64], *, tested: NDArray[np.bool_], tests: PathTests
) -> NDArray[np.bool_]:
    """Return which children, of all parents of the next level, pass their tests.

    ``counts`` are (parents, children); ``tested`` is public, and what is not tested does not pass.

    Privacy: paid for by :func:`path_tests`; every level is drawn once, and holds exactly the
    children of the nodes that passed in the level before.
    """
    return tests.passing(counts, tested=tested)
