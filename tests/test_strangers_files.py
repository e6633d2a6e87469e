"""Files as people have them: drafted, confirmed as it stands, published, and worth having.

One test for all of them: no column is lost that a person would keep, none has a wrong type, and no
release is worse than none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.evaluation.classification import majority_accuracy, release_measures
from hedgerow.evaluation.marginals import marginal_errors
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.plan.attribute import AttributePlan
from hedgerow.plan.model import Plan
from hedgerow.read.open import open_table
from support import strangers_formats as formats
from support import strangers_odd as odd
from support import strangers_text as text
from support.census_like import CLASS as INCOME
from support.census_like import write_census
from support.drafts import confirmed_text
from support.hospital_export import CLASS as DIED
from support.hospital_export import write_hospital
from support.strangers import Stranger


def census(folder: Path) -> Stranger:
    """42 columns, most of them codes and lists."""
    kinds = write_census(folder / "census.csv")
    return Stranger(data=folder / "census.csv", kinds=kinds, class_name=INCOME)


def hospital(folder: Path) -> Stranger:
    """60 columns of a German hospital."""
    kinds = write_hospital(folder / "export.csv") | {"Geburtsdatum": "age"}
    reading = {"delimiter": "semicolon", "decimal": "comma", "thousands": "point"}
    return Stranger(data=folder / "export.csv", kinds=kinds, class_name=DIED, reading=reading)


FILES: list[Any] = [
    census,
    hospital,
    *(text.tabs, text.bars, text.headless, text.gzipped, text.survey),
    pytest.param(text.wide, marks=pytest.mark.audit, id="wide"),
    *(text.classless, text.skewed, text.gaps, text.american),
    *(
        odd.stamps,
        odd.codes,
        odd.truths,
        odd.points,
        odd.french,
        odd.swiss,
        odd.numbered,
        odd.notes,
    ),
    *(formats.parquet, formats.sqlite, formats.workbook, formats.spss, formats.stata),
    formats.objects,
]


def kind_of(given: AttributePlan) -> str:
    if not given.is_read:
        return "out"
    if given.date is not None:
        return "date"
    return "number" if given.numeric is not None else "listed"


def wrong_kinds(plan: Plan, stranger: Stranger) -> dict[str, str]:
    found = {name: kind_of(given) for name, given in plan.attributes.items()}
    sources = {given.from_.column for given in plan.attributes.values() if given.from_}
    wrong = {}
    for name, kind in stranger.kinds.items():
        allowed = {"either": ("listed", "number"), "age": ("out",)}.get(kind, (kind,))
        if found.get(name) not in allowed or (kind == "age") is not (name in sources):
            wrong[name] = f"{found.get(name)}, not {kind}"
    return wrong


def knowing_nothing(schema: Schema) -> Groups:
    """One box of the whole domain, every class alike: what is known without any release."""
    whole = [Ranges.of([(0, attribute.domain.size)]) for attribute in schema.attributes]
    n_groups = schema.n_classes
    return Groups(
        ranges=tuple(whole),
        index=tuple(np.zeros(n_groups, dtype=np.int32) for _ in whole),
        classes=None if schema.class_attribute is None else np.arange(n_groups, dtype=np.int32),
        counts=np.full(n_groups, 100, dtype=np.int64),
        is_cut=True,
    )


def assert_worth_having(plan: Plan, table: EncodedTable) -> None:
    """Rows are better than knowing nothing, and the boxes of a class rank better than a coin.

    Of a rare class no release of this size beats the accuracy of the most frequent class, so
    the boxes must come within half a point of it and rank the rows by class.
    """
    groups = hedgerow.publish(plan, seed=7).groups
    assert groups.are_points
    for ways in (1, 2):
        error = marginal_errors(groups, table, ways=ways).mean
        assert error < marginal_errors(knowing_nothing(table.schema), table, ways=ways).mean
    if table.classes is None:
        return
    bare = plan.model_copy(update={"publish": None})
    boxes = hedgerow.publish(bare, epsilon=1, purpose="classification", seed=8).groups
    learner = {"test": table, "usual": 0, "learners": ("tree",), "by": "boxes"}
    found = release_measures(boxes, **learner)["tree"]
    assert found.accuracy >= majority_accuracy(train=table, test=table) - 0.005
    assert found.auc > 0.6


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_a_file_as_it_is_becomes_a_release_worth_having(make, tmp_path):
    stranger = make(tmp_path)
    drafted = draft_plan(
        stranger.data, query=stranger.query, one_record_per_person=True, base=tmp_path
    )
    assert drafted.text.count("from the data") <= 8
    file = tmp_path / "plan.yaml"
    file.write_text(confirmed_text(drafted.text, drafted.plan), encoding="utf-8")
    plan = hedgerow.load_plan(file)
    assert wrong_kinds(plan, stranger) == {}
    assert plan.class_name == stranger.class_name
    reading = plan.how_to_read()
    assert {key: getattr(reading, key) for key in stranger.reading} == stranger.reading
    given = plan.data if stranger.query else plan.resolve(plan.data)
    source = open_table(given, query=plan.query, reading=reading)
    table = encode_table(source, schema_of(plan))
    assert len(table) >= 0.8 * 5000
    assert_worth_having(plan, table)
