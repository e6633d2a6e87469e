"""Facts of the task fidelity: every column and pair, means over them, and the worst by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.evaluation.fidelity import (
    TOP,
    WIDE,
    ColumnFidelity,
    CorrelationFidelity,
    Fidelity,
    PairFidelity,
)
from hedgerow.evaluation.neutral_cells import MOST_VALUES, PAIR_CELLS, QUANTILE_CELLS
from hedgerow.report.headlines import Facts


def fidelity_facts(found: Fidelity, names: Sequence[str]) -> Facts:
    """Return the facts of all columns, pairs and correlations, by the names of their columns."""
    columns = [_column(each, names) for each in found.columns]
    pairs = [_pair(each, names) for each in found.pairs]
    correlations = [_correlation(each, names) for each in found.correlations]
    return {
        "cells": {
            "values": MOST_VALUES,
            "quantiles": QUANTILE_CELLS,
            "pairs": PAIR_CELLS,
            "top": TOP,
            "wide": WIDE,
        },
        "1-way": {
            **(_summary(columns, "error", trivial="even") or {}),
            "wide": found.one_way_wide,
        },
        "2-way": _pair_summary(found, pairs),
        "top": _summary(columns, "top"),
        "occurs": _summary(columns, "occurs", lowest=True),
        "means": _summary(columns, "mean-error", trivial="answering-middle"),
        "deviations": _summary(columns, "deviation-error"),
        "quantiles": _summary(columns, "quantile-error"),
        "correlations": _summary(correlations, "error", trivial="answering-zero"),
        "columns": columns,
        "pairs": pairs,
    }


def _summary(
    rows: Sequence[Facts], key: str, *, trivial: str | None = None, lowest: bool = False
) -> Facts | None:
    """Return the mean of a figure and its worst row, beside the mean of a trivial answer."""
    known = [row for row in rows if row[key] is not None]
    if not known:
        return None
    worst = (min if lowest else max)(known, key=lambda row: float(row[key]))
    summary: Facts = {
        "n": len(known),
        "mean": float(np.mean([row[key] for row in known])),
        "worst": {"attributes": worst["attributes"], "value": worst[key]},
    }
    if trivial is not None:
        summary[trivial] = float(np.mean([row[trivial] for row in known]))
        summary["worst"][trivial] = worst[trivial]
    return summary


def _pair_summary(found: Fidelity, pairs: Sequence[Facts]) -> Facts | None:
    summary = _summary(pairs, "error", trivial="even")
    if summary is None:
        return None
    return {
        **summary,
        "n-possible": found.n_possible,
        "tables": "exact" if found.exact else "of records drawn from the release",
    }


def _column(each: ColumnFidelity, names: Sequence[str]) -> Facts:
    number = each.number
    return {
        "attributes": [names[each.attribute]],
        "n-codes": each.size,
        "cells": "values" if each.by_value else "merged",
        "error": each.error,
        "even": each.even,
        "top": each.top,
        "occurs": each.occurs,
        "mean": None if number is None else {"release": number.mean, "records": number.true_mean},
        "mean-error": None if number is None else number.mean_error,
        "answering-middle": None if number is None else number.middle,
        "deviation": None
        if number is None
        else {"release": number.deviation, "records": number.true_deviation},
        "deviation-error": None if number is None else number.deviation_error,
        "quantile-error": None if number is None else number.quantile_error,
    }


def _pair(each: PairFidelity, names: Sequence[str]) -> Facts:
    return {
        "attributes": [names[at] for at in each.attributes],
        "error": each.error,
        "even": each.even,
    }


def _correlation(each: CorrelationFidelity, names: Sequence[str]) -> Facts:
    return {
        "attributes": [names[at] for at in each.attributes],
        "error": abs(each.release - each.records),
        "answering-zero": abs(each.records),
    }
