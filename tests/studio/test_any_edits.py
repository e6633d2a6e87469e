"""Whatever is edited in the pages: the file loads as the page said, and every comment is kept."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_budget_and_publish import told

from hedgerow.cli.main import make_app
from hedgerow.errors import HedgerowError, PlanError
from hedgerow.pipeline import forecast
from hedgerow.pipeline.predict import Trials
from hedgerow.plan.parse import parse_text
from hedgerow.studio.forecasts import Forecasts
from hedgerow.studio.planfile import version_of
from hedgerow.studio.yamledit import Drop, Mark, Put, comments, edited
from support.studio import PLAN, Browser, hospital

labels = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")),
    min_size=1,
    max_size=9,
).filter(lambda text: text.strip() == text)
scalars = st.one_of(
    labels,
    st.integers(-9999, 9999),
    st.booleans(),
    st.decimals(-99, 99, places=2),
    st.sampled_from(["no", "null", "01", "1e5", "-", "a: b", "# c", "[x]", "'", '"', "~", "true"]),
)
values = st.one_of(
    scalars, st.lists(scalars, max_size=4), st.dictionaries(labels, scalars, max_size=3)
)
paths = st.sampled_from(
    [
        ("records",),
        ("publish", "epsilon"),
        ("attributes", "age"),
        ("attributes", "ward", "values"),
        ("attributes", "ward", "other"),
        ("new",),
        ("new", "inner"),
        ("ledger", "cap"),
    ]
)
edits = st.one_of(
    st.builds(lambda path, value: Put(path=path, value=value), paths, values),
    st.builds(lambda path: Drop(path=path), paths.filter(lambda path: len(path) > 1)),
    st.builds(lambda words: Mark(path=("attributes", "ward"), comment=words), labels),
)


@given(st.lists(edits, max_size=5))
def test_any_edit_of_the_text_says_what_it_means_and_loses_no_other_line(wanted):
    before = PLAN.splitlines()
    touched = {edit.path[0] for edit in wanted}
    try:
        text = edited(PLAN, wanted, where="plan")
    except PlanError:
        return  # refused as a whole: nothing is written
    data = parse_text(text, kind="YAML", where="plan").data
    assert isinstance(data, dict)
    kept = [line for line in before if line.split(":")[0] not in touched and line[:1].isalpha()]
    assert set(kept) <= set(text.splitlines())
    if "attributes" not in touched:
        assert {each.words for each in comments(PLAN)} == {each.words for each in comments(text)}


def test_a_decimal_is_written_as_it_was_typed():
    text = edited(PLAN, [Put(path=("publish", "epsilon"), value=Decimal("0.50"))], where="plan")
    assert "epsilon: 0.50}" in text


REMARK = "# from the data: about how many; replace by public knowledge\n"

roles = st.sampled_from(["predictor", "drop", "identifier", "class"])
columns = st.sampled_from(["age", "ward", "returned", "patient"])
actions = st.one_of(
    st.tuples(st.just("/table/confirm"), st.fixed_dictionaries({"name": columns})),
    st.tuples(
        st.just("/table/bulk"), st.fixed_dictionaries({"names": columns, "bulk-role": roles})
    ),
    st.tuples(
        st.just("/table/column"),
        st.fixed_dictionaries(
            {
                "name": columns,
                "role": roles,
                "kind": st.sampled_from(["numeric", "values", "date", "edges", "taxonomy", ""]),
                "low": st.sampled_from(["0", "-1.5", "x", ""]),
                "high": st.sampled_from(["50", "99", "1e99"]),
                "step": st.sampled_from(["1", "0.5", "0", ""]),
                "values": st.lists(labels, max_size=4).map("\n".join),
                "other": st.one_of(st.just(""), labels),
                "edges": st.just("0 10 20"),
                "unit": st.one_of(st.just(""), labels),
                "then": st.sampled_from(["save", "confirm"]),
            }
        ),
    ),
    st.tuples(
        st.just("/table/about"),
        st.fixed_dictionaries(
            {
                "records": st.sampled_from(["", "500", "20000", "-1"]),
                "missing": st.sampled_from(["drop", "value"]),
                "whose": st.sampled_from(["", "one", "records", "person"]),
                "person": columns,
                "most": st.sampled_from(["", "auto", "3"]),
                "count": st.sampled_from(["", "people"]),
            }
        ),
    ),
    st.tuples(
        st.just("/budget/save"),
        st.fixed_dictionaries(
            {
                "epsilon": st.sampled_from(["1", "0.3", "2/3", "0", "99"]),
                "method": st.sampled_from(["hedge", "diffgen", "weave"]),
                "cap": st.sampled_from(["", "5", "1/2"]),
                "dataset": st.one_of(st.just(""), labels),
            }
        ),
    ),
    st.tuples(
        st.just("/disclose/save"),
        st.fixed_dictionaries(
            {
                "method": st.sampled_from(["aruba", "aggregate", "approx"]),
                "goal": st.sampled_from(["utility", "risk"]),
                "at-least": st.sampled_from(["half", "60%", "2", "x"]),
                "at-most": st.sampled_from(["", "0.1"]),
                "lambda": st.sampled_from(["", "3"]),
                "measure": st.sampled_from(["depth", "leaves"]),
                "model": st.sampled_from(["1", "2", "3"]),
                "column": st.just("ward"),
                "weight:ward": st.sampled_from(["", "2"]),
            }
        ),
    ),
    st.tuples(
        st.just("/publish/confirm"),
        st.fixed_dictionaries(
            {
                "public": st.sampled_from(["yes", ""]),
                "by": st.one_of(st.just(""), labels),
                "why": st.one_of(st.just(""), labels),
            }
        ),
    ),
    st.tuples(st.just("/table/fact"), st.fixed_dictionaries({"key": st.just("records")})),
)


@pytest.fixture
def few_trials(monkeypatch):
    """Let forecasts try a method once, on few records: page and command in the same way."""
    kept = Forecasts()
    for page in ("budget", "publish"):  # what is foretold here must not stay
        monkeypatch.setattr(f"hedgerow.studio.pages.{page}.FORECASTS", kept)
    real = forecast.predicted
    monkeypatch.setattr(
        forecast,
        "predicted",
        lambda trials, **_: real(Trials(trials.ready, min(trials.n_records, 60)), most_runs=1),
    )


KEPT = (
    "A plan that somebody wrote, with remarks.",
    "the export",
    "wards as on the hospital's site",
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sequence=st.lists(actions, min_size=1, max_size=5), confirmed=st.sampled_from(["false", "true"])
)
def test_check_answers_as_the_page_did_after_any_edits(
    sequence, confirmed, tmp_path_factory, capsys, few_trials
):
    folder = hospital(tmp_path_factory.mktemp("register"))
    path = folder / "plan.yaml"
    plan = PLAN.replace("confirmed: false", f"confirmed: {confirmed}")
    path.write_text(plan.replace("records: 20000", REMARK + "records: 20000"))
    browser = Browser(folder)
    for address, sent in sequence:
        before = path.read_text()
        now = version_of(before)
        browser.token = browser.keys.page_token(address.split("/")[1])
        answer = browser.send(f"{address}?plan=plan.yaml", {**sent, "version": now})
        assert answer.status_code in (200, 204, 422)
        after = path.read_text()
        if answer.status_code == 422:
            assert after == before
        assert set(KEPT) <= {each.words for each in comments(after)}
    shown = browser.client.get("/budget/forecast?plan=plan.yaml&epsilon=1")
    capsys.readouterr()
    try:
        make_app()(["check", str(path), "--epsilon", "1", "--json"], standalone_mode=False)
        checked = json.loads(capsys.readouterr().out)
    except HedgerowError:
        assert shown.status_code == 422
        return
    assert shown.status_code == 200
    answered = told(shown.text)
    assert answered == {key: checked[key] for key in answered}
    assert {"method", "fingerprint", "epsilon"} <= set(answered)
