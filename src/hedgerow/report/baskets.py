"""The report of a release of baskets: the most frequent items, pairs and baskets."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from hedgerow.draw.pictures import shortened
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.certificate import Certificate
from hedgerow.model.people import BOUND_CHOSEN
from hedgerow.report.budget import budget_picture
from hedgerow.report.nist import nist_rows
from hedgerow.report.page import Bar, files_there, precision_of, promise_of, rendered

MOST_BASKETS = 15
MOST_ITEMS = 25
MOST_LENGTHS = 20
MOST_PAIRS = 15
PAIRS_AMONG = 60
"""Number of most frequent items among which the most frequent pairs are searched."""

BASKETS_AT_ONCE = 1 << 17
LONGEST_BASKET = 160

FILES = (
    ("release.dat", "The baskets, one per line, for programs that mine frequent itemsets."),
    ("release.csv", "The same, one row per distinct basket, with its count. Start here."),
    ("release.parquet", "The same table for programs, with items as lists."),
    ("dictionary.csv", "Description of every column and of the counts."),
    ("datapackage.json", "The same for programs: a Frictionless data package."),
    ("universe.json", "All items and their groups."),
    ("certificate.json", "All facts of this page and more, for auditors and programs."),
    (
        "signature.json",
        "The publisher's signature of the certificate: hedgerow verify --public-key.",
    ),
)


def render_basket_report(
    baskets: NoisyBaskets, certificate: Certificate, *, files: Collection[str]
) -> str:
    """Return the page as self-contained HTML; it lists only ``files``.

    Privacy: the counts are noisy and the certificate is public, so the page is public.
    """
    totals = _item_totals(baskets)
    return rendered(
        "baskets.html.j2",
        certificate=certificate,
        promise=promise_of(certificate),
        precision=precision_of(certificate.counts),
        budget=budget_picture(certificate.budget),
        boxes=None,
        every_basket_counted=_is_all_of_it(certificate),
        nist=nist_rows(certificate),
        assumed=certificate.assumed_public,
        n_items=baskets.taxonomy.n_leaves,
        n_published=int(np.count_nonzero(totals)),
        items=_frequent_items(baskets, totals),
        lengths=_lengths(baskets),
        pairs=_frequent_pairs(baskets, totals),
        drawn_whole=certificate.counts is None,
        baskets=_frequent_baskets(baskets),
        n_groups=len(baskets),
        listed=files,
        files=files_there(FILES, files),
    )


def _is_all_of_it(certificate: Certificate) -> bool:
    """Return true if the counts took the whole budget, except for the choice of a bound."""
    person, spends = certificate.guarantee.person, certificate.budget.spends
    if certificate.counts is None:
        return False
    for_counts = certificate.counts.share * (1 if person is None else person.records)
    for_bound = sum(line.share for line in spends if line.on == BOUND_CHOSEN)
    return for_counts + for_bound == certificate.budget.total


def _item_totals(baskets: NoisyBaskets) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    totals = np.zeros(baskets.taxonomy.n_leaves, dtype=np.int64)
    np.add.at(totals, baskets.items, np.repeat(baskets.counts, baskets.lengths))
    return totals


def _bars(labels: list[str], counts: list[int]) -> tuple[Bar, ...]:
    longest = max([1, *counts])
    return tuple(
        Bar(label=label, count=count, percent=round(100 * count / longest, 1))
        for label, count in zip(labels, counts, strict=True)
    )


def _frequent_items(
    baskets: NoisyBaskets, totals: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> tuple[Bar, ...]:
    # The sort is stable: items with equal counts stay in the order of the universe.
    order = np.argsort(-totals, kind="stable")[:MOST_ITEMS]
    order = order[totals[order] > 0]
    labels = [shortened(baskets.taxonomy.leaf_labels[code]) for code in order.tolist()]
    return _bars(labels, totals[order].tolist())


def _frequent_pairs(
    baskets: NoisyBaskets, totals: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> tuple[Bar, ...]:
    """Return the most frequent pairs among the most frequent items."""
    order = np.argsort(-totals, kind="stable")[:PAIRS_AMONG]
    rank = np.full(len(totals), -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    joint = np.zeros((len(order), len(order)))
    for first in range(0, len(baskets), BASKETS_AT_ONCE):
        bounds = baskets.offsets[first : first + BASKETS_AT_ONCE + 1]
        ranks = rank[baskets.items[bounds[0] : bounds[-1]]]
        owners = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))[ranks >= 0]
        held = np.zeros((len(bounds) - 1, len(order)))
        held[owners, ranks[ranks >= 0]] = 1
        # The products are integers below 2**53, so they are exact.
        joint += held.T @ (held * baskets.counts[first : first + len(held), None])
    rows, columns = np.triu_indices(len(order), 1)
    counts = joint[rows, columns].astype(np.int64)
    most = np.argsort(-counts, kind="stable")[:MOST_PAIRS]
    most = most[counts[most] > 0]
    labels = baskets.taxonomy.leaf_labels
    words = [
        shortened(f"{labels[order[rows[k]]]}, {labels[order[columns[k]]]}", LONGEST_BASKET)
        for k in most.tolist()
    ]
    return _bars(words, counts[most].tolist())


def _lengths(baskets: NoisyBaskets) -> tuple[Bar, ...]:
    lengths = np.minimum(baskets.lengths, MOST_LENGTHS)
    totals = np.zeros(MOST_LENGTHS + 1, dtype=np.int64)
    np.add.at(totals, lengths, baskets.counts)
    found = np.flatnonzero(totals)
    labels = [f"{n} or more" if n == MOST_LENGTHS else str(n) for n in found.tolist()]
    return _bars(labels, totals[found].tolist())


def _frequent_baskets(baskets: NoisyBaskets) -> tuple[Bar, ...]:
    order = np.argsort(-baskets.counts, kind="stable")[:MOST_BASKETS]
    labels = baskets.taxonomy.leaf_labels
    words = []
    for place in order.tolist():
        codes = baskets.items[baskets.offsets[place] : baskets.offsets[place + 1]].tolist()
        words.append(shortened(", ".join(labels[code] for code in codes), LONGEST_BASKET))
    return _bars(words, baskets.counts[order].tolist())
