"""Drafted plans for basket files: what is guessed, and what is never written down."""

from __future__ import annotations

import gzip
import json

import pytest
from typer.testing import CliRunner

from hedgerow.cli.main import app
from hedgerow.drafting.baskets import looks_like_baskets
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.universe import universe_of
from hedgerow.errors import DataError, PlanError
from hedgerow.plan.load import load_plan
from hedgerow.read.items import open_items

HEADER = "% MSNBC, as published\n%\nnews tech\n% Sequences:\n"


def written(path, lines, *, header=""):
    text = header + "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def drafted(path, **settings):
    return draft_plan(path, base=path.parent, **settings)


def confirmed(draft, folder):
    (folder / "plan.yaml").write_text(draft.text.replace("confirmed: false", "confirmed: true"))
    return load_plan(folder / "plan.yaml")


def test_names_in_many_records_become_the_universe_and_rare_ones_are_not_written(tmp_path):
    path = written(tmp_path / "a.dat", ["milk bread"] * 25 + ["milk wig"] * 18 + ["wig " * 9])
    draft = drafted(path, one_record_per_person=True)
    assert draft.plan.items.universe == ("bread", "milk")
    assert draft.text.count("from the data") == 4  # the header explains it once
    assert not draft.plan.confirmed
    assert draft.plan.items.source == "data"
    assert (draft.plan.ledger.dataset, draft.plan.ledger.cap) == ("a", 1)
    plan = confirmed(draft, tmp_path)
    universe = universe_of(plan)
    baskets = encode_baskets(open_items("a.dat", universe.place, base=tmp_path), universe)
    assert len(baskets) == 43
    assert plan.publish.method == "coterie"
    assert "wig" in drafted(written(tmp_path / "b.dat", ["milk wig"] * 20)).plan.items.universe


def test_numbers_become_a_range_that_is_rounded_outwards(tmp_path):
    path = written(tmp_path / "a.dat.gz", ["3 17"] * 25 + ["999999"])
    assert drafted(path).plan.items.universe == (0, 20)
    # An item that a record repeats is in one record.
    assert (
        drafted(written(tmp_path / "b.dat", ["3"] * 25 + ["88 " * 40])).plan.items.universe[1] < 88
    )


def test_a_file_of_sequences_is_known_by_its_header_and_read_as_sets(tmp_path):
    path = written(tmp_path / "clicks.txt", ["1 1 2"] * 30, header=HEADER)
    assert looks_like_baskets(path)
    draft = drafted(path)
    assert draft.plan.items.as_ == "sets"
    assert draft.plan.items.universe == (1, 3)


@pytest.mark.parametrize(
    ("line", "separator"), [("red apples,milk", "comma"), ("a b\tmilk", "tab")]
)
def test_a_comma_or_tab_separates_where_there_is_one(tmp_path, line, separator):
    draft = drafted(written(tmp_path / "a.dat", [line] * 30))
    assert draft.plan.items.separator == separator
    assert len(draft.plan.items.universe) == 2


def test_more_items_than_a_plan_should_list_go_to_a_file_of_their_own(tmp_path):
    path = written(tmp_path / "a.dat", [" ".join(f"item{i}" for i in range(600))] * 30)
    draft = drafted(path)
    assert draft.plan.items.universe == "items.txt"
    assert "from your catalogue and not from the data" in draft.text
    assert "item17" not in draft.text


def test_a_taxonomy_that_lists_all_frequent_items_is_proposed(tmp_path):
    folder = tmp_path / "taxonomies"
    folder.mkdir()
    (folder / "a.csv").write_text("milk;dairy;*\nrum;spirits;*\n")
    (folder / "b.csv").write_text("milk;dairy;*\nbread;bakery;*\nrum;spirits;*\n")
    path = written(tmp_path / "a.dat", ["milk bread"] * 30)
    draft = drafted(path, taxonomies=folder, protects_records=True)
    assert draft.plan.items.taxonomy == "taxonomies/b.csv"
    assert universe_of(confirmed(draft, tmp_path)).n_items == 3


def test_a_file_without_frequent_items_is_refused_without_showing_any(tmp_path):
    path = written(tmp_path / "a.dat", ["secret"] * 5)
    with pytest.raises(DataError, match="No item occurs in at least 20 records") as raised:
        drafted(path)
    assert "secret" not in str(raised.value)


def test_settings_that_make_no_sense_for_baskets_are_refused(tmp_path):
    path = written(tmp_path / "a.dat", ["milk"] * 30)
    with pytest.raises(PlanError, match="no class"):
        drafted(path, class_name="milk")
    with pytest.raises(PlanError):
        drafted(path, method="diffgen")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "postgresql://host/a.dat"])
def test_tables_are_not_taken_for_baskets(name):
    assert not looks_like_baskets(name)


def test_the_command_writes_a_plan_that_publish_refuses_until_it_is_confirmed(tmp_path):
    path = written(tmp_path / "a.dat", ["milk bread"] * 30)
    plan = tmp_path / "plan.yaml"
    shown = CliRunner().invoke(app, ["draft", str(path), "-o", str(plan)])
    assert shown.exit_code == 0
    assert "baskets, one record per line" in shown.stdout + shown.stderr
    refused = CliRunner().invoke(app, ["publish", str(plan), "-o", str(tmp_path / "out")])
    assert refused.exit_code != 0
    again = CliRunner().invoke(app, ["draft", str(path), "-o", "-", "--json"])
    assert json.loads(again.stdout)["confirmed"] is False


def test_baskets_have_no_purpose(tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_text("1 2 3\n2 3\n" * 100, "utf-8")
    with pytest.raises(PlanError, match="no purpose"):
        draft_plan(path, purpose="table", protects_records=True)
