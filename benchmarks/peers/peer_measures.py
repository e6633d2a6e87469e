"""Measures of synthetic records, the same for every tool."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from hedgerow.evaluation.fidelity import fidelity
from hedgerow.evaluation.marginals import chosen_sets
from hedgerow.evaluation.neutral_cells import neutral_cells
from hedgerow.model.table import EncodedTable

MOST_TRIPLES = 200
MEASURES = ("one_way", "worst", "two_way", "k2", "k3", "top10", "occurs", "tree", "boosting")


def matrix(table: EncodedTable) -> NDArray[np.int64]:
    """Return the codes of all records, the class last."""
    columns = [*table.codes] if table.classes is None else [*table.codes, table.classes]
    return np.stack(columns, axis=1).astype(np.int64)


def measured(records: NDArray[np.int64], train: EncodedTable, test: EncodedTable) -> dict:
    """Return all measures of synthetic codes, the class last."""
    synthetic = EncodedTable.from_codes(train.schema, list(records.T[:-1]), records[:, -1])
    found = fidelity(synthetic, train, with_class=True, most_pairs=10**6)
    names = [attribute.name for attribute in train.schema.used()]
    worst = found.worst_column
    return {
        "one_way": found.one_way,
        "worst": worst.error,
        "worst_column": names[worst.attribute],
        "two_way": found.two_way,
        "k2": 1000 * (1 - (found.two_way or 0.0)),
        "k3": 1000 * (1 - triples_error(records, train)),
        "top10": float(np.mean([each.top for each in found.columns])),
        "occurs": float(np.mean([each.occurs or 0.0 for each in found.columns])),
        **learnt(records, matrix(test)),
    }


def triples_error(records: NDArray[np.int64], train: EncodedTable) -> float:
    """Return the mean total variation of 3-way marginals in the cells of 2-way ones.

    Of more than 200 triples, 200 are sampled, the same for every tool.
    """
    raw = matrix(train)
    cells = [
        neutral_cells(
            np.bincount(column, minlength=attribute.domain.size).astype(np.float64),
            attribute.domain,
        )
        for column, attribute in zip(raw.T, train.schema.used(), strict=True)
    ]
    sizes = [int(each.max()) + 1 for each in cells]
    first, second = (
        [each[column] for each, column in zip(cells, table.T, strict=True)]
        for table in (records, raw)
    )
    errors = []
    for at in chosen_sets(len(cells), 3, MOST_TRIPLES, 0):
        shape = [sizes[each] for each in at]
        shares = [
            np.bincount(
                np.ravel_multi_index([columns[each] for each in at], shape),
                minlength=int(np.prod(shape)),
            )
            / len(columns[0])
            for columns in (first, second)
        ]
        errors.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(errors))


def learnt(records: NDArray[np.int64], test: NDArray[np.int64]) -> dict[str, float]:
    """Return the accuracy in per cent of two learners trained on synthetic records."""
    predictors, classes = records[:, :-1], records[:, -1]
    if len(np.unique(classes)) < 2:
        share = 100 * float(np.mean(test[:, -1] == classes[0]))
        return {"tree": share, "boosting": share}
    models = {
        "tree": DecisionTreeClassifier(criterion="entropy", ccp_alpha=0.0003, random_state=0),
        "boosting": HistGradientBoostingClassifier(
            random_state=0, max_iter=60, early_stopping=False
        ),
    }
    found = {}
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns that a tool leaves constant
            model.fit(predictors, classes)
        found[name] = 100 * float(np.mean(model.predict(test[:, :-1]) == test[:, -1]))
    return found
