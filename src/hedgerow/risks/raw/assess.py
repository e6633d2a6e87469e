"""risk(data, plan=...): measure the risk of publishing a table without protection."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import SettingError
from hedgerow.evaluation.distinct import row_numbers
from hedgerow.evaluation.risk import Risk, risk_of
from hedgerow.pipeline.prepare import PlanLike, as_plan
from hedgerow.progress import Progress, no_progress
from hedgerow.risks.raw.assessment import (
    PeopleFacts,
    RiskAssessment,
    check_risk_folder,
    what_instead,
)
from hedgerow.risks.raw.groups import diversity_of, size_bars
from hedgerow.risks.raw.population import fit_pitman
from hedgerow.risks.raw.read import RawTable, read_raw
from hedgerow.risks.raw.severity import matches_of, model_risks
from hedgerow.risks.raw.subsets import LARGEST_SET, MOST_SETS, CountedRows, unique_on_sets


def risk(
    data: Any = None,
    *,
    plan: PlanLike,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    fraction: float | None = None,
    most_sets: int = MOST_SETS,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress = no_progress,
) -> RiskAssessment:
    """Measure the risk of publishing a confidential table without protection.

    Parameters
    ----------
    data : path, URL or dataframe, optional
        The confidential table. By default the plan's own.
    plan : Plan, mapping or path
        Its roles decide: predictors are quasi-identifiers, which an attacker may know, and the
        class is sensitive. Numbers count at the resolution of the plan.
    quasi, sensitive : sequence of str, optional
        Columns to treat as quasi-identifiers and as sensitive instead.
    fraction : float, optional
        The share of the population that is in the table, above 0 and at most 1. With it, the
        number of people who are unique in the population is estimated.
    most_sets : int, default=2000
        Maximum number of sets of columns that are counted.
    out : path, optional
        The folder to write `risk.html` and `risk.json` to.
    force : bool, default=False
        Replace an assessment that is in the folder.
    progress : callable, optional
        Called with the name of each step and the share of it that is done.

    Returns
    -------
    RiskAssessment
        All figures, for the data owner alone.

    Raises
    ------
    PlanError
        If the plan is of items, or names no data.
    SettingError
        If a column or the fraction is not valid.

    Notes
    -----
    Privacy: figures are computed from the records without noise. They are not private.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [30, 30, 41, 58], "ward": ["A", "A", "A", "B"]})
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}}}
    >>> found = risk(table, plan=plan)
    >>> found.facts["k"], found.facts["unique"]["records"]
    (1, 2)

    """
    if fraction is not None and not 0 < fraction <= 1:
        raise SettingError.out_of_range("fraction", fraction, "above 0 and at most 1")
    if most_sets < 1:
        raise SettingError.out_of_range("most_sets", most_sets, "at least 1")
    if out is not None:
        check_risk_folder(out, force=force)
    checked = as_plan(plan)
    raw = read_raw(checked, data, quasi=quasi, sensitive=sensitive, progress=progress)
    assessment = RiskAssessment(
        facts={
            **_of_groups(raw, fraction, most_sets, progress),
            "identifiers": [
                {"column": each.column, "number": each.kind, "kind": each.what, "by": each.by}
                for each in raw.identifiers
            ],
            "people": _people(raw),
            "models": [
                {
                    "model": each.model,
                    "formula": each.formula,
                    "mean": each.mean,
                    "high": each.high,
                    "largest": each.largest,
                }
                for each in model_risks(raw)
            ],
            "instead": what_instead(checked),
        }
    )
    if out is not None:
        assessment.write(out, force=force)
    return assessment


def _of_groups(
    raw: RawTable, fraction: float | None, most_sets: int, progress: Progress
) -> dict[str, object]:
    columns = [column.codes for column in raw.quasi]
    names = [column.name for column in raw.quasi]
    n_records = len(raw)
    group, first = row_numbers(columns)
    sizes = np.bincount(group).astype(np.int64) if n_records else np.zeros(0, dtype=np.int64)
    rows = CountedRows.of(columns, first, sizes)
    counted = unique_on_sets(
        rows, most=most_sets, progress=lambda part: progress("counting sets of columns", part)
    )
    population = _people_of_groups(raw, first)
    found = risk_of(sizes, population)
    unique = int((sizes == 1).sum())
    return {
        "records": n_records,
        "left-out": raw.n_read - n_records,
        "quasi-identifiers": names,
        "sensitive": [column.name for column in raw.sensitive],
        "k": int(sizes.min()) if n_records else None,
        "groups": len(sizes),
        "unique": {"records": unique, "share": _share(unique, n_records)},
        "attackers": None if found is None else _attackers(found, population is not None),
        "sizes": [
            {"size": bar.label, "groups": bar.groups, "records": bar.records}
            for bar in size_bars(sizes)
        ],
        "sets": {
            "counted": len(counted.sets),
            "possible": counted.n_possible,
            "complete": counted.is_complete,
            "worst": [
                {
                    "columns": [names[at] for at in each.columns],
                    "unique": each.unique,
                    "share": _share(each.unique, n_records),
                }
                for size in range(1, LARGEST_SET + 1)
                for each in counted.worst(size, 10)
            ],
        },
        "diversity": _diversity(raw, group),
        "population": _population(sizes, fraction),
    }


def _people_of_groups(raw: RawTable, first: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return how many people of the population each group has, if the plan names a population.

    A sampling fraction is not enough: people who are unique in a sample are often unique in the
    population, so enlarging groups by the fraction would understate the risk.
    """
    if raw.ready.disclose.against is None or not len(raw):
        return None
    return matches_of(raw)[first]


def _diversity(raw: RawTable, group: NDArray[np.int64]) -> list[dict[str, object]]:
    if not len(raw):
        return []
    found = []
    for column in raw.sensitive:
        measured = diversity_of(
            column.name,
            group,
            column.codes.astype(np.int64),
            n_values=column.attribute.domain.size,
            ordered=column.ordered,
        )
        found.append(
            {
                "column": measured.column,
                "distinct-l": measured.distinct,
                "entropy-l": measured.entropy,
                "t": measured.closeness,
                "distance": "ordered" if measured.ordered else "equal",
                "homogeneous": measured.homogeneous,
            }
        )
    return found


def _population(sizes: NDArray[np.int64], fraction: float | None) -> dict[str, object] | None:
    if fraction is None:
        return None
    fit = fit_pitman(sizes, fraction=fraction)
    if fit is None:
        return {"fraction": fraction, "model": "Pitman", "fitted": False}
    return {
        "fraction": fraction,
        "model": "Pitman",
        "fitted": True,
        "alpha": fit.alpha,
        "theta": fit.theta,
        "population": fit.population,
        "unique": fit.unique,
        "share": fit.unique_share,
        "share-of-sample-unique": fit.sample_unique_share,
    }


def _attackers(found: Risk, has_population: bool) -> dict[str, object]:
    """Return the risk by attacker; that of the journalist only if the population is known."""
    return {
        "prosecutor": {
            "highest": found.prosecutor.highest,
            "mean": found.prosecutor.mean,
            "at-risk": found.prosecutor.at_risk,
        },
        "journalist": {
            "highest": found.journalist.highest,
            "mean": found.journalist.mean,
            "at-risk": found.journalist.at_risk,
        }
        if has_population
        else None,
        "marketer": found.marketer,
    }


def _people(raw: RawTable) -> PeopleFacts | None:
    sizes = raw.person_sizes
    if sizes is None or not len(sizes):
        return None
    return {
        "people": len(sizes),
        "several": float((sizes > 1).mean()),
        "most": int(sizes.max()),
        "mean": float(sizes.mean()),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
