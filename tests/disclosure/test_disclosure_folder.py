"""The folder of a disclosure: what others may see, what only the owner may, and stopped runs."""

from __future__ import annotations

import json
import re
import stat

import jsonschema
import polars as pl
import pytest

from hedgerow.disclosure import disclose as running
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.unfinished import Unfinished
from hedgerow.errors import ReleaseError, SettingError
from hedgerow.model.certificate import Certificate, certificate_schema
from support.disclosure_tables import METHODS, OWN, patients, plan


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("disclosure") / "disclosed"
    disclose(plan(**METHODS["aruba"]), data=patients(), out=out)
    return out


def test_the_folder_holds_what_is_for_others_and_what_is_for_the_owner(folder):
    assert sorted(contents(folder)) == [
        "certificate.json",
        "datapackage.json",
        "dictionary.csv",
        "disclosed.csv",
        "owner/report.html",
        "owner/risk.csv",
        "report.html",
    ]
    assert mode(folder / "owner") == 0o700
    assert mode(folder / "owner" / "risk.csv") == 0o600
    assert mode(folder / "owner" / "report.html") == 0o600
    assert mode(folder / "disclosed.csv") == 0o644
    assert not list(folder.parent.glob(".*"))


def test_records_are_in_the_order_of_the_data_and_without_identifiers(folder):
    shown = pl.read_csv(folder / "disclosed.csv")
    assert shown.columns == ["age", "ward", "sex", "sick"]
    assert shown["sick"].to_list() == patients()["sick"].to_pylist()
    for name, content in contents(folder).items():
        assert b"SECRET" not in content, name


def test_the_certificate_says_what_it_is_not(folder):
    certificate = Certificate.from_json((folder / "certificate.json").read_text())
    assert certificate.guarantee.kind == "none"
    assert not certificate.guarantee.private
    assert certificate.guarantee.epsilon is None
    statement = certificate.guarantee.statement
    assert statement.startswith("Not differentially private.")
    assert "lowest risk whose utility is at least 50% of its own" in statement
    assert "all records of the table itself" in statement
    assert "sick is disclosed unchanged" in statement
    assert certificate.data.noisy_total is None
    jsonschema.validate(json.loads(certificate.to_json()), certificate_schema())
    assert set(certificate.files) == {
        "datapackage.json",
        "dictionary.csv",
        "disclosed.csv",
        "report.html",
    }


def test_the_public_report_tells_no_risk(folder):
    page = (folder / "report.html").read_text()
    risks = pl.read_csv(folder / "owner" / "risk.csv")
    assert "Not differentially private" in page
    for column in ("risk_before", "risk_after"):
        figures = {f"{value:.4g}" for value in (risks[column].mean(), *risks[column])}
        for figure in figures:
            assert len(figure) < 6 or figure not in page
    assert any(len(f"{value:.4g}") >= 6 for value in risks["risk_after"])
    assert "nodes visited" not in page
    assert "http:" not in page


def test_the_public_report_is_made_from_the_disclosed_table(folder):
    page = (folder / "report.html").read_text()
    shown = pl.read_csv(folder / "disclosed.csv")
    n_exact = int((shown["sex"] != "*").sum())
    article = page.split("<h3>sex</h3>")[1].split("</article>")[0]
    counts = [int(n) for n in re.findall(r'class="number">(\d+)<', article)]
    assert counts == [n_exact, len(shown) - n_exact]


def test_the_owners_page_says_whom_it_is_for_and_shows_the_plane(folder):
    page = (folder / "owner" / "report.html").read_text()
    assert "For the data owner only" in page
    assert '<path class="frontier"' in page
    assert "2-anonymous table" in page
    assert "Histogram of risks" in page
    assert "http:" not in page


def test_the_owners_risks_are_one_row_per_record(folder):
    risks = pl.read_csv(folder / "owner" / "risk.csv")
    assert risks.columns == [
        "record",
        "risk_before",
        "risk_after",
        "utility_before",
        "utility_after",
        "nodes_visited",
    ]
    assert risks["record"].to_list() == list(range(1, 151))
    assert (risks["risk_after"] <= risks["risk_before"]).all()
    assert (risks["utility_after"] >= risks["utility_before"] / 2).all()
    assert (risks["nodes_visited"] > 0).all()


class StopError(Exception):
    """Stands for whatever may stop a run."""


def stopping(monkeypatch, after):
    """Make runs stop when that many blocks are kept."""
    kept = Unfinished.append
    n_blocks = 0

    def append(self, found):
        nonlocal n_blocks
        if n_blocks == after:
            raise StopError
        kept(self, found)
        n_blocks += 1

    monkeypatch.setattr(Unfinished, "append", append)


