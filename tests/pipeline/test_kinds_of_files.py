"""One table in every kind of file: the same release, and a draft that leads to it."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import make_app
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.errors import DataError, PlanError, SettingError
from hedgerow.plan.load import plan_of
from support.drafts import confirmed_text, unit_of
from support.file_kinds import write_labelled, write_sheet

DICE = random.Random(7)
CODES = {1: "ward", 2: "home", 3: "street"}
N = 300
PEOPLE = {
    "age": [DICE.randint(0, 99) for _ in range(N)],
    "place": [DICE.choice([1, 2]) for _ in range(N)],
    "ill": [DICE.choice(["no", "yes"]) for _ in range(N)],
}
TEXTS = {**PEOPLE, "place": [CODES[code] for code in PEOPLE["place"]]}
PLAN = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "place": {"values": list(CODES.values())},
        "ill": {"role": "class", "values": ["no", "yes"]},
    },
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 1},
    "ledger": {"dataset": "people", "cap": 9},
}


def as_csv(folder, name):
    arrow_csv.write_csv(pa.table(TEXTS), folder / "plain.csv")
    data = (folder / "plain.csv").read_bytes()
    path = folder / name
    path.write_bytes(pa.compress(data, "zstd", asbytes=True) if name.endswith("zst") else data)
    return path


def as_objects(folder, name):
    rows = pa.table(TEXTS).to_pylist()
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def as_sheet(folder, name):
    rows = [list(TEXTS), *zip(*TEXTS.values(), strict=True)]
    return write_sheet(folder / name, rows, others=["Notes"])


def as_labelled(folder, name):
    columns = {key: [float(x) for x in PEOPLE[key]] for key in ("age", "place")}
    return write_labelled(folder / name, {**columns, "ill": PEOPLE["ill"]}, labels={"place": CODES})


def as_database(folder, name):
    with closing(sqlite3.connect(folder / name)) as connection, connection:
        connection.execute('CREATE TABLE "our people" (age INTEGER, place TEXT, ill TEXT)')
        rows = zip(*TEXTS.values(), strict=True)
        connection.executemany('INSERT INTO "our people" VALUES (?, ?, ?)', rows)
    return f"sqlite:///{folder / name}"


KINDS = {
    "people.csv": (as_csv, {}),
    "people.csv.zst": (as_csv, {}),
    "people.jsonl": (as_objects, {}),
    "people.xlsx": (as_sheet, {"reading": {"sheet": "Data"}}),
    "people.sav": (as_labelled, {}),
    "people.dta": (as_labelled, {}),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    data = as_csv(tmp_path_factory.mktemp("plain"), "people.csv")
    return hedgerow.publish(PLAN, data=data, seed=5).digest


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_every_kind_of_file_gives_the_same_release(tmp_path, expected, name, engine):
    write, told = KINDS[name]
    data = write(tmp_path, name)
    release = hedgerow.publish({**PLAN, **told}, data=data, seed=5, engine=engine)
    assert release.digest == expected


def test_a_table_of_a_database_is_named_or_asked_for(tmp_path, expected):
    data = as_database(tmp_path, "people.db")
    for asked in ({"table": "our people"}, {"query": 'SELECT * FROM "our people"'}):
        assert hedgerow.publish(PLAN, data=data, seed=5, **asked).digest == expected
        assert hedgerow.publish({**PLAN, "data": data, **asked}, seed=5).digest == expected
    with pytest.raises(SettingError, match="both set"):
        hedgerow.publish(PLAN, data=data, query="SELECT 1", table="x")
    with pytest.raises(SettingError, match="Only a database can have a query"):
        hedgerow.publish(PLAN, data=tmp_path, table="x")
    with pytest.raises(DataError, match="SQLite refused"):
        hedgerow.publish(PLAN, data=data, table='x"; DROP TABLE "our people', seed=5)


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"data": "people.csv", "table": "people"}, "A table needs a database"),
        ({"data": "sqlite:///x.db"}, "the name of a table"),
        ({"data": "sqlite:///x.db", "table": "a", "query": "SELECT 1"}, "Keep one of the two"),
        ({"reading": {"format": "xml"}}, "format"),
        ({"reading": {"value-labels": "no"}}, "value-labels"),
    ],
)
def test_a_plan_that_names_its_data_wrongly_is_refused(told, match):
    with pytest.raises(PlanError, match=match):
        plan_of({**PLAN, **told})


def test_a_basket_file_has_no_sheet():
    plan = {"items": {"universe": ["a"]}, "data": "a.dat"}
    for key, value in (("sheet", "x"), ("format", "json-lines"), ("value-labels", "ignore")):
        with pytest.raises(PlanError, match="the data is a basket file"):
            plan_of({**plan, "reading": {key: value}})


@pytest.mark.parametrize("name", KINDS)
def test_a_draft_says_how_its_file_is_read_and_can_be_published(tmp_path, name):
    write, _ = KINDS[name]
    draft = draft_plan(write(tmp_path, name), class_name="ill", one_record_per_person=True)
    assert set(draft.plan.predictors) == {"age", "place"}
    assert draft.plan.reading is not None
    plan = draft.plan.model_copy(update={"confirmed": True, **unit_of(draft.plan)})
    assert hedgerow.publish(plan, seed=5).certificate is not None


def test_a_draft_of_a_database_names_its_table(tmp_path):
    data = as_database(tmp_path, "people.db")
    out = tmp_path / "plan.yaml"
    words = ["draft", data, "--table", "our people", "--class", "ill", "-o", str(out)]
    words.append("--one-record-per-person")
    result = CliRunner().invoke(make_app(), words)
    assert result.exit_code == 0, result.output
    text = out.read_text(encoding="utf-8")
    assert "table: our people" in text
    out.write_text(confirmed_text(text, hedgerow.load_plan(out)), encoding="utf-8")
    assert hedgerow.publish(out, seed=5).certificate is not None


@pytest.mark.parametrize("name", ["people.sav", "people.dta"])
def test_value_labels_are_drafted_as_a_public_domain(tmp_path, name):
    path = as_labelled(tmp_path, name)
    text = draft_plan(path, class_name="ill").text
    attributes = text[text.index("attributes:") :]
    line = "place: {values: [ward, home, street]}  # public: the value labels of the file\n"
    assert line in attributes
    draft = draft_plan(path, class_name="place")
    assert draft.plan.attributes["place"].values == ("ward", "home", "street")


def test_labels_for_the_ends_of_a_scale_leave_it_a_number(tmp_path):
    columns = {"mood": [float(i % 11) for i in range(N)], "ill": PEOPLE["ill"]}
    path = write_labelled(
        tmp_path / "t.sav", columns, labels={"mood": {0: "bad", 10: "good", 99: "refused"}}
    )
    assert draft_plan(path, class_name="ill").plan.attributes["mood"].numeric == (0, 10)


def test_a_value_without_a_label_goes_to_other(tmp_path):
    columns = {"place": [float(i % 30 and 1 + i % 2) for i in range(N)], "ill": PEOPLE["ill"]}
    path = write_labelled(tmp_path / "t.sav", columns, labels={"place": {1: "ward", 2: "other"}})
    attribute = draft_plan(path, class_name="ill").plan.attributes["place"]
    assert attribute.values == ("ward", "other")
    assert attribute.other == "other values"


def test_a_draft_notes_what_it_leaves_out(tmp_path):
    draft = draft_plan(as_sheet(tmp_path, "people.xlsx"), class_name="ill")
    assert any("several sheets" in note for note in draft.notes)
    rows = [{**row, "tags": ["a"]} for row in pa.table(TEXTS).to_pylist()]
    path = tmp_path / "nested.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    draft = draft_plan(path, class_name="ill")
    assert "tags" not in draft.plan.attributes
    assert any("lists or objects" in note for note in draft.notes)
