"""Records and releases as the columns that a tree learns from."""

from __future__ import annotations

import numpy as np

from experiments.c45.tree import Column
from hedgerow.evaluation.examples import Examples


def columns_of(examples: Examples) -> list[Column]:
    """Return the columns of examples: of records numbers and categories, of releases categories.

    In a release every value is a word, be it a node of a taxonomy or an interval such as
    [18-40): to C4.5 that is a category, and equal words are the same category.
    """
    columns = []
    for at, attribute in enumerate(examples.schema.attributes):
        values = examples.places[:, at].astype(np.float64)
        if examples.ranges is not None:
            columns.append(Column(values=values, categories=len(examples.ranges[at])))
        elif attribute.domain.kind == "categorical":
            columns.append(Column(values=values, categories=attribute.domain.size))
        else:
            columns.append(Column(values=values))
    return columns
