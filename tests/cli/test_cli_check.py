"""check and publish on the command line: records, errors wanted, methods, noise."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hedgerow.cli.main import app, main
from hedgerow.errors import SettingError

PLAN = """\
data: visits.csv
records: 2000
attributes:
  age: {numeric: [0, 99]}
  ward: {values: [A, B, C]}
  days: {numeric: [0, 60]}
  returned: {role: class, values: ['no', 'yes']}
protects: records
confirmed: true
publish: {method: hedge, epsilon: 1}
ledger: {dataset: visits, cap: 4, file: ledger.sqlite}
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "plan.yaml").write_text(PLAN)
    rows = [f"{i % 90},{'ABC'[i % 3]},{i * i % 50},{'no' if i % 3 else 'yes'}" for i in range(900)]
    (tmp_path / "visits.csv").write_text("age,ward,days,returned\n" + "\n".join(rows))
    return tmp_path / "plan.yaml"


def call(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def test_it_says_in_words_with_numbers_what_a_release_will_be_good_for(plan):
    shown = " ".join(call("check", plan).split())
    assert "For about 2,000 records, estimated by running hedge on tables simulated" in shown
    assert "A count of 200 people, by one to three columns, has an error of about" in shown
    assert "in 95 % of queries" in shown
    assert "Feasible" in shown


def test_it_speaks_of_people_where_those_are_counted(plan):
    people = "person: who\nrecords-per-person: 4\ncount: people"
    plan.write_text(PLAN.replace("protects: records", people))
    shown = " ".join(call("check", plan).split())
    assert "For about 2,000 people, estimated by running hedge on tables simulated" in shown


def test_a_range_of_records_is_told_for_both_ends(plan):
    shown = " ".join(call("check", plan, "--records", "200-1500").split())
    assert "For about 200 records" in shown
    assert "For about 1,500 records" in shown


@pytest.mark.parametrize("text", ["many", "-5", "5-", "1e4", "5000-100", "1.5"])
def test_what_is_no_number_of_records_is_refused(plan, text):
    with pytest.raises(SettingError, match="Give a whole number"):
        call("check", plan, f"--records={text}")


def test_epsilon_is_solved_for_an_error(plan):
    told = json.loads(call("check", plan, "--within", "30", "--records", "500-900", "--json"))
    assert told["within"] == 30
    assert told["count-error-95"] <= 30
    assert told["fingerprint"] is None
    assert (told["records"], told["upto"]["records"]) == (500, 900)


def test_all_methods_are_shown_on_demand(plan):
    told = json.loads(call("check", plan, "--methods", "--records", "300", "--json"))
    by_name = {each["method"]: each for each in told["methods"]}
    assert by_name["hedge"]["forecast"]["verdict"] == told["verdict"] == "feasible"
    assert by_name["weave"]["forecast"]["prediction"]["count"]["of"] == 30


def test_publish_ends_with_3_where_check_ends_with_1(plan, monkeypatch, capsys):
    plan.write_text(PLAN.replace("2000", "100").replace("hedge", "rps"))
    assert "Mostly noise" in call("check", plan, code=1)
    monkeypatch.setattr(
        "sys.argv", ["hedgerow", "publish", str(plan), "-o", str(plan.parent / "r")]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 3
    assert "--even-if-noise" in capsys.readouterr().err
    assert not (plan.parent / "ledger.sqlite").exists()
    call("publish", plan, "-o", plan.parent / "r", "--even-if-noise", "-q")
    assert (plan.parent / "r" / "certificate.json").exists()


def test_publish_says_that_it_judged_nothing_without_the_line(plan):
    plan.write_text(PLAN.replace("records: 2000\n", ""))
    told = json.loads(call("publish", plan, "-o", plan.parent / "r", "--json"))
    assert any("nothing was judged" in note for note in told["notes"])
    assert "Feasible from about" in call("check", plan)
