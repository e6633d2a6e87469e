"""The data dictionary and the data package say what every file of a release holds."""

from __future__ import annotations

import csv
import json
import re
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow
from hedgerow.release.release import Release
from support.certificates import resealed
from support.disclosure_tables import METHODS as DISCLOSURES
from support.disclosure_tables import patients
from support.disclosure_tables import plan as disclosure_plan
from support.engine_plans import basket_plan, table_plan, write_baskets, write_table

TYPES = {"string": str, "integer": int, "number": float, "date": lambda text: text}
FIELD_KEYS = {"name", "type", "description", "constraints", "unit"}


def checked_package(folder: Path) -> dict[str, dict]:
    """Hold a data package to the rules of Data Package 2.0, and its CSV files to their schemas."""
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    assert package["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    assert re.fullmatch(r"[a-z0-9._-]+", package["name"])
    resources = package["resources"]
    assert resources
    names = [each["name"] for each in resources]
    assert len(set(names)) == len(names)
    for each in resources:
        assert re.fullmatch(r"[a-z0-9._-]+", each["name"])
        path = each["path"]
        assert not path.startswith(("/", "."))
        assert ".." not in path
        assert (folder / path).is_file()
        if path.endswith(".csv"):
            assert each["type"] == "table"
            check_table(folder / path, each["schema"])
    return {each["path"]: each for each in resources}


def check_table(path: Path, schema: dict) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    fields = schema["fields"]
    assert header == [field["name"] for field in fields]
    assert len(set(header)) == len(header)
    for at, field in enumerate(fields):
        assert set(field) <= FIELD_KEYS
        assert field["description"]
        check_cells([row[at] for row in rows], field)


def check_cells(cells: list[str], field: dict) -> None:
    rules = field.get("constraints", {})
    assert set(rules) <= {"required", "enum", "minimum", "maximum"}
    for cell in set(cells):
        if cell == "":
            assert not rules.get("required"), field["name"]
            continue
        value = TYPES[field["type"]](cell)
        assert value in rules.get("enum", [value])
        assert value >= rules.get("minimum", value)
        assert value <= rules.get("maximum", value)


def dictionary_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "dictionary.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("method", ["hedge", "weave", "diffgen", "privbayes", "mondrian"])
def test_every_column_of_a_table_release_is_described_and_fits(method, tmp_path):
    settings = {"diffgen": {"h": 3}, "mondrian": {"k": 5}}.get(method, {})
    plan = table_plan((method, settings))
    plan["missing"] = "value"
    data = write_table(tmp_path / "table.csv")
    out = tmp_path / "release"
    hedgerow.publish(
        plan, data=data, out=hedgerow.Output(folder=out, records=True, parquet=True), seed=3
    )
    files = checked_package(out)
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert there - set(files) == {"certificate.json", "datapackage.json", "report.html"}
    lines = dictionary_of(out)
    for path in there:
        if path.endswith(".csv") and path != "dictionary.csv":
            with (out / path).open(encoding="utf-8", newline="") as file:
                header = next(csv.reader(file))
            assert [x["column"] for x in lines if x["file"] == path and x["type"]] == header


def test_a_count_a_label_and_a_range_are_explained_with_units(release, tmp_path):
    attributes = release.certificate.data.attributes
    age = attributes[0].model_copy(update={"unit": "years", "meaning": "age at admission"})
    data = release.certificate.data.model_copy(update={"attributes": (age, *attributes[1:])})
    certificate = release.certificate.model_copy(update={"data": data})
    told = Release(schema=release.schema, groups=release.groups, certificate=certificate)
    told.write(tmp_path / "release")
    lines = {(x["column"], x["label"]): x for x in dictionary_of(tmp_path / "release")}
    assert lines["age", ""]["unit"] == "years"
    assert (lines["age", ""]["low"], lines["age", ""]["high"]) == ("-5", "90")
    assert lines["age", ""]["meaning"].startswith("age at admission; a range of numbers: [a, b)")
    assert lines["job", "'=Outdoor"]["meaning"] == "3 values"
    assert "within 6 either way in 95 of 100 cases" in lines["count", ""]["meaning"]
    field = checked_package(tmp_path / "release")["release.csv"]["schema"]["fields"][0]
    assert field["unit"] == "years"


def test_baskets_and_disclosures_have_them_too(tmp_path):
    data = write_baskets(tmp_path / "sets.dat")
    hedgerow.publish(basket_plan(("diffpart", {})), data=data, out=tmp_path / "b", seed=1)
    assert {"release.csv", "release.dat", "universe.json"} <= set(checked_package(tmp_path / "b"))
    settings = DISCLOSURES["aruba"]
    hedgerow.disclose(disclosure_plan(**settings), data=patients(), out=tmp_path / "d")
    files = checked_package(tmp_path / "d")
    assert set(files) == {"disclosed.csv", "dictionary.csv"}
    assert "owner" not in (tmp_path / "d" / "datapackage.json").read_text(encoding="utf-8")


def test_the_certificate_vouches_for_both_and_old_releases_open_without(release, tmp_path):
    folder = tmp_path / "release"
    release.write(folder)
    facts = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    assert {"dictionary.csv", "datapackage.json"} <= set(facts["files"])
    for name in ("dictionary.csv", "datapackage.json"):
        del facts["files"][name]
        (folder / name).unlink()
    del facts["approved"]
    for attribute in facts["data"]["attributes"]:
        del attribute["unit"], attribute["meaning"]
    (folder / "certificate.json").write_text(resealed(facts), encoding="utf-8")
    assert Release.load(folder).certificate.approved is None


def test_a_column_of_very_many_labels_is_cut_short_and_says_so(tmp_path):
    names = [f"v{at}" for at in range(700)]
    plan = {
        "attributes": {"code": {"values": names, "unit": "code", "meaning": "a code"}},
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "basic-table", "epsilon": 8},
    }
    rows = pa.table({"code": names * 3})
    out = tmp_path / "release"
    hedgerow.publish(plan, data=rows, out=out, seed=1)
    assert "and 200 more labels, not listed here" in (out / "dictionary.csv").read_text()
    field = checked_package(out)["release.csv"]["schema"]["fields"][0]
    assert "enum" not in field["constraints"]
    assert field["description"].startswith("a code; ")


