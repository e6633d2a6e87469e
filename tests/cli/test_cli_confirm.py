"""`hedgerow confirm`: what it refuses, what it writes, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.errors import PlanError, RefusedError, SettingError, UnconfirmedPlanError
from hedgerow.pipeline import confirm_file as writing
from hedgerow.pipeline.confirm import signing_of
from hedgerow.plan.load import dump_plan, load_plan, plan_mapping, plan_of

PLAN = """\
# Read me first.
attributes:
  age: {numeric: [0, 99], source: data}  # bounds: numbers
  ward: {values: [A, B, C]}  # as on the hospital's site
protects: records
confirmed: false
publish: {method: hedge, epsilon: 1/2}
"""
ITEMS = "items: {universe: [1, 9], source: data}\nprotects: records\npublish: {epsilon: 1}\n"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN, encoding="utf-8")
    return file


def command(*words: object) -> Any:
    return CliRunner().invoke(app, ["confirm", *(str(word) for word in words)])


def signed(file: Path, *words: object) -> Any:
    done = command(file, *words)
    assert done.exit_code == 0, done.output or done.exception
    return load_plan(file)


def test_a_domain_from_the_data_needs_a_public_source(plan: Path) -> None:
    done = command(plan, "--by", "A. Officer")
    assert isinstance(done.exception, UnconfirmedPlanError)
    assert "age" in str(done.exception)
    assert "ward" not in str(done.exception)
    assert plan.read_text() == PLAN
    made = signed(plan, "--by", "A. Officer", "--source", "age=code book p. 4")
    assert made.attributes["age"].source == "code book p. 4"
    assert made.confirmed.by == "A. Officer"
    assert made.confirmed.public == ()
    assert "# bounds: numbers" in plan.read_text()


def test_all_domains_may_be_stated_to_be_public_and_the_certificate_says_so(plan: Path) -> None:
    made = signed(plan, "--by", "A. Officer", "--all-public")
    assert made.confirmed.public == ("age",)
    assert made.attributes["age"].source == "data"
    table = {"age": [30, 40] * 50, "ward": ["A", "B"] * 50}
    import pandas as pd

    certificate = hedgerow.publish(plan, data=pd.DataFrame(table), seed=1).certificate
    assert certificate.confirmed.public == ("age",)
    words = [each.what for each in certificate.assumed_public]
    assert words[0].endswith("; taken from the data, stated to be public by the signer")
    assert [each.source for each in certificate.data.attributes] == ["data", None]


def test_the_universe_of_items_has_a_source_too(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(ITEMS)
    assert isinstance(command(file, "--by", "A").exception, UnconfirmedPlanError)
    made = signed(file, "--by", "A", "--source", "items=price list")
    assert made.items.source == "price list"


def test_what_is_confirmed_is_said_in_words(plan: Path) -> None:
    done = command(plan, "--by", "A. Officer", "--source", "age=the law", "--dry-run")
    said = done.stdout
    assert "method hedge with epsilon = 1/2" in said
    assert "A person with ten records has ten times the privacy loss." in said
    assert "Sources: age: the law." in said
    assert "Without a source: ward." in said
    assert "Nothing was written" in said
    assert plan.read_text() == PLAN


def test_the_answer_in_json_has_the_fingerprint(plan: Path) -> None:
    done = command(
        plan, "--by", "A", "--source", "age=law", "--approve", "--reason", "so", "--json"
    )
    told = json.loads(done.stdout)
    made = load_plan(plan)
    assert told["written"] is True
    assert told["fingerprint"] == made.confirmed.plan == made.approved.plan
    assert told["keys"]["approved"] == {
        "by": "A",
        "on": made.approved.on.isoformat(),
        "why": "so",
        "plan": told["fingerprint"],
    }
    assert told["sources"] == {"age": "law"}


REFUSED: dict[str, tuple[str, str, type[Exception], str]] = {
    "open question": ("confirmed: false", "to-do: [Whose?]", UnconfirmedPlanError, "Whose?"),
    "no unit": ("protects: records\n", "", UnconfirmedPlanError, "one-record-per-person: true"),
    "not a unit": (
        "protects: records",
        "one-record-per-person: false",
        UnconfirmedPlanError,
        "protects: records",
    ),
    "nothing to publish": ("publish: {method: hedge, epsilon: 1/2}\n", "", PlanError, "publish"),
    "a mistake": (
        "[0, 99]",
        "[99, 0]",
        PlanError,
        "The lower bound (99) is not below the upper bound (0)",
    ),
    "a taxonomy that is not there": (
        "values: [A, B, C]",
        "taxonomy: none.csv",
        Exception,
        "none.csv",
    ),
    "dates that nobody read": (
        "values: [A, B, C]",
        "date: {from: 2020-01-01, to: 2021-01-01, format: ask}",
        PlanError,
        "The format of these dates is not answered yet",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_plan_that_is_not_ready_is_not_signed(plan: Path, case: str) -> None:
    old, new, kind, words = REFUSED[case]
    text = PLAN.replace(old, new)
    assert text != PLAN
    plan.write_text(text)
    done = command(plan, "--by", "A", "--all-public")
    assert isinstance(done.exception, kind)
    assert words in str(done.exception)
    assert plan.read_text() == text


@pytest.mark.parametrize(
    "words",
    [
        ["--source", "age"],
        ["--source", "=law"],
        ["--source", "age= "],
        ["--source", "age=data"],
        ["--source", "name=law"],
        ["--source", "items=law"],
        ["--all-public", "--reason", "so"],
        ["--all-public", "--by", " "],
        ["--all-public", "--by", "x" * 201],
    ],
)
def test_what_cannot_be_meant_is_refused(plan: Path, words: list[str]) -> None:
    done = command(plan, "--by", "A", *words)
    assert isinstance(done.exception, SettingError | PlanError)
    assert done.exception.exit_code == 2
    assert plan.read_text() == PLAN


def test_a_second_person_approves_what_the_first_confirmed(plan: Path) -> None:
    first = signed(plan, "--by", "A", "--all-public")
    made = signed(plan, "--by", "B", "--approve", "--reason", "yearly", "--all-public")
    assert made.confirmed == first.confirmed
    assert (made.approved.by, made.approved.plan) == ("B", first.confirmed.plan)


def test_an_approval_of_another_plan_goes_when_the_plan_is_signed_again(plan: Path) -> None:
    signed(plan, "--by", "A", "--approve", "--all-public")
    plan.write_text(
        plan.read_text().replace("publish: {method: hedge, epsilon: 1/2}", "publish: {epsilon: 2}")
    )
    done = command(plan, "--by", "C", "--all-public")
    assert "was for another plan and is removed" in done.stdout
    made = load_plan(plan)
    assert made.confirmed.by == "C"
    assert made.approved is None


def test_an_approval_typed_by_hand_stays(plan: Path) -> None:
    plan.write_text(PLAN + "approved: {by: B. Head, on: 2026-11-18}\n")
    made = signed(plan, "--by", "A", "--all-public")
    assert (made.approved.by, made.approved.plan) == ("B. Head", None)


@pytest.mark.parametrize("kind", ["json", "toml"])
def test_plans_in_json_and_toml_are_signed(tmp_path: Path, kind: str) -> None:
    mapping = plan_mapping(plan_of({"attributes": {"age": {"numeric": [0, 9.5]}}}))
    mapping |= {"protects": "records", "publish": {"method": "hedge", "epsilon": 1}}
    text = (
        json.dumps(mapping)
        if kind == "json"
        else (
            'protects = "records"\n[attributes]\nage = {numeric = [0, 9.5]}\n'
            '[publish]\nmethod = "hedge"\nepsilon = 1\n'
        )
    )
    file = tmp_path / f"plan.{kind}"
    file.write_text(text)
    before = load_plan(file)
    made = signed(file, "--by", "A", "--source", "age=law")
    assert made.attributes["age"].source == "law"
    assert made.attributes["age"].numeric == before.attributes["age"].numeric
    assert made.confirmed.plan == signing_of(made, by="A").signed.fingerprint


def test_the_fingerprint_does_not_depend_on_the_format_of_the_file(plan: Path) -> None:
    made = signed(plan, "--by", "A", "--all-public")
    assert (
        made.confirmed.plan
        == hedgerow.confirm(PLAN_MAPPING, by="B", all_public=True).confirmed.plan
    )


PLAN_MAPPING = {
    "attributes": {
        "age": {"numeric": [0, 99], "source": "data"},
        "ward": {"values": ["A", "B", "C"]},
    },
    "protects": "records",
    "publish": {"method": "hedge", "epsilon": 0.5},
}


def test_a_signed_plan_survives_being_written_as_yaml(tmp_path: Path) -> None:
    made = hedgerow.confirm(PLAN_MAPPING, by="A", approve=True, all_public=True)
    file = tmp_path / "plan.yaml"
    file.write_text(dump_plan(made), encoding="utf-8")
    read = load_plan(file)
    assert (read.confirmed, read.approved) == (made.confirmed, made.approved)


def test_a_link_stays_a_link_and_a_byte_order_mark_stays(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_bytes(b"\xef\xbb\xbf" + PLAN.replace("\n", "\r\n").encode())
    link = tmp_path / "plan.yaml"
    link.symlink_to(real)
    signed(link, "--by", "A", "--all-public")
    assert link.is_symlink()
    content = real.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf# Read me first.\r\n")
    assert content.count(b"\n") == content.count(b"\r\n")


def test_a_file_that_changes_while_it_is_signed_is_not_written(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*given: Any, **named: Any) -> Any:
        made = signing_of(*given, **named)
        plan.write_text(PLAN.replace("[0, 99]", "[0, 120]"))
        return made

    monkeypatch.setattr(writing, "signing_of", slow)
    done = command(plan, "--by", "A", "--all-public")
    assert isinstance(done.exception, RefusedError)
    assert "confirmed: false" in plan.read_text()
