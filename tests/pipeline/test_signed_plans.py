"""A signed plan is published as it was signed, or not at all: by command, library and studio."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.errors import UnconfirmedPlanError, VoidSignatureError
from hedgerow.pipeline.confirm_file import confirm_file
from hedgerow.pipeline.signed import ALTERED, UNEXPLAINED, UNLISTED
from hedgerow.plan.load import load_plan
from support.disclosure_tables import patients
from support.disclosure_tables import plan as disclosure_plan
from support.signed_plans import CHANGES, replaced, signed_folder

BY = "A. Officer"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return signed_folder(tmp_path)


def command(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def refused(done: Any) -> str:
    assert isinstance(done.exception, VoidSignatureError), done.output
    assert done.exception.exit_code == 3
    return str(done.exception)


def test_a_signed_plan_is_published_and_its_certificate_says_who_signed(folder: Path) -> None:
    release = hedgerow.publish(folder / "plan.yaml", out=folder / "release", seed=1)
    signed = release.certificate.confirmed
    assert (signed.by, signed.on) == (BY, load_plan(folder / "plan.yaml").confirmed.on)
    assert signed.statement == f"Confirmed by {BY} on {signed.on} for this plan."
    assert signed.plan_sha256 == load_plan(folder / "plan.yaml").confirmed.plan
    assert signed.statement in (folder / "release" / "report.html").read_text(encoding="utf-8")
    told = command("verify", folder / "release", "--json")
    assert json.loads(told.stdout)["signatures"] == [signed.statement]
    assert signed.statement in command("verify", folder / "release").stdout


@pytest.mark.parametrize("change", CHANGES)
def test_a_plan_that_differs_from_what_was_signed_is_refused(folder: Path, change: str) -> None:
    edit, named = CHANGES[change]
    edit(folder)
    with pytest.raises(VoidSignatureError, match=re.escape(named)) as raised:
        hedgerow.publish(folder / "plan.yaml", out=folder / "release")
    assert any(named in each for each in raised.value.differences)
    done = command("publish", folder / "plan.yaml", "--out", folder / "release")
    assert named in refused(done)
    assert BY in refused(done)
    assert not (folder / "release").exists()
    assert not (folder / "ledger.sqlite").exists()


def test_check_reports_what_changed_and_goes_on(folder: Path) -> None:
    assert "for this plan." in command("check", folder / "plan.yaml").stdout
    for change in ("cap", "taxonomy file"):
        CHANGES[change][0](folder)
    checked = command("check", folder / "plan.yaml", "--epsilon", "2", "--json")
    assert checked.exit_code == 0, checked.output
    told = json.loads(checked.stdout)
    [state] = told["signatures"]
    assert told["confirmed"]
    assert state["void"]
    assert sorted(state["differences"]) == sorted(
        [CHANGES["cap"][1], CHANGES["taxonomy file"][1], "epsilon was 1 and is 2 now"]
    )


@pytest.mark.parametrize("change", CHANGES)
def test_the_studio_shows_what_changed_and_does_not_publish(folder: Path, change: str) -> None:
    pytest.importorskip("starlette")
    from support.studio import Browser

    edit, named = CHANGES[change]
    browser = Browser(folder)
    assert "for this plan." in browser.show("/publish?plan=plan.yaml")
    edit(folder)
    page = html.unescape(browser.show("/publish?plan=plan.yaml"))
    assert named in page
    assert "The signature is void." in page
    assert re.search(r"<button[^>]* disabled>Publish</button>", page)
    shown = re.search(r'name="fingerprint" value="(\w+)"', page)
    assert shown is not None
    sent = {"fingerprint": shown[1], "out": "release"}
    answer = browser.send("/publish/start?plan=plan.yaml", sent)
    assert answer.status_code == 422
    assert named in html.unescape(answer.text)
    assert browser.runs.all("publish") == []


@pytest.mark.parametrize("change", CHANGES)
def test_an_approval_alone_is_void_after_a_change(tmp_path: Path, change: str) -> None:
    folder = signed_folder(tmp_path, approve=True, why="yearly")
    file = folder / "plan.yaml"
    CHANGES[change][0](folder)
    text = file.read_text(encoding="utf-8")
    start, stop = text.index("\nconfirmed:"), text.index("\npublish:")
    file.write_text(f"{text[:start]}\nconfirmed: true{text[stop:]}", encoding="utf-8")
    with pytest.raises(VoidSignatureError) as raised:
        hedgerow.publish(file)
    assert raised.value.where == "approved"
    assert raised.value.differences == (UNLISTED,)


OPTIONS: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "epsilon": (["--epsilon", "20"], {"epsilon": 20}, "epsilon was 1 and is 20 now"),
    "method": (["--method", "diffgen"], {"method": "diffgen"}, "method was hedge and is diffgen"),
    "setting": (["--for", "counting"], {"for": "counting"}, "for was not set and is counting now"),
    "several": (
        ["--method", "diffgen", "--h", "3", "--faithful"],
        {"method": "diffgen", "h": 3, "faithful": True},
        "faithful was not set and is true now",
    ),
}


@pytest.mark.parametrize("given", OPTIONS)
def test_what_a_command_or_an_argument_gives_counts_as_a_change(folder: Path, given: str) -> None:
    words, arguments, named = OPTIONS[given]
    with pytest.raises(VoidSignatureError, match=re.escape(named)):
        hedgerow.publish(folder / "plan.yaml", **arguments)
    done = command("publish", folder / "plan.yaml", "--out", folder / "release", *words)
    assert named in refused(done)


def test_an_option_that_says_what_the_plan_says_is_no_change(folder: Path) -> None:
    words = ["--epsilon", "1.0", "--seed", "1", "--out", folder / "release"]
    done = command("publish", folder / "plan.yaml", *words)
    assert done.exit_code == 0, done.output


def test_a_function_of_your_own_is_not_covered_by_a_signature(folder: Path) -> None:
    replaced("method: hedge, epsilon: 1", "method: diffmulti, epsilon: 1, h: 4")(folder)
    confirm_file(folder / "plan.yaml", by=BY)
    utility = hedgerow.OwnUtility(
        name="mine", function=lambda each: each.add(each.sizes), sensitivity=1
    )
    with pytest.raises(VoidSignatureError, match="the argument utility was used"):
        hedgerow.publish(folder / "plan.yaml", utility=utility)


def test_the_path_of_the_table_is_no_change(folder: Path) -> None:
    plan = folder / "plan.yaml"
    moved = folder / "moved.csv"
    (folder / "visits.csv").rename(moved)
    bound = "for this plan."
    for given in (moved, pd.read_csv(moved)):
        release = hedgerow.publish(plan, data=given, seed=1)
        assert release.certificate.confirmed.statement.endswith(bound)
    done = command("publish", plan, "--data", moved, "--out", folder / "one", "--seed", "1")
    assert done.exit_code == 0, done.output
    replaced("data: visits.csv", "data: moved.csv")(folder)
    replaced("file: ledger.sqlite", "file: elsewhere.sqlite")(folder)
    assert hedgerow.publish(plan, seed=1).certificate.confirmed.statement.endswith(bound)


def test_what_is_asked_of_a_database_is_a_change(folder: Path) -> None:
    plan = folder / "plan.yaml"
    with pytest.raises(VoidSignatureError, match="the argument data was used"):
        hedgerow.publish(plan, data="sqlite:///x.sqlite", table="visits")
    replaced("data: visits.csv", "data: sqlite:///x.sqlite\nquery: select 1")(folder)
    with pytest.raises(VoidSignatureError, match="query changed"):
        hedgerow.publish(plan)
    confirm_file(plan, by=BY)
    with pytest.raises(VoidSignatureError, match="the argument data was used"):
        hedgerow.publish(plan, data=folder / "visits.csv")
    replaced("select 1", "select 2")(folder)
    with pytest.raises(VoidSignatureError, match="query changed"):
        hedgerow.publish(plan)


def test_a_plan_that_was_confirmed_by_hand_is_published_and_says_so(folder: Path) -> None:
    mapping = {
        "attributes": {"age": {"numeric": [0, 99], "source": "data"}},
        "one-record-per-person": True,
        "confirmed": True,
        "approved": {"by": "B. Head", "on": "2026-11-18"},
        "publish": {"method": "hedge", "epsilon": 1},
    }
    release = hedgerow.publish(mapping, data=folder / "visits.csv", seed=1, out=folder / "r")
    assert release.certificate.signatures == (
        "Confirmed by hand, not tied to this plan.",
        "Approved by B. Head on 2026-11-18, not tied to this plan.",
    )
    first = release.certificate.assumed_public[0].what
    assert first.endswith("; taken from the data")
    page = (folder / "r" / "report.html").read_text(encoding="utf-8")
    assert "Confirmed by hand, not tied to this plan." in page
    assert "(not tied to this plan)" in page


def forge(folder: Path, old: str, new: str) -> None:
    file = folder / "plan.yaml"
    text = file.read_text(encoding="utf-8")
    start, stop = text.index("\nconfirmed:"), text.index("\npublish:")
    inside = text[start:stop].replace(old, new)
    assert inside != text[start:stop]
    file.write_text(text[:start] + inside + text[stop:], encoding="utf-8")


def test_a_signature_whose_fingerprint_was_edited_is_void(folder: Path) -> None:
    now = load_plan(folder / "plan.yaml").confirmed.plan
    forge(folder, now, "0" * 64)
    with pytest.raises(VoidSignatureError) as raised:
        hedgerow.publish(folder / "plan.yaml")
    assert raised.value.differences == (UNEXPLAINED,)


def test_a_signature_whose_settings_were_edited_is_void(folder: Path) -> None:
    forge(folder, "epsilon: 1", "epsilon: 7")
    with pytest.raises(VoidSignatureError) as raised:
        hedgerow.publish(folder / "plan.yaml")
    assert raised.value.differences == (ALTERED,)


def test_a_change_hidden_in_the_settings_of_the_signature_is_still_refused(folder: Path) -> None:
    replaced("epsilon: 1", "epsilon: 7")(folder)
    forge(folder, "epsilon: 1", "epsilon: 7")
    with pytest.raises(VoidSignatureError) as raised:
        hedgerow.publish(folder / "plan.yaml")
    assert raised.value.differences == (UNEXPLAINED,)


def test_a_signature_without_settings_still_decides(folder: Path) -> None:
    file = folder / "plan.yaml"
    plan = load_plan(file)
    text = file.read_text(encoding="utf-8")
    start, stop = text.index("  signed:"), text.index("\npublish:")
    file.write_text(text[:start].rstrip() + text[stop:], encoding="utf-8")
    assert load_plan(file).confirmed.plan == plan.confirmed.plan
    assert hedgerow.publish(file, seed=1).certificate.confirmed.by == BY
    replaced("epsilon: 1", "epsilon: 20")(folder)
    with pytest.raises(VoidSignatureError, match=UNLISTED):
        hedgerow.publish(file)


def test_signing_again_after_a_change_makes_it_publishable(folder: Path) -> None:
    replaced("epsilon: 1", "epsilon: 2")(folder)
    confirm_file(folder / "plan.yaml", by="B. Head")
    assert hedgerow.publish(folder / "plan.yaml", seed=1).certificate.confirmed.by == "B. Head"


DISCLOSURE_CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "utility": ({"utility": {"at-least": "30%"}}, "disclose.utility"),
    "risk": ({"risk": {"model": 2}}, "disclose.risk"),
    "method": ({"method": "branch-and-bound"}, "disclose.method"),
    "dictionary": ({"against": patients(30)}, "the argument against was used"),
}


@pytest.mark.parametrize("change", DISCLOSURE_CHANGES)
def test_a_signed_disclosure_is_made_as_it_was_signed(change: str) -> None:
    signed = hedgerow.confirm({**disclosure_plan(method="aruba"), "confirmed": False}, by=BY)
    made = hedgerow.disclose(signed, data=patients(30), accept_risk=True)
    assert made.certificate.confirmed.statement.endswith("for this plan.")
    given, named = DISCLOSURE_CHANGES[change]
    with pytest.raises(VoidSignatureError, match=re.escape(named)):
        hedgerow.disclose(signed, data=patients(30), accept_risk=True, **given)


def test_a_plan_that_nobody_confirmed_is_refused(folder: Path) -> None:
    mapping = {
        "attributes": {"age": {"numeric": [0, 9]}},
        "protects": "records",
        "publish": {"epsilon": 1},
    }
    with pytest.raises(UnconfirmedPlanError, match="hedgerow confirm"):
        hedgerow.publish(mapping, data=folder / "visits.csv")
