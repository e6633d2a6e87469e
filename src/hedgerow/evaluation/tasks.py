"""The tasks of an evaluation of a table: each returns its figures as plain facts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from hedgerow.evaluation.classification import (
    majority_accuracy,
    raw_accuracies,
    release_accuracies,
)
from hedgerow.evaluation.clustering import CLUSTERS, MOST_CLUSTERED, match_points
from hedgerow.evaluation.learners import LEARNERS, MOST_GROWN, MOST_TRAINED
from hedgerow.evaluation.loss import losses_of_groups, losses_of_records
from hedgerow.evaluation.marginals import MOST_TABLES, marginal_errors
from hedgerow.evaluation.placing import is_placed, rows_of
from hedgerow.evaluation.ranges import SANITY, range_errors
from hedgerow.evaluation.risk import THRESHOLD, risk_of_records, risk_of_release
from hedgerow.evaluation.subject import TableSubject
from hedgerow.model.table import EncodedTable
from hedgerow.report.headlines import Facts

_SEEN = (
    "No test file was given: the test rows are a random third of the data, and the release was"
    " made of these rows, too. The ceiling has not seen them. Give --test for a fair comparison."
)
_UNSEEN = "The test rows come from the test file: neither the release nor the ceiling saw them."


def classification(subject: TableSubject, *, seed: int) -> Facts:
    """Return the accuracy of each learner: floor, from the release, ceiling."""
    train, test = _split(subject, seed)
    floor = majority_accuracy(train=train, test=test)
    ceiling = raw_accuracies(train=train, test=test, seed=seed)
    groups, placed = subject.groups, is_placed(subject.groups)
    boxes = release_accuracies(groups, test=test, by="boxes", seed=seed) if placed else None
    records = release_accuracies(groups, test=test, by="records", seed=seed)
    best = boxes or records
    target = test.schema.class_attribute
    return {
        "class": None if target is None else target.name,
        "test-rows": "test file" if subject.test is not None else "a third of the data",
        "note": _SEEN if subject.test is None else _UNSEEN,
        "n-test": len(test),
        "floor": floor,
        "ceiling": ceiling,
        "release": {"boxes": boxes, "records": records},
        "kept": {name: _kept(floor, best[name], ceiling[name]) for name in LEARNERS},
        "most-examples": {"tree": MOST_GROWN, "svm": MOST_TRAINED, "boosting": MOST_TRAINED},
    }


def _kept(floor: float, release: float, ceiling: float) -> float | None:
    """Return the part of what raw data can teach, beyond the majority, that is left."""
    return (release - floor) / (ceiling - floor) if ceiling > floor else None


def _split(subject: TableSubject, seed: int) -> tuple[EncodedTable, EncodedTable]:
    """Return the rows that the ceiling learns from, and those that all are tested on."""
    table = subject.table
    if subject.test is not None:
        return table, subject.test
    order = np.random.default_rng(seed).permutation(len(table))
    third = max(1, len(table) // 3)
    return rows_of(table, np.sort(order[third:])), rows_of(table, np.sort(order[:third]))


def clustering(subject: TableSubject, *, seed: int) -> Facts:
    """Return the Match Points of the release."""
    found = match_points(subject.groups, subject.table, clusters=CLUSTERS, seed=seed)
    return {
        "match-points": [_facts(match) for match in found],
        "n-clustered": min(len(subject.table), MOST_CLUSTERED),
    }


def counting(subject: TableSubject, *, seed: int) -> Facts:
    """Return the errors of range queries and of marginals."""
    groups, table = subject.groups, subject.table
    with_class = groups.classes is not None and table.classes is not None
    width = len(table.schema.attributes) + with_class
    ranges = (
        range_errors(groups, table, seed=seed)
        if any(attribute.domain.size > 1 for attribute in table.schema.used())
        else ()
    )
    return {
        "ranges": [_facts(each) for each in ranges],
        "sanity-bound": str(SANITY),
        "marginals": [
            _facts(marginal_errors(groups, table, ways=ways, with_class=with_class, seed=seed))
            for ways in range(1, min(3, width) + 1)
        ],
        "most-marginals": MOST_TABLES,
        "spread": "even" if groups.marginals is None else "by the release's noisy marginals",
        "total": {
            "release": int(groups.counts.sum()),
            "records": len(table),
            "error": abs(int(groups.counts.sum()) - len(table)) / max(len(table), 1),
        },
    }


def loss(subject: TableSubject, *, seed: int) -> Facts:
    """Return the information loss of true records in the boxes, and of the groups."""
    groups, table = subject.groups, subject.table
    n_records = len(table) if is_truthful(subject) else None
    of_records = losses_of_records(groups, table) if is_placed(groups) else None
    return {
        "records": None if of_records is None else _facts(of_records),
        "groups": _facts(losses_of_groups(groups, subject.schema, n_records=n_records)),
    }


def risk(subject: TableSubject, *, seed: int) -> Facts:
    """Return the re-identification risk, or why there is none to state."""
    truthful = is_truthful(subject)
    if truthful is False:
        return {"applicable": False, "why": _WHY_NOT}
    release = risk_of_release(subject.groups, subject.table)
    raw = risk_of_records(subject.table)
    return {
        "applicable": True,
        "why": _IF_TRUE if truthful is None else _TRUTHFUL,
        "certain": truthful is True,
        "threshold": str(THRESHOLD),
        "release": None if release is None else _facts(release),
        "raw": None if raw is None else _facts(raw),
    }


_WHY_NOT = (
    "The release is differentially private: what anybody can learn of a person from it is bounded"
    " by epsilon, whatever they know, and the release's own report says what that means. Figures"
    " that take each row for a person's true record do not apply: counts are noisy, and a group"
    " of one may hold nobody."
)
_TRUTHFUL = "Each record of the release is that of one person, generalised."
_IF_TRUE = (
    "The file has no certificate. These figures hold if every row is a true record of one"
    " person; for synthetic rows they mean nothing."
)


def is_truthful(subject: TableSubject) -> bool | None:
    """Whether rows are true records, by the certificate; ``None`` where there is none."""
    if subject.certificate is None:
        return None
    return subject.certificate.guarantee.kind == "none"


def _facts(result: Any) -> Facts:
    """Return a result as JSON holds it, with hyphens in its names."""

    def hyphened(value: Any) -> Any:
        if isinstance(value, dict):
            return {name.replace("_", "-"): hyphened(each) for name, each in value.items()}
        return value

    facts: Facts = hyphened(asdict(result))
    return facts
