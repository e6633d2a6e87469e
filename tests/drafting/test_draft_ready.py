"""Which ready taxonomies a draft proposes, and what only the owner hears of it."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import make_app
from hedgerow.drafting.compose import draft as draft_plan
from support.drafts import unit_of

DICE = random.Random(11)
N = 600
CLASS = [DICE.choice(["no", "yes"]) for _ in range(N)]
STATES = ["CA", "NY", "TX", "FL", "WA", "OR", "NV", "AZ", "ME", "VT", "OH", "MI"]
CODES = ["I21.4", "I21.9", "E11.9", "C50.1", "J45", "K35.8", "M1A.0", "Z3A.20", "S72.0", "U07.1"]


def drawn(values):
    return [DICE.choice(values) for _ in range(N)]


def drafted(**columns):
    return draft_plan(pa.table({**columns, "outcome": CLASS}), class_name="outcome")


@pytest.mark.parametrize(
    ("column", "values", "name"),
    [
        ("native_country", ["Germany", "FR", "ITA", "Spain", "pol"], "countries"),
        ("land", ["Deutschland", "Österreich", "Schweiz"], "countries"),
        (
            "where",
            ["Germany", "France", "Italy", "Spain", "Poland", "Japan", "Peru", "Chad"],
            "countries",
        ),
        ("state", STATES, "us-states"),
        ("place", STATES, "us-states"),
        ("icd10", CODES, "icd-10"),
        ("hauptdiagnose", CODES, "icd-10"),
        ("ISCED", ["ED3", "ED5", "ED6"], "isced"),
        ("month", ["Jan", "Feb", "Mar", "Apr", "Oct"], "months"),
        ("age_group", ["30-34", "35-39", "40-44"], "age-bands"),
        ("age", ["[30-40)", "[40-50)", "[50-60)"], "age-decades"),
        ("zip", [f"{i:05}" for i in range(2000, 99000, 650)], "zip3"),
    ],
)
def test_a_column_gets_the_taxonomy_that_its_values_are_in(column, values, name):
    draft = drafted(**{column: drawn(values)})
    attribute = draft.plan.attributes[column]
    assert attribute.taxonomy == f"hedgerow:{name}"
    assert attribute.other == "other"
    line = next(line for line in draft.text.splitlines() if f"hedgerow:{name}" in line)
    place = draft.text.splitlines().index(line)
    around = "\n".join(draft.text.splitlines()[place - 1 : place + 1])
    assert "# public" in around


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("when", ["AM", "PM"]),
        ("smoker", ["no", "yes"]),
        ("room", ["A12", "B07", "C33", "D50", "E11", "F20", "G40", "H60", "I21"]),
        ("state", ["solid", "liquid", "gas"]),
        ("country", ["north", "south", "east"]),
        ("age", [str(age) for age in range(20, 80)]),
        ("age", [*(str(age) for age in range(20, 80)), "unbekannt"]),
        ("zip", ["01000", "02000", "03000"]),
        ("language", ["de", "en", "fr"]),
    ],
)
def test_a_column_that_only_looks_like_one_does_not(column, values):
    assert "hedgerow:" not in drafted(**{column: drawn(values)}).text


def test_how_many_values_are_outside_is_said_to_the_owner_and_not_in_the_plan():
    values = drawn(["DE", "FR", "IT"])
    values[:40] = ["Atlantis"] * 20 + ["Lemuria"] * 20
    draft = drafted(country=values)
    assert draft.plan.attributes["country"].taxonomy == "hedgerow:countries"
    (note,) = [note for note in draft.notes if "hedgerow:countries" in note]
    assert "2 values of 'country'" in note
    assert "Atlantis" not in draft.text
    assert "2 values" not in draft.text


def test_a_confirmed_draft_with_ready_taxonomies_is_published():
    draft = drafted(country=drawn(["DE", "FR", "JP"]), diagnosis=drawn(CODES))
    plan = draft.plan.model_copy(update={"confirmed": True, **unit_of(draft.plan)})
    table = pa.table({"country": ["DE"] * N, "diagnosis": drawn(CODES), "outcome": CLASS})
    assert hedgerow.publish(plan, data=table, seed=1).certificate is not None


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    lands = drawn(["DE", "FR", "IT"])
    lands[:31] = ["Atlantis"] * 30 + ["SECRET123"]
    arrow_csv.write_csv(pa.table({"land": lands, "home": drawn(["DE", "AT"])}), path)
    return path


def run(*words):
    return CliRunner().invoke(make_app(), ["taxonomy", *map(str, words)])


def test_a_taxonomy_is_complete_for_a_column_or_not(people):
    found = run("check", "hedgerow:countries", "--data", people, "--column", "home")
    assert found.exit_code == 0
    assert "is complete for 'home'" in found.output
    found = run("check", "hedgerow:countries", "--data", people, "--column", "land")
    assert found.exit_code == 1
    assert "incomplete" in found.output
    assert "Atlantis" in found.output
    assert "SECRET" not in found.output
    assert "owner" in found.output
    found = run("check", "hedgerow:countries", "--data", people, "--column", "land", "--json")
    facts = json.loads(found.output)
    assert facts["values_outside"] == 2
    assert facts["complete"] is False


def test_a_file_is_checked_against_a_column_too(people, tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("DE;*\nAT;*\n")
    assert run("check", own, "--data", people, "--column", "home").exit_code == 0
    assert run("check", own, "--data", people, "--column", "land").exit_code == 1


def test_a_table_and_a_column_belong_together(people):
    for words in (["--data", people], ["--column", "land"]):
        assert run("check", "hedgerow:countries", *words).exit_code != 0
    both = run("check", "hedgerow:countries", "hedgerow:zip3", "--data", people, "--column", "land")
    assert both.exit_code != 0


def test_the_list_names_source_and_licence():
    facts = json.loads(run("list", "--json").output)["taxonomies"]
    assert {fact["name"] for fact in facts} >= {"hedgerow:countries", "hedgerow:icd-10"}
    assert all(fact["source"] and fact["licence"] for fact in facts)
    shown = run("list").output
    assert "hedgerow:us-states" in shown
    assert "Census Bureau" in shown


def test_a_ready_taxonomy_is_shown_and_converted(tmp_path):
    assert "Western Europe" in run("show", "hedgerow:countries", "--max-depth", "2").output
    out = tmp_path / "months.csv"
    assert run("convert", "hedgerow:months", out).exit_code == 0
    assert run("check", out).exit_code == 0
    assert run("show", "hedgerow:nothing").exit_code != 0
