"""The risk of a raw table from plan to page."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.cli.main import make_app
from hedgerow.errors import PlanError, ReleaseError, SettingError

PLAN = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "ward": {"values": ["north", "south", "east"]},
        "sex": {"values": ["f", "m"]},
        "stay": {"numeric": [0, 60]},
        "name": {"role": "identifier"},
        "ill": {"role": "class", "values": ["yes", "no"]},
    },
    "publish": {"method": "hedge", "epsilon": "1/4"},
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    n = 400
    return pd.DataFrame(
        {
            "name": [f"Zzyzx{n:04}" for n in range(n)],
            "age": rng.integers(20, 60, n),
            "ward": rng.choice(["north", "south", "east"], n),
            "sex": rng.choice(["f", "m"], n),
            "stay": np.minimum(rng.geometric(0.2, n), 60),
            "ill": rng.choice(["yes", "no"], n),
        }
    )


def by_hand(table, columns):
    rows = Counter(map(tuple, table[columns].itertuples(index=False)))
    return rows, [rows[tuple(row)] for row in table[columns].itertuples(index=False)]


def test_figures_are_those_of_brute_force(table):
    facts = hedgerow.risk(table, plan=PLAN).facts
    columns = ["age", "ward", "sex", "stay"]
    groups, sizes = by_hand(table, columns)
    assert facts["quasi-identifiers"] == columns
    assert facts["k"] == min(sizes)
    assert facts["groups"] == len(groups)
    assert facts["unique"]["records"] == sizes.count(1)
    prosecutor = facts["attackers"]["prosecutor"]
    assert prosecutor["highest"] == 1 / min(sizes)
    assert prosecutor["mean"] == pytest.approx(sum(1 / s for s in sizes) / len(sizes))
    assert prosecutor["at-risk"] == pytest.approx(sum(s < 5 for s in sizes) / len(sizes))
    model = {each["model"]: each for each in facts["models"]}
    assert model[1]["mean"] == pytest.approx(np.mean([4 / s for s in sizes]))
    assert model[2]["largest"] == pytest.approx(1 / min(sizes))
    assert model[3]["mean"] == pytest.approx(np.mean([4 * np.log(400 / s) for s in sizes]))
    for each in facts["sets"]["worst"]:
        _, of_set = by_hand(table, each["columns"])
        assert each["unique"] == of_set.count(1)


def test_the_plans_weights_count(table):
    plan = {
        **PLAN,
        "disclose": {"utility": {"at-least": "half"}, "risk": {"severities": {"age": 5}}},
    }
    columns = ["age", "ward", "sex", "stay"]
    _, sizes = by_hand(table, columns)
    facts = hedgerow.risk(table, plan=plan).facts
    assert facts["models"][0]["mean"] == pytest.approx(np.mean([8 / s for s in sizes]))


def test_a_dictionary_is_the_journalists_population(table, tmp_path):
    everybody = pd.concat([table, table, table])
    everybody.to_csv(tmp_path / "voters.csv", index=False)
    plan = {
        **PLAN,
        "disclose": {
            "utility": {"at-least": "half"},
            "against": str(tmp_path / "voters.csv"),
        },
    }
    attackers = hedgerow.risk(table, plan=plan).facts["attackers"]
    highest = attackers["prosecutor"]["highest"] / 3
    assert attackers["journalist"]["highest"] == pytest.approx(highest)


def test_without_a_population_the_journalists_risk_is_not_stated(table):
    for fraction in (None, 0.01):
        assert (
            hedgerow.risk(table, plan=PLAN, fraction=fraction).facts["attackers"]["journalist"]
            is None
        )
    assert "names no population" in hedgerow.risk(table, plan=PLAN).html()


def test_sensitive_columns_leave_the_quasi_identifiers(table):
    facts = hedgerow.risk(table, plan=PLAN, sensitive=["stay"], quasi=["age", "sex"]).facts
    assert facts["quasi-identifiers"] == ["age", "sex"]
    assert [each["column"] for each in facts["diversity"]] == ["stay"]
    assert facts["diversity"][0]["distance"] == "ordered"


def test_a_class_that_attackers_know_counts_for_every_figure(table, tmp_path):
    everybody = pd.concat([table, table, table.assign(ill="no")])
    everybody.to_csv(tmp_path / "voters.csv", index=False)
    columns = ["age", "sex", "ill"]
    _, sizes = by_hand(table, columns)
    known = hedgerow.risk(table, plan=PLAN, quasi=columns, sensitive=["stay"]).facts
    assert known["models"][1]["mean"] == pytest.approx(np.mean([1 / s for s in sizes]))
    assert known["models"][0]["mean"] == pytest.approx(np.mean([3 / s for s in sizes]))
    against = {"utility": {"at-least": "half"}, "against": str(tmp_path / "voters.csv")}
    found = hedgerow.risk(
        table, plan={**PLAN, "disclose": against}, quasi=columns, sensitive=["stay"]
    )
    groups, _ = by_hand(everybody, columns)
    matches = [groups[row] for row in table[columns].itertuples(index=False, name=None)]
    journalist = found.facts["attackers"]["journalist"]
    assert journalist["highest"] == pytest.approx(1 / min(matches))
    assert found.facts["models"][1]["mean"] == pytest.approx(np.mean([1 / m for m in matches]))


@pytest.mark.parametrize(
    ("settings", "severity"),
    [({"quasi": ["age", "sex"]}, 6), ({"sensitive": ["age"]}, 4), ({"sensitive": ["stay"]}, 8)],
)
def test_severity_is_that_of_the_quasi_identifiers_alone(table, settings, severity):
    weighted = {"utility": {"at-least": "half"}, "risk": {"severities": {"age": 5}}}
    facts = hedgerow.risk(table, plan={**PLAN, "disclose": weighted}, **settings).facts
    _, sizes = by_hand(table, facts["quasi-identifiers"])
    assert facts["models"][0]["mean"] == pytest.approx(np.mean([severity / s for s in sizes]))


@pytest.mark.parametrize(
    "settings", [{"quasi": ["age", "ill"]}, {"quasi": ["age", "stay"], "sensitive": ["stay"]}]
)
def test_a_column_is_not_both_known_and_sensitive(table, settings):
    with pytest.raises(SettingError, match="both a quasi-identifier and sensitive"):
        hedgerow.risk(table, plan=PLAN, **settings)


def test_people_with_several_records_are_counted(table):
    twice = pd.concat([table, table.head(100)])
    plan = {**PLAN, "person": "name", "records-per-person": 2}
    assert hedgerow.risk(twice, plan=plan).facts["people"] == {
        "people": 400,
        "several": 0.25,
        "most": 2,
        "mean": 1.25,
    }


def test_missing_values_lose_no_record(table):
    gaps = table.astype({"age": object})
    gaps.loc[:9, "age"] = None
    facts = hedgerow.risk(gaps, plan=PLAN).facts
    assert (facts["records"], facts["left-out"]) == (400, 0)


def test_a_record_without_class_is_said_to_be_left_out(table):
    gaps = table.copy()
    gaps.loc[395:, "ill"] = None
    facts = hedgerow.risk(gaps, plan=PLAN).facts
    assert (facts["records"], facts["left-out"]) == (395, 5)


def test_an_empty_table_has_no_risk(table):
    facts = hedgerow.risk(table.head(0), plan=PLAN).facts
    assert (facts["records"], facts["k"], facts["attackers"]) == (0, None, None)


def test_no_output_holds_a_value_of_a_record(table, tmp_path):
    marked = table.assign(ward="Qwghlm", stay=57)
    attributes = PLAN["attributes"] | {"ward": {"values": ["Qwghlm", "south"]}}
    found = hedgerow.risk(marked, plan={**PLAN, "attributes": attributes}, out=tmp_path / "risk")
    text = found.html() + found.to_json() + repr(found)
    assert not re.search(r"Qwghlm|Zzyzx", text)


def test_files_are_the_owners_alone(table, tmp_path):
    hedgerow.risk(table, plan=PLAN, out=tmp_path / "risk", fraction=0.1)
    for name in ("risk.html", "risk.json"):
        assert (tmp_path / "risk" / name).stat().st_mode & 0o077 == 0
    written = json.loads((tmp_path / "risk" / "risk.json").read_text())
    assert written["population"]["model"] == "Pitman"
    assert "data owner only" in written["for"]
    with pytest.raises(ReleaseError, match="already"):
        hedgerow.risk(table, plan=PLAN, out=tmp_path / "risk")


def test_an_assessment_is_never_written_into_a_release(table, tmp_path):
    (tmp_path / "certificate.json").write_text("{}")
    with pytest.raises(ReleaseError, match="holds a release"):
        hedgerow.risk(table, plan=PLAN, out=tmp_path, force=True)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"fraction": 0}, SettingError),
        ({"fraction": 1.5}, SettingError),
        ({"quasi": ["agee"]}, SettingError),
        ({"sensitive": ["name"]}, SettingError),
        ({"quasi": ["ill"]}, SettingError),
        ({"most_sets": 0}, SettingError),
    ],
)
def test_wrong_settings_are_refused(table, settings, error):
    with pytest.raises(error):
        hedgerow.risk(table, plan=PLAN, **settings)


def test_a_near_name_is_suggested(table):
    with pytest.raises(SettingError, match="Did you mean 'age'"):
        hedgerow.risk(table, plan=PLAN, quasi=["agee"])


def test_baskets_are_refused():
    plan = {"items": {"universe": ["a", "b"]}}
    with pytest.raises(PlanError, match="computed for tables"):
        hedgerow.risk(pd.DataFrame({"a": [1]}), plan=plan)


def test_the_page_has_what_the_plan_publishes_instead(table):
    page = hedgerow.risk(table, plan=PLAN).html()
    assert "ε = 1/4" in page
    assert "Stricter k, l or t is not enough" in page
    assert re.search(r'<a href="https://[^"]+/docs/attacks\.md">Three attacks</a>', page)
    without = {key: value for key, value in PLAN.items() if key != "publish"}
    assert (
        "publishes nothing under differential privacy" in hedgerow.risk(table, plan=without).html()
    )


def test_the_command_writes_and_says_for_whom(table, tmp_path, capsys):
    table.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "plan.json").write_text(json.dumps({**PLAN, "data": "t.csv"}))
    app = make_app(method_settings=False)
    words = ["risk", "--plan", str(tmp_path / "plan.json"), "-o", str(tmp_path / "out")]
    app(words, standalone_mode=False)
    assert "data owner only" in capsys.readouterr().out
    app([*words, "--force", "--json", "--quasi", "age"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["quasi-identifiers"] == ["age"]
