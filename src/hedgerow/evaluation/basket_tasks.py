"""Tasks of an evaluation of set-valued data; each returns its figures as plain facts."""

from __future__ import annotations

from itertools import islice

import numpy as np

from hedgerow.evaluation.itemsets import Itemsets, top_itemsets, top_k_utility
from hedgerow.evaluation.queries import QUERIES, SANITY, kept, random_queries, relative_errors
from hedgerow.evaluation.subject import BasketSubject
from hedgerow.progress import Done, unheard
from hedgerow.report.headlines import Facts

TOP = (20, 60, 100)
"""Numbers of most frequent itemsets that are compared [DiffPart, Sec. 5.1]."""


def basket_counting(subject: BasketSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the errors of counting queries in five classes of length, and the released mass."""
    records, release = subject.records, subject.release
    longest = int(np.diff(records.offsets).max())
    queries = random_queries(records.n_items, longest=longest, n=QUERIES, seed=seed)
    errors = relative_errors(records, release, queries)
    found = kept(records, release)
    classes = zip(errors.by_class, errors.answering_zero, strict=True)
    person = None if subject.certificate is None else subject.certificate.guarantee.person
    return {
        "against": "people" if person is not None and person.counts_people else "records",
        "n-queries": len(queries),
        "sanity-bound": str(SANITY),
        "longest-record": longest,
        "classes": [
            {
                "class": at,
                "longest-query": max(1, at * longest // len(errors.by_class)),
                "relative": relative,
                "answering-zero": zero,
            }
            for at, (relative, zero) in enumerate(classes, start=1)
        ],
        "kept": {"mass": found.mass, "true-sets": found.true_sets},
    }


def itemsets(subject: BasketSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the agreement of the most frequent itemsets of records and release."""
    most = max(TOP)
    of_records = top_itemsets(subject.records, most)
    of_release = top_itemsets(subject.release, most)
    return {
        "top": [_top(of_records, of_release, k) for k in TOP],
        "examples": [
            {
                "items": [subject.labels[code] for code in itemset],
                "records": support,
                "release": of_release.get(itemset),
            }
            for itemset, support in islice(of_records.items(), 10)
        ],
    }


def _top(records: Itemsets, release: Itemsets, k: int) -> Facts:
    """Compare the first ``k`` of both lists, which are sorted by support."""
    ours = dict(islice(release.items(), k))
    theirs = dict(islice(records.items(), k))
    found = sum(itemset in ours for itemset in theirs)
    return {
        "k": k,
        "utility": top_k_utility(theirs, ours),
        "found": found / len(theirs) if theirs else 1.0,
    }