@pytest.mark.parametrize("name", ["aruba", "btda", "aggregate", "faithful"])
def test_a_stopped_run_goes_on_and_ends_with_the_same_bytes(name, tmp_path, monkeypatch):
    section, seed = METHODS.get(name), None
    if section is None:
        risk = {"at-most": 0.3}
        section = {"method": "approx", "faithful": True, "risk": risk, "excess": 40, "width": 1}
        seed = 7
    n = 14 if seed else 40
    monkeypatch.setattr(running, "FIRST_BLOCK", 4)
    monkeypatch.setattr(running, "SECONDS_PER_BLOCK", 0.0)  # blocks do not grow
    disclose(plan(**section), data=patients(n), out=tmp_path / "whole", seed=seed)
    with monkeypatch.context() as patch:
        stopping(patch, after=2)
        with pytest.raises(StopError):
            disclose(plan(**section), data=patients(n), out=tmp_path / "stopped", seed=seed)
    assert not (tmp_path / "stopped").exists()
    (hidden,) = tmp_path.glob(".stopped.unfinished-*")
    assert mode(hidden) == 0o700
    assert all(mode(path) == 0o600 for path in hidden.iterdir())
    assert json.loads((hidden / "state.json").read_text())["done"] > 0
    with (hidden / "answers.bin").open("ab") as file:
        file.write(b"half a block that was never counted")
    told = []
    disclose(
        plan(**section),
        data=patients(n),
        out=tmp_path / "stopped",
        seed=seed,
        progress=lambda step, fraction: told.append((step, fraction)),
    )
    first = next(fraction for step, fraction in told if step.startswith("solving"))
    assert first > 0
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
    assert not list(tmp_path.glob(".*"))


def stopped_run(tmp_path, monkeypatch, section, table):
    monkeypatch.setattr(running, "FIRST_BLOCK", 8)
    with monkeypatch.context() as patch:
        stopping(patch, after=1)
        with pytest.raises(StopError):
            disclose(plan(**section), data=table, out=tmp_path / "out")


def first_share(tmp_path, section, table, **options):
    told = []
    disclose(
        plan(**section),
        data=table,
        out=tmp_path / "out",
        progress=lambda step, fraction: told.append((step, fraction)),
        **options,
    )
    return next(fraction for step, fraction in told if step.startswith("solving"))


def test_a_stopped_run_is_taken_up_or_begun_again_as_asked(tmp_path, monkeypatch):
    section = METHODS["aruba"]
    stopped_run(tmp_path, monkeypatch, section, patients())
    assert first_share(tmp_path, section, patients(), resume=False) == 0
    stopped = tmp_path / "other"
    stopped.mkdir()
    stopped_run(stopped, monkeypatch, section, patients())
    assert first_share(stopped, section, patients()) > 0


def test_answers_about_other_data_are_never_taken_up(tmp_path, monkeypatch):
    section = METHODS["aruba"]
    stopped_run(tmp_path, monkeypatch, section, patients(150, seed=5))
    assert first_share(tmp_path, section, patients(150, seed=6)) == 0


def test_answers_of_other_weights_are_never_taken_up(tmp_path, monkeypatch):
    table = patients()
    stopped_run(tmp_path, monkeypatch, {"risk": OWN}, table)
    heavier = table.set_column(5, "w_ward", [[9.0] * len(table)])
    assert first_share(tmp_path, {"risk": OWN}, heavier) == 0


def test_damaged_answers_are_begun_again(tmp_path, monkeypatch):
    section = METHODS["aruba"]
    stopped_run(tmp_path, monkeypatch, section, patients())
    (hidden,) = tmp_path.glob(".out.unfinished-*")
    (hidden / "answers.bin").write_bytes(b"short")
    assert first_share(tmp_path, section, patients()) == 0


def test_two_runs_to_one_place_do_not_mix(tmp_path, monkeypatch):
    def other_run(self, found):
        with pytest.raises(ReleaseError, match="is using it"):
            disclose(plan(), data=patients(), out=tmp_path / "out")
        raise StopError

    with monkeypatch.context() as patch:
        patch.setattr(Unfinished, "append", other_run)
        with pytest.raises(StopError):
            disclose(plan(), data=patients(), out=tmp_path / "out")
    assert disclose(plan(), data=patients(), out=tmp_path / "out").n_rows == 150


def test_a_link_in_place_of_the_hidden_folder_is_not_followed(tmp_path, monkeypatch):
    stopped_run(tmp_path, monkeypatch, {}, patients())
    (hidden,) = tmp_path.glob(".out.unfinished-*")
    hidden.rename(tmp_path / "elsewhere")
    hidden.symlink_to(tmp_path / "elsewhere")
    assert first_share(tmp_path, {}, patients()) == 0
    assert (tmp_path / "elsewhere" / "state.json").exists()
    assert not hidden.is_symlink()


def test_the_hidden_folder_is_named_by_the_plan_and_not_by_the_data(tmp_path, monkeypatch):
    names = set()
    for seed in (5, 6):
        place = tmp_path / str(seed)
        place.mkdir()
        stopped_run(place, monkeypatch, {}, patients(150, seed=seed))
        (hidden,) = place.glob(".*")
        names.add(hidden.name)
    assert len(names) == 1


def test_settings_that_cannot_work_leave_nothing_behind(tmp_path):
    section = {"method": "approx", "faithful": True, "risk": {"at-most": 50}}
    with pytest.raises(SettingError, match="Theorem 2"):
        disclose(plan(**section), data=patients(10), out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_occupied_folder_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="not empty"):
        disclose(plan(), data="nowhere.csv", out=tmp_path)


def test_an_earlier_disclosure_is_replaced_by_force_only(folder, tmp_path):
    out = tmp_path / "out"
    disclose(plan(), data=patients(20), out=out)
    with pytest.raises(ReleaseError, match="not empty"):
        disclose(plan(), data=patients(30), out=out)
    disclose(plan(), data=patients(30), out=out, force=True)
    assert len(pl.read_csv(out / "disclosed.csv")) == 30
    assert mode(out / "owner" / "risk.csv") == 0o600
