"""The demonstration: a release of bundled data, with counts and accuracies beside the truth."""

from __future__ import annotations

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from hedgerow.cli.demo import _result
from hedgerow.demo import QUESTIONS, run_demo
from hedgerow.release.release import Release


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demonstration") / "out")


def test_the_folder_holds_a_plan_the_data_and_a_release_of_rows(shown):
    release = Release.load(shown.folder / "release")
    assert release.groups.are_points
    assert release.groups.leaves is not None
    assert {path.name for path in shown.folder.iterdir()} >= {
        "adult-test.parquet",
        "adult-train.parquet",
        "plan.yaml",
        "taxonomies",
    }


def test_counts_are_those_of_the_rows_and_of_the_raw_records(shown):
    release = shown.release.to_arrow()
    # Records with a missing value are not in the release.
    raw = pq.read_table(shown.folder / "adult-train.parquet").drop_null()
    for each, (question, values) in zip(shown.counts, QUESTIONS, strict=True):
        assert each.question == question
        assert each.raw == sum(counted(raw, values, None))
        assert each.released == sum(counted(release, values, "count"))


def counted(table, values, weight):
    for name, value in values.items():
        table = table.filter(pc.equal(table.column(name).cast("string"), value))
    return table.column(weight).to_pylist() if weight else [1] * len(table)


def test_the_rows_teach_more_than_the_most_frequent_class_and_less_than_the_data(shown):
    assert shown.accuracy.floor + 0.05 < shown.accuracy.release < shown.accuracy.ceiling
    assert shown.accuracy.floor + 0.05 < shown.box_accuracy


def test_the_result_for_programs_has_every_figure(shown):
    result = _result(shown)
    assert len(result["counts"]) == len(QUESTIONS)
    assert set(result["accuracy"]) == {"floor", "release", "boxes", "ceiling"}
