"""``hedgerow ledger`` shows and keeps what is in the file, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hedgerow.cli.ledger import app
from hedgerow.errors import LedgerError, ReleaseError, SettingError
from hedgerow.ledger.covers import Cover
from hedgerow.ledger.ledger import Ledger, ReleaseTerms

SOURCES = Path(__file__).parents[2] / "src"


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """A ledger with one release, one failure and one booking, named by the environment."""
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("COLUMNS", "120")
    ledger = Ledger()
    entries = [
        ledger.book("adult-2026", epsilon, cap=4, method="diffgen", plan_digest="p1")
        for epsilon in ("1/2", "1/3", "1")
    ]
    ledger.released(entries[0].id, "r1")
    ledger.failed(entries[1].id, "the disk was full")
    return ledger


def call(*arguments):
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_show_lists_every_data_set_with_its_sums(ledger):
    ledger.open_dataset("voters", 2)
    shown = call("show")
    (adult,) = [line.split() for line in shown.splitlines() if "adult-2026" in line]
    assert adult[:3] == ["adult-2026", "4", "11/6"]
    assert adult[-3:] == ["1", "1", "1"]  # released, booked, failed
    assert "voters" in shown
    assert str(ledger.path) in shown.replace("\n", "")


def test_show_of_one_data_set_lists_its_entries(ledger):
    shown = call("show", "adult-2026")
    for word in ("1/2 (0.5)", "1/3 (about 0.3333)", "released", "failed", "the disk was full"):
        assert word in shown
    assert "adult-2026: cap 4, spent 11/6 (about 1.833), left 13/6 (about 2.167)" in shown
    assert "cap 4" not in call("show", "adult-2026", "--quiet")


def test_show_fits_a_terminal_with_tables_and_covers(ledger, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    cover = Cover(column="month", key="k", codes=((0, 1),), values="2026-11 to 2027-01")
    for file in ("visits-of-the-hospital.csv", "patients.csv"):
        terms = ReleaseTerms(neighbours="person", people=True, cover=cover, table=file)
        told = {"cap": 4, "method": "diffmulti", "plan_digest": "p1", "terms": terms}
        entry = ledger.book("hospital", "1/3", **told)
        ledger.released(entry.id, "r1")
    lines = call("show", "hospital").splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("1/3 (about 0.3333)  released  diffmulti" in line for line in lines) == 2
    (first,) = (line for line in lines if "visits-of-the-hospital.csv" in line)
    assert "month: 2026-11 to 2027-01 (adds up)" in first


def test_show_for_machines_gives_exact_fractions(ledger):
    one = json.loads(call("show", "adult-2026", "--json"))
    assert (one["cap"], one["spent"], one["left"]) == ("4", "11/6", "13/6")
    assert [entry["state"] for entry in one["entries"]] == ["released", "failed", "booked"]
    assert json.loads(call("show", "--json")) == {"datasets": [one]}


def test_an_empty_ledger_says_so(tmp_path):
    Ledger(tmp_path / "new.sqlite")
    assert "no data set yet" in call("show", "--ledger", str(tmp_path / "new.sqlite"))
    assert not call("show", "--ledger", str(tmp_path / "new.sqlite"), "--quiet")


def test_cap_changes_the_cap_and_keeps_the_reason(ledger):
    said = call("cap", "adult-2026", "9/2", "--reason", "agreed by the board")
    assert said == "adult-2026: cap 9/2 (4.5), spent 11/6 (about 1.833), left 8/3 (about 2.667)\n"
    assert ledger.account("adult-2026").cap == Fraction(9, 2)
    assert "agreed by the board" in json.dumps(ledger.export())


def test_cap_adds_a_data_set_only_when_asked_to(ledger):
    with pytest.raises(LedgerError, match="--new"):
        call("cap", "adlut", "4", "--reason", "typo")
    result = json.loads(call("cap", "voters", "4", "--new", "--reason", "agreed", "--json"))
    epsilons = {"dataset": "voters", "cap": "4", "spent": "0", "left": "4"}
    deltas = {"delta-cap": "0", "delta-spent": "0", "delta-left": "0"}
    unit = {"neighbours": None, "protects": None, "people": False}
    assert result == {**epsilons, **deltas, **unit}


def test_cap_can_start_a_ledger(tmp_path):
    path = tmp_path / "folder" / "first.sqlite"
    assert not call("cap", "a", "1", "--new", "--reason", "b", "--ledger", str(path), "--quiet")
    assert Ledger(path).account("a").cap == 1


def test_cap_and_spend_ask_for_their_reason(ledger):
    for command in ("cap", "spend"):
        assert CliRunner().invoke(app, [command, "adult-2026", "1"]).exit_code == 2
    assert ledger.spent("adult-2026") == Fraction(11, 6)


def test_spend_books_what_happened_elsewhere_and_warns_when_that_is_over_the_cap(ledger):
    result = json.loads(call("spend", "adult-2026", "1/2", "--note", "a talk", "--json"))
    assert (result["spent"], result["entry"]["note"]) == ("7/3", "a talk")
    assert "nothing more can be published" in call("spend", "adult-2026", "3", "--note", "x")
    assert ledger.left("adult-2026") == 0


def test_spend_refuses_nonsense(ledger):
    with pytest.raises(SettingError):
        call("spend", "adult-2026", "nan", "--note", "x")
    with pytest.raises(LedgerError):
        call("spend", "nobody", "1", "--note", "x")
    assert ledger.spent("adult-2026") == Fraction(11, 6)


def test_export_writes_the_same_to_a_file_as_to_the_screen(ledger, tmp_path):
    target = tmp_path / "ledger.json"
    assert str(target) in call("export", "-o", str(target)).replace("\n", "")
    assert target.read_text(encoding="utf-8") == call("export")
    assert json.loads(call("export")) == ledger.export()
    assert json.loads(call("export", "-o", str(target), "--json")) == {
        "file": str(target),
        "events": 6,
    }


def test_export_to_a_place_that_cannot_be_written_is_one_message(ledger, tmp_path):
    with pytest.raises(ReleaseError, match="cannot be written"):
        call("export", "-o", str(tmp_path / "missing" / "ledger.json"))


def test_verify_gives_the_digest_of_a_whole_ledger(ledger):
    n_events, digest = ledger.verify()
    assert f"{n_events} events, last digest {digest}" in call("verify")
    assert json.loads(call("verify", "--json")) == {
        "whole": True,
        "events": 6,
        "digest": digest,
        "notes": [],
    }
    assert not call("verify", "--quiet")


def test_verify_refuses_a_ledger_that_was_cut_off(ledger):
    ledger.path.write_bytes(ledger.path.read_bytes()[:5000])
    with pytest.raises(LedgerError):
        call("verify")


@pytest.mark.parametrize("command", ["show", "verify", "export"])
def test_looking_makes_no_ledger(command, tmp_path):
    with pytest.raises(LedgerError, match="The ledger does not exist"):
        call(command, "--ledger", str(tmp_path / "none.sqlite"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "cap", "spend", "export", "verify"])
def test_help_has_an_example(command):
    assert f"Example: hedgerow ledger {command}" in call(command, "--help")


def test_the_command_imports_nothing_heavy():
    script = (
        "import sys; import hedgerow.cli.ledger, hedgerow.ledger.ledger;"
        "heavy = {'numba', 'polars', 'pyarrow', 'narwhals', 'matplotlib', 'sklearn'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