def test_parquet_and_csv_of_a_release_have_the_same_columns(release, tmp_path):
    release.write(tmp_path / "release", parquet=True)
    fields = checked_package(tmp_path / "release")["release.csv"]["schema"]["fields"]
    assert pq.read_schema(tmp_path / "release" / "release.parquet").names == [
        field["name"] for field in fields
    ]


def test_bounds_of_a_grid_of_fractions_are_numbers(tmp_path):
    plan = {
        "attributes": {"x": {"numeric": [0, 1], "step": "1/3"}},
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "basic-table", "epsilon": 8},
    }
    out = tmp_path / "release"
    hedgerow.publish(
        plan,
        data=pa.table({"x": [0.1, 0.5] * 50}),
        out=hedgerow.Output(folder=out, records=True),
        seed=1,
    )
    field = checked_package(out)["records.csv"]["schema"]["fields"][0]
    assert field["type"] == "number"
    assert Fraction(field["constraints"]["maximum"]) == 1


def test_dates_are_dates_with_their_bounds(tmp_path):
    plan = {
        "attributes": {"seen": {"date": {"from": "2020-01-01", "to": "2020-12-31", "step": "day"}}},
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "basic-table", "epsilon": 8},
    }
    days = pa.table({"seen": ["2020-02-29", "2020-07-01"] * 50})
    out = tmp_path / "release"
    hedgerow.publish(plan, data=days, out=hedgerow.Output(folder=out, records=True), seed=1)
    field = checked_package(out)["records.csv"]["schema"]["fields"][0]
    assert field["type"] == "date"
    bounds = {"minimum": "2020-01-01", "maximum": "2020-12-31"}
    assert field["constraints"] == {"required": True, **bounds}
    assert "a range of dates" in (out / "dictionary.csv").read_text(encoding="utf-8")
