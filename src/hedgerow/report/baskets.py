"""Reports of releases of baskets and sequences: frequent items, pairs, records and prefixes."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.bars import Bar, bars_of, item_totals, largest_first, length_bars
from hedgerow.draw.paths import path_picture
from hedgerow.draw.pictures import shortened
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.certificate import Certificate
from hedgerow.model.people import BOUND_CHOSEN
from hedgerow.model.sequences import NoisySequences
from hedgerow.report.budget import budget_picture
from hedgerow.report.nist import nist_rows
from hedgerow.report.page import files_there, precision_of, promise_of, rendered

MOST_BASKETS = 15
MOST_ITEMS = 25
MOST_PAIRS = 15
MOST_PREFIXES = 15
PAIRS_AMONG = 60
"""Number of most frequent items among which the most frequent pairs are searched."""

BASKETS_AT_ONCE = 1 << 17
LONGEST_RECORD = 160

BASKET_FILES = (
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

SEQUENCE_FILES = (
    ("release.dat", "The sequences, one per line, for programs that mine patterns."),
    ("release.csv", "The same, one row per distinct sequence, with its count."),
    ("prefixes.csv", "The counted prefixes, with standard errors. Start here."),
    ("release.parquet", "The sequences for programs, as lists."),
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
    totals = item_totals(baskets)
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
        lengths=length_bars(baskets),
        pairs=_frequent_pairs(baskets, totals),
        drawn_whole=certificate.counts is None,
        baskets=_frequent_baskets(baskets),
        n_groups=len(baskets),
        listed=files,
        files=files_there(BASKET_FILES, files),
    )


def _is_all_of_it(certificate: Certificate) -> bool:
    """Return true if the counts took the whole budget, except for the choice of a bound."""
    person, spends = certificate.guarantee.person, certificate.budget.spends
    if certificate.counts is None:
        return False
    for_counts = certificate.counts.share * (1 if person is None else person.records)
    for_bound = sum(line.share for line in spends if line.on == BOUND_CHOSEN)
    return for_counts + for_bound == certificate.budget.total


def _frequent_items(baskets: NoisyBaskets, totals: NDArray[np.int64]) -> tuple[Bar, ...]:
    order = largest_first(totals, MOST_ITEMS)
    labels = [shortened(baskets.taxonomy.leaf_labels[code]) for code in order]
    return bars_of(labels, totals[order].tolist())


def _frequent_pairs(baskets: NoisyBaskets, totals: NDArray[np.int64]) -> tuple[Bar, ...]:
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
    most = largest_first(counts, MOST_PAIRS)
    labels = baskets.taxonomy.leaf_labels
    pairs = [
        shortened(f"{labels[order[rows[k]]]}, {labels[order[columns[k]]]}", LONGEST_RECORD)
        for k in most
    ]
    return bars_of(pairs, counts[most].tolist())


def _frequent_baskets(baskets: NoisyBaskets) -> tuple[Bar, ...]:
    order = np.argsort(-baskets.counts, kind="stable")[:MOST_BASKETS].tolist()
    labels = baskets.taxonomy.leaf_labels
    texts = []
    for place in order:
        codes = baskets.items[baskets.offsets[place] : baskets.offsets[place + 1]].tolist()
        texts.append(shortened(", ".join(labels[code] for code in codes), LONGEST_RECORD))
    return bars_of(texts, baskets.counts[order].tolist())


def render_sequence_report(
    sequences: NoisySequences, certificate: Certificate, *, files: Collection[str]
) -> str:
    """Return the page as self-contained HTML; it lists only ``files``.

    Privacy: the counts are noisy and the certificate is public, so the page is public.
    """
    totals = item_totals(sequences)
    return rendered(
        "sequences.html.j2",
        certificate=certificate,
        promise=promise_of(certificate),
        precision=precision_of(certificate.counts),
        budget=budget_picture(certificate.budget),
        boxes=None,
        nist=nist_rows(certificate),
        assumed=certificate.assumed_public,
        n_items=sequences.taxonomy.n_leaves,
        n_published=int(np.count_nonzero(totals)),
        items=_frequent_items(sequences, totals),
        lengths=length_bars(sequences),
        picture=path_picture(sequences),
        prefixes=_frequent_prefixes(sequences),
        n_prefixes=0 if sequences.prefixes is None else len(sequences.prefixes),
        n_groups=len(sequences),
        listed=files,
        files=files_there(SEQUENCE_FILES, files),
    )


def _frequent_prefixes(sequences: NoisySequences) -> tuple[Bar, ...]:
    """Return the most frequent prefixes of at least two items."""
    prefixes = sequences.prefixes
    if prefixes is None:
        return ()
    longer = np.flatnonzero(np.diff(prefixes.offsets) > 1)
    order = longer[np.argsort(-prefixes.counts[longer], kind="stable")[:MOST_PREFIXES]].tolist()
    labels = sequences.taxonomy.leaf_labels
    texts = []
    for place in order:
        codes = prefixes.items[prefixes.offsets[place] : prefixes.offsets[place + 1]].tolist()
        texts.append(shortened(" → ".join(labels[code] for code in codes), LONGEST_RECORD))
    return bars_of(texts, prefixes.counts[order].tolist())
