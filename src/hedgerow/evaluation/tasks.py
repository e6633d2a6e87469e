"""Tasks of an evaluation of a table; each returns its figures as plain facts."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from hedgerow.errors import InternalError
from hedgerow.evaluation.classification import (
    ByLearner,
    class_rows,
    kept_of,
    majority_measures,
    measure_facts,
    raw_measures,
    release_measures,
)
from hedgerow.evaluation.clustering import CLUSTERS, match_points, most_clustered
from hedgerow.evaluation.fidelity import fidelity
from hedgerow.evaluation.fidelity_facts import fidelity_facts
from hedgerow.evaluation.learners import LEARNERS, Learner, most_examples
from hedgerow.evaluation.loss import losses_of_groups, losses_of_records
from hedgerow.evaluation.marginals import MOST_TABLES, marginal_errors
from hedgerow.evaluation.people import people_facts
from hedgerow.evaluation.placing import boxes_of, is_placed, rows_of
from hedgerow.evaluation.ranges import SANITY, range_errors
from hedgerow.evaluation.relations import relation_facts, relations
from hedgerow.evaluation.risk import THRESHOLD, risk_of_records, risk_of_release
from hedgerow.evaluation.subject import TableSubject
from hedgerow.evaluation.threads import one_thread
from hedgerow.model.labels import leaf_labels
from hedgerow.model.table import EncodedTable
from hedgerow.progress import Done, stretch, unheard
from hedgerow.report.headlines import Facts

_SEEN = (
    "There is no test file: the test rows are a random third of the data, from which the release"
    " was also made. The ceiling has not seen them. Give --test for a fair comparison."
)
_UNSEEN = "The test rows come from the test file: neither the release nor the ceiling saw them."


def columns_and_pairs(subject: TableSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the distance of columns and pairs in cells that the raw data alone define."""
    weights = None if subject.people is None else subject.people.counted
    found = fidelity(
        subject.groups,
        subject.table,
        with_class=_has_class(subject),
        seed=seed,
        weights=weights,
        done=done,
    )
    names = [attribute.name for attribute in subject.table.schema.used()]
    return {
        "against": "records" if weights is None else "people",
        **fidelity_facts(found, names),
    }


