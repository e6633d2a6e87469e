from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hedgerow.cli.taxonomy import app
from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.files import FORMATS, file_format, read_taxonomy, write_taxonomy
from hedgerow.taxonomy.rewrite import OpenedTaxonomy, TaxonomyChangedError
from hedgerow.taxonomy.tree import Taxonomy

JOBS = Taxonomy.from_nested("*", {"Indoor": ["office", "shop"], "Outdoor": ["farm"]})


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_taxonomy(JOBS, "jobs.csv")
    return tmp_path / "jobs.csv"


def edit(*words: str) -> str:
    result = CliRunner().invoke(app, ["edit", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_each_edit_changes_the_file_and_says_how_large_it_is(jobs):
    told = edit("add", "jobs.csv", "road", "rail", "--into", "Outdoor")
    assert told == "jobs.csv: 5 values, 8 nodes\n"
    edit("split", "jobs.csv", "Outdoor", "road", "rail", "--name", "Transport", "--quiet")
    edit("rename", "jobs.csv", "Outdoor", "Fields")
    edit("group", "jobs.csv", "Indoor", "Transport", "--name", "City")
    edit("move", "jobs.csv", "rail", "--into", "Transport", "--before", "road")
    edit("dissolve", "jobs.csv", "Indoor")
    edit("remove", "jobs.csv", "shop")
    assert json.loads(edit("add", "jobs.csv", "mine", "--json")) == {
        "file": "jobs.csv",
        "leaves": 5,
        "nodes": 9,
    }
    assert read_taxonomy(jobs) == Taxonomy.from_nested(
        "*", [{"City": ["office", {"Transport": ["rail", "road"]}]}, {"Fields": ["farm"]}, "mine"]
    )


def test_cells_of_a_spreadsheet_are_put_in_their_places(jobs):
    (jobs.parent / "cells.txt").write_text("shop\tTrade\nmarket\tTrade\n")
    edit("paste", "jobs.csv", "cells.txt")
    assert read_taxonomy(jobs).leaf_labels == ("office", "farm", "shop", "market")


def test_what_is_refused_leaves_the_file_as_it_was(jobs):
    before = jobs.read_bytes()
    result = CliRunner().invoke(app, ["edit", "move", "jobs.csv", "Indoor", "--into", "Indoor"])
    assert isinstance(result.exception, TaxonomyError)
    assert jobs.read_bytes() == before


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_keeps_its_format_and_its_first_comments(tmp_path, format_):
    suffix = {"yaml": ".yaml", "json": ".json"}.get(format_, ".csv")
    path = tmp_path / f"tree{suffix}"
    write_taxonomy(JOBS, path, format_)
    head = "# agreed by the data board\n\n" if format_ == "yaml" else ""
    path.write_text(head + path.read_text())
    assert file_format(path) == format_
    file = OpenedTaxonomy.read(path)
    file.replace(file.taxonomy.with_leaf("mine"))
    assert path.read_text().startswith(head)
    assert file_format(path) == format_
    assert read_taxonomy(path) == JOBS.with_leaf("mine")


def test_a_file_that_somebody_else_changed_is_not_overwritten(jobs):
    file = OpenedTaxonomy.read(jobs)
    jobs.write_text(jobs.read_text().replace("farm", "field"))
    changed = jobs.read_bytes()
    with pytest.raises(TaxonomyChangedError) as refusal:
        file.replace(file.taxonomy.with_leaf("mine"))
    assert jobs.read_bytes() == changed
    assert "-farm;Outdoor;*" in refusal.value.difference
    assert "+field;Outdoor;*" in refusal.value.difference


def test_comments_inside_of_a_tree_are_lost_and_told(jobs):
    text = '# at the head\n"*":\n  In:  # one\n    - "a # b"\n    - it\'s  # two\n  Out: [c, d#e]\n'
    (jobs.parent / "jobs.yaml").write_text(text)
    told = edit("rename", "jobs.yaml", "Out", "Outside")
    assert told.splitlines()[1] == "2 comments inside of the tree are lost"
    assert (jobs.parent / "jobs.yaml").read_text().startswith("# at the head\n")
    told = json.loads(edit("rename", "jobs.yaml", "In", "Inside", "--json"))
    assert "comments-lost" not in told
