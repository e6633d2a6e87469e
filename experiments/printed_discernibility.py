"""[DiffMulti, Eq. (3)] as printed, over 2|D| + 1, beside ours over 2|P| + 1.

``python benchmarks/diffmulti_eq3.py`` prints the table of docs/papers/diffmulti.md. The printed
divisor is the true number of records of the whole table, and every box reads it. No audit
refutes that (the loss of a level is at most three quarters of its share), yet nothing pays for
it, its proof fails, and small boxes choose blindly. It runs here, on public data, and nowhere
in the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from experiments.releases import diffmulti, released
from hedgerow.evaluation.loss import losses_of_records
from hedgerow.methods.diffmulti.diffmulti import DiffMulti
from hedgerow.methods.diffmulti.scores import DISCERNIBILITY, MultiScore
from hedgerow.model.table import EncodedTable
from hedgerow.privacy.source import SeededSource
from hedgerow.trees.box_scores import Children

ONE = Fraction(1)


def squared_sizes(children: Children, widest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return -DM, the sum of squared child sizes [DiffMulti, Eq. (3)]."""
    sizes = children.sizes
    return -children.add(sizes * sizes)


def printed_score(n_records: int) -> MultiScore:
    """Return discernibility with the printed sensitivity, 2|D| + 1, at half the rate.

    Privacy: reads the true number of records, which nothing pays for.
    """
    stated = Fraction(2 * n_records + 1)
    return replace(
        DISCERNIBILITY,
        span=stated,
        printed=2 * stated,
        sensitivity="2|D| + 1, as printed",
        of=squared_sizes,
    )


def variants(h: int, table: EncodedTable) -> dict[str, DiffMulti]:
    """Return DiffMulti with both divisors."""
    ours = diffmulti(h, score="discernibility")
    return {
        "2\\|P\\| + 1 (ours)": ours,
        "2\\|D\\| + 1 (as printed)": replace(ours, score=printed_score(len(table))),
    }


def penalties(
    method: DiffMulti, table: EncodedTable, *, seeds: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Return discernibility, in millions, and NCP of the true records, for every seed."""
    found = []
    for seed in seeds:
        groups = released(method, table, epsilon=ONE, source=SeededSource(seed))
        found.append(losses_of_records(groups, table))
    return [each.discernibility / 1e6 for each in found], [each.ncp for each in found]