def classification(subject: TableSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the measures of each learner: floor, from the release, ceiling."""
    train, test = _split(subject, seed)
    groups = subject.groups
    has_boxes = boxes_of(groups, subject.schema) is not None
    floor = majority_measures(train=train, test=test)
    ceiling = raw_measures(train=train, test=test, seed=seed, done=stretch(done, 0, 3))
    measured = partial(release_measures, groups, test=test, usual=floor.usual, seed=seed)
    boxes = measured(by="boxes", done=stretch(done, 1, 3)) if has_boxes else None
    records = measured(by="records", done=stretch(done, 2, 3))
    judged = records if boxes is None or not is_placed(groups) else boxes
    return {
        **_test_facts(subject, test),
        "floor": floor.accuracy,
        "ceiling": _accuracies(ceiling),
        "release": {
            "boxes": None if boxes is None else _accuracies(boxes),
            "records": _accuracies(records),
        },
        "judged": "boxes" if judged is boxes else "records",
        "kept": kept_of(floor, judged, ceiling, "accuracy"),
        "measures": measure_facts(floor, boxes, records, ceiling, judged),
        "usual": _class_labels(test)[floor.usual],
        "classes": class_rows(_class_labels(test), _shares(test), boxes, records, ceiling),
        "most-examples": {
            learner: most
            for learner in LEARNERS
            if (most := most_examples(learner, len(test.schema.attributes))) is not None
        },
    }


def _test_facts(subject: TableSubject, test: EncodedTable) -> Facts:
    target = test.schema.class_attribute
    return {
        "class": None if target is None else target.name,
        "test-rows": "test file" if subject.test is not None else "a third of the data",
        "note": _SEEN if subject.test is None else _UNSEEN,
        "n-test": len(test),
    }


def _accuracies(measures: ByLearner) -> dict[Learner, float]:
    return {learner: each.accuracy for learner, each in measures.items()}


def _class_labels(table: EncodedTable) -> list[str]:
    target = table.schema.class_attribute
    return [] if target is None else leaf_labels(target.domain)


def _shares(table: EncodedTable) -> list[float]:
    """Return the share of the records in each class."""
    classes = np.zeros(0, dtype=np.int64) if table.classes is None else table.classes
    sizes = np.bincount(classes, minlength=len(_class_labels(table)))
    return [float(each) for each in sizes / max(len(classes), 1)]


def _split(subject: TableSubject, seed: int) -> tuple[EncodedTable, EncodedTable]:
    """Return the training rows of the ceiling, and the test rows."""
    table = subject.table
    if subject.test is not None:
        return table, subject.test
    order = np.random.default_rng(seed).permutation(len(table))
    third = max(1, len(table) // 3)
    return rows_of(table, np.sort(order[third:])), rows_of(table, np.sort(order[:third]))


def clustering(subject: TableSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the Match Points of the release."""
    found = match_points(subject.groups, subject.table, clusters=CLUSTERS, seed=seed, done=done)
    return {
        "match-points": [_facts(match) for match in found],
        "n-clustered": min(len(subject.table), most_clustered(subject.table.schema)),
    }


def counting(subject: TableSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the errors of range queries and of marginals."""
    with one_thread():
        return _counting(subject, seed=seed, done=done)


def _counting(subject: TableSubject, *, seed: int, done: Done) -> Facts:
    groups, table = subject.groups, subject.table
    with_class = _has_class(subject)
    weights = None if subject.people is None else subject.people.counted
    width = len(table.schema.attributes) + with_class
    ranges = (
        range_errors(groups, table, seed=seed, weights=weights, done=stretch(done, 0, 2))
        if any(attribute.domain.size > 1 for attribute in table.schema.used())
        else ()
    )
    deepest = min(3, width)
    marginals = [
        marginal_errors(
            groups,
            table,
            ways=ways,
            with_class=with_class,
            seed=seed,
            weights=weights,
            done=stretch(stretch(done, 1, 2), ways - 1, deepest),
        )
        for ways in range(1, deepest + 1)
    ]
    n_true = len(table) if weights is None else round(float(weights.sum()))
    n_released = int(groups.counts.sum())
    return {
        "against": "records" if weights is None else "people",
        "ranges": [_facts(each) for each in ranges],
        "sanity-bound": str(SANITY),
        "marginals": [_facts(each) for each in marginals],
        "most-marginals": MOST_TABLES,
        "spread": "even" if groups.marginals is None else "by the release's noisy marginals",
        "total": {
            "release": n_released,
            "records": n_true,
            "error": abs(n_released - n_true) / max(n_true, 1),
        },
    }


def related(subject: TableSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the errors of every pair of attributes, and of means."""
    with_class = _has_class(subject)
    schema = subject.table.schema
    used = list(schema.used()) if with_class else list(schema.attributes)
    weights = None if subject.people is None else subject.people.counted
    found = relations(
        subject.groups,
        subject.table,
        with_class=with_class,
        seed=seed,
        weights=weights,
        done=done,
    )
    return relation_facts(found, [attribute.name for attribute in used])


def people(subject: TableSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return numbers of people and of their records, and errors against people."""
    if subject.people is None:
        raise InternalError("The people of the records are not known.")
    return people_facts(
        subject.groups,
        subject.table,
        subject.people,
        with_class=_has_class(subject),
        seed=seed,
        done=done,
    )


def _has_class(subject: TableSubject) -> bool:
    return subject.groups.classes is not None and subject.table.classes is not None


def loss(subject: TableSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the information loss of true records in the boxes, and of the groups."""
    groups, table = subject.groups, subject.table
    n_records = len(table) if is_truthful(subject) else None
    of_records = losses_of_records(groups, table) if is_placed(groups) else None
    return {
        "records": None if of_records is None else _facts(of_records),
        "groups": _facts(losses_of_groups(groups, subject.schema, n_records=n_records)),
    }


def reidentification(subject: TableSubject, *, seed: int, done: Done = unheard) -> Facts:
    """Return the re-identification risk, or the reason why it does not apply."""
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
    "The release is differentially private: epsilon bounds what anyone can learn about a person"
    " from it, whatever they know; its own report explains the bound. Figures that treat each row"
    " as a person's true record do not apply: counts are noisy, and a group of one may be nobody."
)
_TRUTHFUL = "Each record of the release is the generalised record of one person."
_IF_TRUE = (
    "The file has no certificate. These figures hold if every row is a true record of one"
    " person; they do not apply to synthetic rows."
)


def is_truthful(subject: TableSubject) -> bool | None:
    """Return True if rows are true records by the certificate; None without a certificate."""
    if subject.certificate is None:
        return None
    return subject.certificate.guarantee.kind == "none"


def _facts(result: Any) -> Facts:
    """Return a result as JSON, with hyphens in its names."""

    def hyphened(value: Any) -> Any:
        if isinstance(value, dict):
            return {name.replace("_", "-"): hyphened(each) for name, each in value.items()}
        return value

    facts: Facts = hyphened(asdict(result))
    return facts
