"""Releases side by side: what may be compared with what, and what is shown of it."""

from __future__ import annotations

import json
import stat

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.comparison.compare import COLUMNS
from hedgerow.errors import PlanError, RefusedError, ReleaseError, SettingError
from hedgerow.evaluation.run import evaluate
from hedgerow.model.sealed import sealed, unsealed
from hedgerow.plan.load import dump_plan, plan_of

PLAN = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "ward": {"values": ["A", "B", "C"]},
        "sick": {"role": "class", "values": ["no", "yes"]},
    },
    "records": 300,
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "hedge", "epsilon": 1},
}


def table(n=300, seed=5):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    ward = rng.choice(["A", "B", "C"], n)
    return pl.DataFrame(
        {"age": age, "ward": ward, "sick": np.where(rng.random(n) < age / 100, "yes", "no")}
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    plan = {**PLAN, "ledger": {"dataset": "d", "cap": 9, "file": str(folder / "ledger.sqlite")}}
    table().write_csv(folder / "data.csv")
    for method in ("hedge", "rps"):
        given = {**plan, "publish": {"method": method, "epsilon": 1}}
        hedgerow.publish(given, data=folder / "data.csv", out=folder / method)
        (folder / f"{method}.yaml").write_text(dump_plan(plan_of(given)))
    hedgerow.publish(plan, data=folder / "data.csv", out=folder / "seeded", seed=1)
    anonymous = {**plan, "publish": {"method": "mondrian", "k": 5}}
    hedgerow.publish(anonymous, data=folder / "data.csv", out=folder / "mondrian")
    return folder


def test_booked_releases_are_compared_as_evaluate_measures_them(made):
    names = [made / "hedge", made / "rps", made / "mondrian"]
    told = hedgerow.compare(names, data=made / "data.csv", ledger=made / "ledger.sqlite")
    assert told.on == "confidential"
    assert [row.method for row in told.rows] == ["hedge", "rps", "mondrian"]
    facts = evaluate(made / "hedge", made / "data.csv").facts
    first = told.rows[0]
    ranges = next(each for each in facts["counting"]["ranges"] if each["attributes"] == 2)
    assert first.count_error == ranges["median"]
    neutral = facts["fidelity"]
    assert first.one_way_neutral == neutral["1-way"]["mean"]
    assert [first.worst_column] == neutral["1-way"]["worst"]["attributes"]
    assert first.worst_error == max(each["error"] for each in neutral["columns"])
    assert first.two_way_neutral == neutral["2-way"]["mean"]
    assert len(told.cells()[0]) == len(COLUMNS)
    assert first.learnt["tree"] == facts["classification"]["release"]["boxes"]["tree"]
    assert first.risk is None
    assert 0 < told.rows[2].risk <= 1 / 5 + 1e-9
    assert "Not private" in told.audience


def test_a_plan_names_the_ledger_too(made):
    told = hedgerow.compare(
        [made / "hedge"], data=made / "data.csv", plan=made / "hedge.yaml", out=made / "named"
    )
    assert len(told.rows) == 1


@pytest.mark.parametrize("ledger", ["ledger.sqlite", "other.sqlite"])
def test_what_no_ledger_has_is_refused_before_the_data_is_read(made, ledger):
    release = made / ("seeded" if ledger == "ledger.sqlite" else "hedge")
    with pytest.raises(RefusedError, match="not on the ledger"):
        hedgerow.compare([release], data=made / "nowhere.csv", ledger=made / ledger)


def test_a_release_that_was_changed_is_not_the_one_on_the_ledger(made, tmp_path):
    import shutil

    shutil.copytree(made / "hedge", tmp_path / "copy")
    file = tmp_path / "copy" / "certificate.json"
    whole = file.read_text(encoding="utf-8")
    given = {"data": made / "data.csv", "ledger": made / "ledger.sqlite"}
    file.write_text(whole + "\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match="was modified after it was written"):
        hedgerow.compare([tmp_path / "copy"], **given)
    facts = unsealed(whole)
    facts["created"] = "2020-01-01"
    file.write_text(sealed(facts), encoding="utf-8")
    with pytest.raises(RefusedError, match="not on the ledger"):
        hedgerow.compare([tmp_path / "copy"], **given)


def test_plans_are_not_run_on_confidential_data(made):
    for given in ({"data": made / "data.csv"}, {}):
        with pytest.raises(RefusedError) as told:
            hedgerow.compare([made / "hedge.yaml"], **given)
        assert told.value.exit_code == 3
        assert "--simulate" in told.value.do


def test_plans_run_on_a_table_made_from_their_domains(made):
    plans = [made / "hedge.yaml", made / "rps.yaml"]
    told = hedgerow.compare(plans, simulate=True)
    assert (told.on, told.n_records) == ("simulated", 300)
    assert "no record was read" in told.audience
    assert hedgerow.compare(plans, simulate=True).as_dict() == told.as_dict()
    assert hedgerow.compare(plans[:1], simulate=True, records=100).n_records == 100


def test_plans_run_on_a_file_that_is_declared_public_and_book_nothing(made):
    from hedgerow.ledger.ledger import Ledger

    before = Ledger(made / "ledger.sqlite").spent("d")
    told = hedgerow.compare([made / "rps.yaml"], public=table(300, seed=8), test=table(200, seed=9))
    assert told.on == "public"
    assert told.rows[0].floor is not None
    assert Ledger(made / "ledger.sqlite").spent("d") == before


def test_plans_of_other_domains_and_further_mistakes_are_refused(made):
    other = {**PLAN, "attributes": {**PLAN["attributes"], "age": {"numeric": [0, 50]}}}
    with pytest.raises(PlanError, match="other columns or domains"):
        hedgerow.compare([PLAN, other], simulate=True)
    unsized = {key: value for key, value in PLAN.items() if key != "records"}
    with pytest.raises(SettingError, match="number of records"):
        hedgerow.compare([unsized], simulate=True)
    with pytest.raises(SettingError, match="More than one kind"):
        hedgerow.compare([PLAN], simulate=True, public=table())
    with pytest.raises(SettingError, match="other data"):
        hedgerow.compare([made / "hedge"], simulate=True)
    with pytest.raises(SettingError, match="only for a simulated table"):
        hedgerow.compare([PLAN], public=table(), records=5)


def test_the_page_and_the_figures_are_for_the_owner_alone(made):
    out = made / "out"
    arguments = [
        "compare",
        str(made / "hedge"),
        str(made / "rps"),
        "--data",
        str(made / "data.csv"),
        "--ledger",
        str(made / "ledger.sqlite"),
        "-o",
        str(out),
    ]
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert [row["method"] for row in told["releases"]] == ["hedge", "rps"]
    for name in ("comparison.html", "comparison.json"):
        assert stat.S_IMODE((out / name).stat().st_mode) == 0o600
    page = (out / "comparison.html").read_text()
    assert "For the data owner" in page
    assert page.count("<svg") >= 2
    assert "bounded by ε" in page
    with pytest.raises(ReleaseError, match="already holds a comparison"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
    shown = CliRunner().invoke(app, [*arguments, "--force"], catch_exceptions=False).stdout
    assert "2-way" in shown
    assert "Not private" in " ".join(shown.split())


def test_nothing_is_written_into_a_release(made):
    with pytest.raises(ReleaseError, match="release"):
        hedgerow.compare(
            [made / "hedge"],
            data=made / "data.csv",
            ledger=made / "ledger.sqlite",
            out=made / "hedge" / "inside",
        )


def test_tables_of_two_columns_are_those_of_the_records_and_of_the_releases(made):
    told = hedgerow.compare(
        [made / "hedge", made / "rps"],
        data=made / "data.csv",
        ledger=made / "ledger.sqlite",
        out=made / "paired",
        pairs=True,
    )
    facts = json.loads((made / "paired" / "pairs.json").read_text())
    assert facts["for"] == told.audience
    assert [column["name"] for column in facts["columns"]] == ["age", "ward", "sick"]
    assert len(facts["columns"][0]["cells"]) <= 12
    pair = next(each for each in facts["pairs"] if each["columns"] == [1, 2])
    records = table()
    for ward, row in zip("ABC", pair["records"], strict=True):
        for sick, share in zip(("no", "yes"), row, strict=True):
            cell = (pl.col("ward") == ward) & (pl.col("sick") == sick)
            assert share == pytest.approx(len(records.filter(cell)) / 300, abs=1e-6)
    assert pair["records"] != pair["releases"][str(made / "hedge")]["shares"]
    for release in pair["releases"].values():
        shares = np.array(release["shares"])
        assert shares.sum() == pytest.approx(1, abs=1e-4)
        half = np.abs(shares - np.array(pair["records"])).sum() / 2
        assert release["error"] == pytest.approx(half, abs=1e-4)
    assert stat.S_IMODE((made / "paired" / "pairs.json").stat().st_mode) == 0o600


def test_tables_of_an_earlier_comparison_do_not_stay(made):
    place = made / "again"
    known = {"data": made / "data.csv", "ledger": made / "ledger.sqlite", "out": place}
    hedgerow.compare([made / "rps"], **known, pairs=True)
    hedgerow.compare([made / "rps"], **known, force=True)
    assert not (place / "pairs.json").exists()
