"""The risk of the raw table on the page Table: figures and columns, for the owner, no record."""

from __future__ import annotations

import html
import re
import time

import pytest

from hedgerow.studio.riskpart import risky_sets
from support.studio import Browser, hospital

SECRET = "Quetzalcoatl"


def ended(browser, kind):
    """Wait for the last run of a kind, and return it."""
    run = browser.runs.all(kind)[0]
    deadline = time.monotonic() + 120
    while run.is_running and time.monotonic() < deadline:
        time.sleep(0.1)
        run = browser.runs.get(run.id)
    return run


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A browser of a folder with a table of 60 people, whose risk has been measured."""
    folder = tmp_path_factory.mktemp("risk") / "register"
    folder.mkdir()
    hospital(folder)
    rows = [f"{SECRET}{n},{n + 20},{'ABC'[n % 3]},{'no' if n % 4 else 'yes'}" for n in range(60)]
    text = "\n".join(["patient,age,ward,returned", *rows]) + "\n"
    (folder / "visits.csv").write_text(text, encoding="utf-8")
    browser = Browser(folder)
    browser.show("/table?plan=plan.yaml")
    started = browser.send("/table/risk?plan=plan.yaml")
    assert started.status_code == 200
    run = ended(browser, "risk")
    assert run.state == "done", (run.answer, run.stderr)
    return browser, run


def test_the_part_offers_the_command_and_shows_nothing_before_it_runs(browser):
    text = html.unescape(browser.show("/table?plan=plan.yaml"))
    assert "hedgerow risk --plan plan.yaml" in text
    assert 'class="owner' not in text
    assert browser.runs.all("risk") == []


def test_the_main_figures_are_shown_for_the_owner(measured):
    browser, run = measured
    text = html.unescape(browser.show("/table/risk?plan=plan.yaml"))
    assert 'class="owner small"' in text
    assert "for the data owner only" in text
    facts = run.answer
    assert (facts["k"], facts["unique"]["records"], facts["records"]) == (1, 60, 60)
    plain = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    assert "1 k: records in the smallest group" in plain
    assert "60 unique records, 100.0 % of all" in plain
    assert "age 60 100.0 %" in plain
    assert html.unescape(browser.show("/table?plan=plan.yaml")).count('id="risk"') == 1


def test_no_value_of_a_record_is_shown(measured):
    browser, run = measured
    part = browser.show("/table/risk?plan=plan.yaml")
    assert SECRET not in part
    assert SECRET not in str(run.answer)
    shown = set(re.findall(r'<th scope="row">(.*?)</th>', part))
    assert shown <= {"age", "ward", "age, ward"}


def test_the_whole_page_opens_in_a_sandbox_of_its_own(measured):
    browser, run = measured
    found = browser.client.get("/table/risk/page", params={"run": run.id})
    assert found.status_code == 200
    assert "Risk of the raw table" in found.text
    assert found.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert SECRET not in found.text
    assert browser.client.get("/table/risk/page", params={"run": "../x"}).status_code == 422
    place = browser.app.state.studio.folder.root / run.about["out"]
    assert (place.stat().st_mode & 0o077) == 0


def test_a_run_of_another_kind_has_no_such_page(measured):
    browser, _ = measured
    other = browser.runs.start("check", ["methods"], about={"out": "."})
    assert browser.client.get("/table/risk/page", params={"run": other.id}).status_code == 422
    assert not ended(browser, "check").is_running


def test_figures_of_an_older_plan_are_marked(measured):
    browser, _ = measured
    plan = browser.app.state.studio.folder.root / "plan.yaml"
    before = plan.read_text()
    words = "The plan has changed since."
    assert words not in browser.show("/table/risk?plan=plan.yaml")
    plan.write_text(before + "# changed\n")
    try:
        assert words in browser.show("/table/risk?plan=plan.yaml")
    finally:
        plan.write_text(before)


def test_a_change_without_the_token_of_the_page_starts_nothing(folder):
    browser = Browser(folder)
    browser.show("/budget?plan=plan.yaml")
    assert browser.send("/table/risk?plan=plan.yaml").status_code == 403
    assert browser.runs.all("risk") == []


def test_a_refused_measurement_says_why(folder):
    browser = Browser(folder)
    (folder / "visits.csv").unlink()
    browser.show("/table?plan=plan.yaml")
    browser.send("/table/risk?plan=plan.yaml")
    run = ended(browser, "risk")
    assert run.state == "refused"
    text = html.unescape(browser.show("/table/risk?plan=plan.yaml"))
    assert run.error["what"] in text
    assert "Measure again" in text


def test_the_worst_sets_of_each_size_are_shown_and_empty_ones_are_not():
    def each(columns, unique):
        return {"columns": columns.split(), "unique": unique, "share": unique / 10}

    worst = [
        each("a", 1),
        each("b", 0),
        each("c", 3),
        each("d", 2),
        each("a b", 9),
        each("a b c", 9),
    ]
    found = risky_sets({"sets": {"worst": worst}})
    assert [(one.columns, one.unique) for one in found] == [
        ("c", 3),
        ("d", 2),
        ("a, b", 9),
        ("a, b, c", 9),
    ]
    assert found[0].percent == 30.0
