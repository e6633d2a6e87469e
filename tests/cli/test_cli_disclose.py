"""`hedgerow disclose` on the command line: what it says, and every way it can go wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from hedgerow.cli.main import main
from hedgerow.disclosure.unfinished import Unfinished

SECRET = "SECRET77"
"""A value that stands in the confidential data and must never be shown."""

PLAN = """\
data: data.csv
attributes:
  age: {numeric: [0, 99]}
  ward: {taxonomy: ward.csv}
  name: {role: identifier}
  sick: {role: class, values: ["no", "yes"]}
confirmed: true
disclose: {utility: {at-least: half}, risk: {model: 1, weights: weights.csv}, against: crowd.csv}
"""
WARD = "A;surgery;*\nB;surgery;*\nC;other;*\n"
DATA = "age,ward,name,sick\n" + "34,A,Ada,no\n61,B,Bo,yes\n47,C,Cy,no\n" * 10
CROWD = "age,ward\n" + "34,A\n61,B\n47,C\n12,A\n" * 20
WEIGHTS = "ward,age\n" + "1,0.5\n0.2,1\n" * 15

Change = Callable[[Path], None]


def content(name: str, text: str | bytes) -> Change:
    def change(folder: Path) -> None:
        given = text.encode() if isinstance(text, str) else text
        (folder / name).write_bytes(given)

    return change


def plan(old: str, new: str) -> Change:
    assert old in PLAN
    return content("plan.yaml", PLAN.replace(old, new))


def gone(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def nothing(folder: Path) -> None:
    pass


def occupied(folder: Path) -> None:
    (folder / "disclosed").mkdir()
    (folder / "disclosed" / "thesis.txt").write_text("mine", encoding="utf-8")


def linked(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "disclosed").symlink_to(folder / "elsewhere")


CASES: dict[str, tuple[Change, list[str], int, str]] = {
    # --- the plan
    "no disclose section": (plan("disclose:", "# disclose:"), [], 2, "disclose"),
    "an unknown method": (nothing, ["--method", "arba"], 2, "aruba"),
    "an unknown measure": (nothing, ["--measure", "deep"], 2, "depth"),
    "an unknown model": (nothing, ["--model", "4"], 2, "1, 2, 3"),
    "a model in words": (nothing, ["--model", "one"], 2, "model"),
    "a utility in words": (nothing, ["--at-least", "much"], 2, "60%"),
    "a negative utility": (nothing, ["--at-least=-3"], 2, "at-least"),
    "a share above all": (nothing, ["--at-least", "120%"], 2, "100%"),
    "two goals": (nothing, ["--at-most", "0.1"], 2, "Keep one"),
    "lambda without aggregate": (nothing, ["--lambda", "3"], 2, "lambda"),
    "aggregate with a threshold": (
        nothing,
        ["--method", "aggregate", "--lambda", "3"],
        2,
        "at-least",
    ),
    "model 2 with weights": (nothing, ["--model", "2"], 2, "weights"),
    "an unknown key": (plan("against:", "agianst:"), [], 2, "Did you mean 'against'"),
    "an unknown label": (
        plan("model: 1,", "model: 1, severities: {ward: {Z: 2}},"),
        [],
        2,
        "severities",
    ),
    "weights of a stranger": (
        plan("model: 1,", "model: 1, severities: {agee: 2},"),
        [],
        2,
        "severities.agee",
    ),
    "baskets": (
        content("plan.yaml", "items: {universe: [a, b]}\nconfirmed: true\ndisclose: {}\n"),
        [],
        2,
        "one by one",
    ),
    "not confirmed": (plan("confirmed: true", "confirmed: false"), [], 3, "confirmed"),
    # --- files
    "no data": (gone("data.csv"), [], 2, "data.csv"),
    "no weights": (gone("weights.csv"), [], 2, "weights.csv"),
    "no dictionary": (gone("crowd.csv"), [], 2, "crowd.csv"),
    "no taxonomy": (gone("ward.csv"), [], 2, "ward.csv"),
    "weights of no attribute": (content("weights.csv", "x\n1\n"), [], 2, "attribute"),
    "too few weights": (content("weights.csv", "ward\n1\n2\n"), [], 2, "different numbers of rows"),
    "too many weights": (
        content("weights.csv", WEIGHTS + "1,1\n"),
        [],
        2,
        "different numbers of rows",
    ),
    "a weight of text": (
        content("weights.csv", WEIGHTS.replace("0.2,1", f"{SECRET},1", 1)),
        [],
        2,
        "Row 2",
    ),
    "a negative weight": (
        content("weights.csv", WEIGHTS.replace("0.2,1", "-7,1", 1)),
        [],
        2,
        "negative",
    ),
    "a value outside the taxonomy": (
        content("data.csv", DATA + f"3,{SECRET},x,no\n"),
        [],
        2,
        "ward",
    ),
    "a dictionary with a strange value": (
        content("crowd.csv", CROWD + f"3,{SECRET}\n"),
        [],
        2,
        "ward",
    ),
    "a dictionary without a column": (content("crowd.csv", "age\n3\n"), [], 2, "ward"),
    "another file that is not there": (nothing, ["--data", "nowhere.csv"], 2, "nowhere"),
    # --- the command line and its surroundings
    "an occupied folder": (occupied, [], 2, "disclosed"),
    "an occupied folder, by force": (occupied, ["--force"], 2, "disclosed"),
    "a linked folder": (linked, [], 2, "link"),
    "a file for a folder": (content("disclosed", "mine"), [], 2, "disclosed"),
    "a seed for nothing": (nothing, ["--seed", "1"], 2, "no random step"),
    "an unknown option": (nothing, ["--epsilon", "1"], 2, "epsilon"),
}


def files_below(folder: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "120")
    for name, text in {
        "plan.yaml": PLAN,
        "ward.csv": WARD,
        "data.csv": DATA,
        "crowd.csv": CROWD,
        "weights.csv": WEIGHTS,
    }.items():
        (place / name).write_text(text, encoding="utf-8")
    return place


def run(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["hedgerow", "disclose", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    return end.value.code or 0, said.out, said.err


def test_it_says_what_it_wrote_and_what_is_not_for_others(folder, monkeypatch, capsys):
    code, out, err = run(["plan.yaml"], monkeypatch, capsys)
    assert (code, err) == (0, "")
    assert "30 generalised records" in out
    assert "Not differentially private." in out
    assert "the records of crowd.csv" in out
    assert "that folder is for you only" in out
    assert out.index("mean risk") < out.index("largest risk") < out.index("30 generalised records")
    assert "rows are unique" in out
    assert "of cells have the original value" in out
    assert SECRET not in out
    assert sorted(path.name for path in (folder / "disclosed").iterdir()) == [
        "certificate.json",
        "datapackage.json",
        "dictionary.csv",
        "disclosed.csv",
        "owner",
        "report.html",
    ]


def test_quiet_says_nothing(folder, monkeypatch, capsys):
    assert run(["plan.yaml", "-q"], monkeypatch, capsys) == (0, "", "")


def test_machines_are_told_no_risk(folder, monkeypatch, capsys):
    code, out, err = run(["plan.yaml", "--json", "-o", "elsewhere"], monkeypatch, capsys)
    assert (code, err) == (0, "")
    facts = json.loads((folder / "elsewhere" / "certificate.json").read_text())
    certified = facts["disclosure"]
    assert json.loads(out) == {
        "out": "elsewhere",
        "method": "aruba",
        "private": False,
        "records": 30,
        "owner-only": "elsewhere/owner",
        "disclosure": certified,  # coarse steps, as recipients see them
    }
    assert Fraction(certified["mean-left"]) <= Fraction(certified["threshold"])


OPTIONS = [
    ["--method", "btda"],
    ["--method", "brute-force", "--measure", "lm", "--at-least", "60%"],
    ["--at-least", "4"],
    ["--model", "3"],
    ["--against", "data.csv"],
    ["--weights", "other.csv"],
]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_options_replace_what_the_plan_says(options, folder, monkeypatch, capsys):
    (folder / "other.csv").write_text("age\n" + "2\n" * 30)
    code, _, err = run(["plan.yaml", "-q", *options], monkeypatch, capsys)
    assert (code, err) == (0, "")
    facts = (folder / "disclosed" / "certificate.json").read_text()
    told = json.loads(facts)["method"]
    flat = {key.rpartition(".")[2]: value for key, value in told["settings"].items()}
    for option, value in zip(options[::2], options[1::2], strict=True):
        if option != "--against":
            assert str(flat[option.removeprefix("--")]) == value
    if "--against" in options:
        assert told["details"]["dictionary"] == "the records of data.csv"
    assert str(folder) not in facts


def test_the_aggregate_model_has_its_own_options(folder, monkeypatch, capsys):
    plan("utility: {at-least: half}", "utility: {measure: depth}")(folder)
    options = ["--method", "aggregate", "--lambda", "5", "--kappa", "2", "-q"]
    assert run(["plan.yaml", *options], monkeypatch, capsys) == (0, "", "")


def test_a_result_that_lowers_no_risk_is_refused_until_somebody_accepts_it(
    folder, monkeypatch, capsys
):
    rare = "age,ward,name,sick\n" + "".join(f"{age},A,x,no\n" for age in range(30))
    content("data.csv", rare)(folder)
    plan("utility: {at-least: half}", "utility: {measure: depth}")(folder)
    options = ["--method", "aggregate", "--lambda", "0.001", "--against", "data.csv"]
    before = sorted(path.name for path in folder.iterdir())
    code, out, err = run(["plan.yaml", *options], monkeypatch, capsys)
    assert code == 3
    assert "mean risk" in out
    assert "30 of 30 rows are unique; 100.0 % of cells" in out
    assert "--accept-risk" in err
    assert sorted(path.name for path in folder.iterdir()) == before
    code, out, _ = run(["plan.yaml", *options, "--json"], monkeypatch, capsys)
    assert code == 3
    assert set(json.loads(out)) == {"error", "exit-code"}  # machines are told no risk
    assert "30" not in out
    assert run(["plan.yaml", *options, "--accept-risk", "-q"], monkeypatch, capsys)[0] == 0
    facts = json.loads((folder / "disclosed" / "certificate.json").read_text())
    assert facts["disclosure"]["accepted"] is True
    assert facts["disclosure"]["lowered"] is False


def test_a_run_that_takes_too_long_is_refused(folder, monkeypatch, capsys):
    code, out, err = run(["plan.yaml", "--hours", "1e-12"], monkeypatch, capsys)
    assert (code, out) == (2, "")
    assert "longer than 1e-12 hours" in err
    assert not (folder / "disclosed").exists()


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_input_ends_with_one_message_and_nothing_else(case, folder, monkeypatch, capsys):
    change, options, expected, named = CASES[case]
    change(folder)
    before = files_below(folder)
    code, out, err = run(["plan.yaml", *options], monkeypatch, capsys)
    assert code == expected, err
    assert named in err
    assert out == ""
    assert "Traceback" not in err
    assert SECRET not in err
    assert err.count("rror: ") == 1 or err.startswith("Usage")
    assert files_below(folder) == before


def test_an_interrupted_run_says_how_to_go_on(folder, monkeypatch, capsys):
    def interrupt(self, found):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Unfinished, "append", interrupt)
        code, out, err = run(["plan.yaml"], monkeypatch, capsys)
    assert (code, out) == (130, "")
    assert "the same command resumes" in err
    assert list(folder.glob(".disclosed.unfinished-*"))
    assert run(["plan.yaml", "-q"], monkeypatch, capsys)[0] == 0
    assert not list(folder.glob(".disclosed*"))


def test_an_unexpected_error_shows_no_traceback(folder, monkeypatch, capsys):
    def fail(*_args, **_settings):
        raise ValueError(SECRET)

    monkeypatch.setattr("hedgerow.disclosure.disclose.disclose", fail)
    code, _, err = run(["plan.yaml"], monkeypatch, capsys)
    assert code == 70
    assert SECRET not in err


def given_command(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["hedgerow", "given", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    return end.value.code or 0, said.out, said.err


def test_a_recipient_is_told_by_options_and_what_they_have_is_shown(folder, monkeypatch, capsys):
    asked = ["plan.yaml", "--recipient", "Registry"]
    code, out, err = run(asked, monkeypatch, capsys)
    assert (code, out) == (3, "")
    assert "No disclosure to 'Registry' is recorded" in err
    assert "--first" in err
    code, out, err = run([*asked, "--first", "-o", "one"], monkeypatch, capsys)
    assert (code, err) == (0, "")
    code, out, err = run([*asked, "--json", "-o", "two"], monkeypatch, capsys)
    assert (code, err) == (0, "")
    certified = json.loads(out)["disclosure"]["recipient"]
    assert certified["name"] == "Registry"
    assert certified["recognised-by"] == "values"
    code, out, _ = run([*asked, "-o", "three"], monkeypatch, capsys)
    assert "Registry has received records 2 time(s) before; 30 of these" in out
    code, out, err = given_command(["show", "plan.yaml", "--json"], monkeypatch, capsys)
    shown = json.loads(out)["given"]
    assert [each["state"] for each in shown] == ["released"] * 3
    assert [each["folder"] for each in shown] == ["one", "two", "three"]
    code, out, err = given_command(["show", "plan.yaml"], monkeypatch, capsys)
    assert "Registry" in out
    assert SECRET not in out
    wanted = ["withdraw", "plan.yaml", str(shown[1]["number"]), "--reason", "never sent"]
    assert given_command([*wanted, "-q"], monkeypatch, capsys) == (0, "", "")
    code, _, err = given_command(wanted, monkeypatch, capsys)
    assert code == 2
    assert "This is not the number of a disclosure that counts" in err
