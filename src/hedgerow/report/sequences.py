"""The report of a release of sequences: the most frequent paths, items and lengths."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from hedgerow.draw.paths import path_picture
from hedgerow.draw.pictures import shortened
from hedgerow.model.certificate import Certificate
from hedgerow.model.sequences import NoisySequences
from hedgerow.report.budget import budget_picture
from hedgerow.report.nist import nist_rows
from hedgerow.report.page import Bar, files_there, precision_of, promise_of, rendered

MOST_ITEMS = 25
MOST_LENGTHS = 20
MOST_PREFIXES = 15
LONGEST_PREFIX = 160

FILES = (
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


def render_sequence_report(
    sequences: NoisySequences, certificate: Certificate, *, files: Collection[str]
) -> str:
    """Return the page as self-contained HTML; it lists only ``files``.

    Privacy: the counts are noisy and the certificate is public, so the page is public.
    """
    totals = _item_totals(sequences)
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
        lengths=_lengths(sequences),
        picture=path_picture(sequences),
        prefixes=_frequent_prefixes(sequences),
        n_prefixes=0 if sequences.prefixes is None else len(sequences.prefixes),
        n_groups=len(sequences),
        listed=files,
        files=files_there(FILES, files),
    )


def _bars(labels: list[str], counts: list[int]) -> tuple[Bar, ...]:
    longest = max([1, *counts])
    return tuple(
        Bar(label=label, count=count, percent=round(100 * count / longest, 1))
        for label, count in zip(labels, counts, strict=True)
    )


def _item_totals(sequences: NoisySequences) -> NDArray[np.int64]:
    """Return the number of occurrences of each item, including repetitions."""
    totals = np.zeros(sequences.taxonomy.n_leaves, dtype=np.int64)
    np.add.at(totals, sequences.items, np.repeat(sequences.counts, sequences.lengths))
    return totals


def _frequent_items(sequences: NoisySequences, totals: NDArray[np.int64]) -> tuple[Bar, ...]:
    order = np.argsort(-totals, kind="stable")[:MOST_ITEMS]
    order = order[totals[order] > 0]
    labels = [shortened(sequences.taxonomy.leaf_labels[code]) for code in order.tolist()]
    return _bars(labels, totals[order].tolist())


def _lengths(sequences: NoisySequences) -> tuple[Bar, ...]:
    lengths = np.minimum(sequences.lengths, MOST_LENGTHS)
    totals = np.zeros(MOST_LENGTHS + 1, dtype=np.int64)
    np.add.at(totals, lengths, sequences.counts)
    found = np.flatnonzero(totals)
    labels = [f"{n} or more" if n == MOST_LENGTHS else str(n) for n in found.tolist()]
    return _bars(labels, totals[found].tolist())


def _frequent_prefixes(sequences: NoisySequences) -> tuple[Bar, ...]:
    """Return the most frequent prefixes of at least two items."""
    prefixes = sequences.prefixes
    if prefixes is None:
        return ()
    longer = np.flatnonzero(np.diff(prefixes.offsets) > 1)
    order = longer[np.argsort(-prefixes.counts[longer], kind="stable")[:MOST_PREFIXES]]
    labels = sequences.taxonomy.leaf_labels
    words = []
    for place in order.tolist():
        codes = prefixes.items[prefixes.offsets[place] : prefixes.offsets[place + 1]].tolist()
        words.append(shortened(" → ".join(labels[code] for code in codes), LONGEST_PREFIX))
    return _bars(words, prefixes.counts[order].tolist())
