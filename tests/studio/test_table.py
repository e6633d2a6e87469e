"""The page Table: what it proposes to confirm, and what its changes leave in the file."""

from __future__ import annotations

import html
import json
import re
import time

import pytest

from hedgerow.plan.load import load_plan
from hedgerow.studio.folder import Folder
from hedgerow.studio.planfile import PlanFile
from support.studio import PLAN


def version(text: str) -> str:
    """Return the version that a page's forms send back."""
    found = re.search(r'id="version" name="version" value="(\w+)"', text)
    assert found
    return found[1]


def lines_that_differ(before: str, after: str) -> int:
    old, new = before.splitlines(), after.splitlines()
    return sum(line not in old for line in new)


def test_what_was_taken_from_the_data_waits_for_a_person(browser, folder):
    text = browser.show("/table?plan=plan.yaml")
    assert text.count('data-look="yes"') == 3
    answer = browser.send(
        "/table/confirm?plan=plan.yaml", {"name": "age", "version": version(text)}
    )
    assert answer.status_code == 200
    assert 'data-look="yes"' not in answer.text.partition("<template>")[0]
    text = (folder / "plan.yaml").read_text()
    line = "age: {numeric: [0, 99], step: 1, source: confirmed by the owner}  # bounds: numbers"
    assert line in text


def test_a_column_is_confirmed_with_the_source_that_was_typed(browser, folder):
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("step: 1}", "step: 1, source: data}"))
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"name": "age", "source": "code book p. 4", "version": now}
    assert browser.send("/table/confirm?plan=plan.yaml", sent).status_code == 200
    assert load_plan(path).attributes["age"].source == "code book p. 4"


def test_a_source_in_the_form_of_a_column_confirms_it(browser, folder):
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("[A, B, C]}", "[A, B, C], source: data}"))
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"name": "ward", "role": "predictor", "kind": "values", "values": "A\nB\nC\nD"}
    sent |= {"source": "the hospital's site", "then": "save", "version": now}
    assert browser.send("/table/column?plan=plan.yaml", sent).status_code == 200
    assert load_plan(path).attributes["ward"].source == "the hospital's site"
    assert browser.show("/table?plan=plan.yaml").count('data-look="yes"') == 2


def test_a_domain_from_the_data_waits_without_any_comment(browser, folder):
    path = folder / "plan.yaml"
    lines = [line.partition("#")[0].rstrip() for line in path.read_text().splitlines()]
    text = "\n".join(lines).replace("step: 1}", "step: 1, source: data}")
    path.write_text(f"{text}\n")
    assert browser.show("/table?plan=plan.yaml").count('data-look="yes"') == 1


def test_a_column_changes_and_every_other_line_stays(browser, folder):
    before = (folder / "plan.yaml").read_text()
    text = browser.show("/table?plan=plan.yaml")
    sent = {"name": "ward", "role": "predictor", "kind": "values", "values": "A\nB\n C: x \nno"}
    sent |= {"other": "else", "unit": "", "meaning": "", "version": version(text)}
    assert browser.send("/table/column?plan=plan.yaml", sent).status_code == 200
    after = (folder / "plan.yaml").read_text()
    plan = load_plan(folder / "plan.yaml")
    assert plan.attributes["ward"].values == ("A", "B", "C: x", "no")
    assert plan.attributes["ward"].other == "else"
    assert lines_that_differ(before, after) == 1
    assert "# list: in 20 records or more" in after


def test_who_leaves_a_column_out_gets_its_domain_back(browser, folder):
    before = (folder / "plan.yaml").read_text()
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"names": ["ward"], "bulk-role": "drop", "version": now}
    answer = browser.send("/table/bulk?plan=plan.yaml", sent)
    assert answer.status_code == 200
    file = PlanFile.read(Folder.at(folder), "plan.yaml")
    assert file.data["attributes"]["ward"] == {"role": "drop"}
    back = {"names": ["ward"], "bulk-role": "predictor", "version": file.version}
    assert browser.send("/table/bulk?plan=plan.yaml", back).status_code == 200
    assert (folder / "plan.yaml").read_text() == before


def test_a_column_without_a_domain_does_not_become_a_predictor(browser, folder):
    before = (folder / "plan.yaml").read_text()
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"names": "patient", "bulk-role": "predictor", "version": now}
    answer = browser.send("/table/bulk?plan=plan.yaml", sent)
    assert answer.status_code == 422
    assert "patient" in answer.text
    assert (folder / "plan.yaml").read_text() == before


def test_a_stale_form_is_refused_and_the_difference_shown(browser, folder):
    """Two tabs, or a tab and an editor: the second who saves is told what changed."""
    first = version(browser.show("/table?plan=plan.yaml"))
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("records: 20000", "records: 30000"))
    changed = path.read_text()
    answer = browser.send("/table/confirm?plan=plan.yaml", {"name": "age", "version": first})
    assert answer.status_code == 422
    assert answer.headers["hx-retarget"] == "#notice"
    assert "+records: 30000" in answer.text
    assert "-records: 20000" in answer.text
    assert path.read_text() == changed


def test_two_tabs_that_change_the_same_plan_do_not_lose_a_change(browser, folder, monkeypatch):
    one = version(browser.show("/table?plan=plan.yaml"))
    two = version(browser.show("/table?plan=plan.yaml"))
    send = lambda name, seen: browser.send(  # noqa: E731
        "/table/confirm?plan=plan.yaml", {"name": name, "version": seen}
    )
    assert send("age", one).status_code == 200
    assert send("ward", two).status_code == 422
    kept = (folder / "plan.yaml").read_text()
    assert "source: confirmed by the owner" in kept
    # Without the version the second tab would write over what it has never seen.
    monkeypatch.setattr(PlanFile, "version", property(lambda self: "same"))
    assert send("ward", "same").status_code == 200


def test_a_change_takes_back_that_the_plan_is_confirmed(browser, folder):
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("confirmed: false", "confirmed: true"))
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"names": "ward", "bulk-role": "drop", "version": now}
    assert browser.send("/table/bulk?plan=plan.yaml", sent).status_code == 200
    assert load_plan(path).confirmed is False


def test_what_would_not_load_is_not_written(browser, folder):
    before = (folder / "plan.yaml").read_text()
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"name": "age", "role": "predictor", "kind": "numeric", "low": "9", "high": "1"}
    answer = browser.send("/table/column?plan=plan.yaml", {**sent, "step": "1", "version": now})
    assert answer.status_code == 422
    assert "attributes.age.numeric" in html.unescape(answer.text)
    assert (folder / "plan.yaml").read_text() == before


def test_people_and_records_are_written_to_the_plan(browser, folder):
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"records": "25,000", "missing": "value", "whose": "person", "person": "patient"}
    sent |= {"most": "4", "count": "people", "version": now}
    assert browser.send("/table/about?plan=plan.yaml", sent).status_code == 200
    plan = load_plan(folder / "plan.yaml")
    assert (plan.records, plan.missing, plan.person) == (25000, "value", ("patient",))
    assert (plan.records_per_person, plan.count, plan.one_record_per_person) == (4, "people", None)
    assert "# the export" in (folder / "plan.yaml").read_text()


@pytest.mark.parametrize(
    ("whose", "stated", "unit"),
    [
        ("one", "one-record-per-person: true", "one record per person"),
        ("records", "protects: records", "records"),
        ("person", "person: patient", "person"),
    ],
)
def test_each_privacy_unit_can_be_chosen_and_replaces_the_one_before(
    browser, folder, whose, stated, unit
):
    path = folder / "plan.yaml"
    for before in ("", "protects: records\n", "one-record-per-person: true\n"):
        path.write_text(PLAN.replace("one-record-per-person: true\n", before))
        now = version(browser.show("/table?plan=plan.yaml"))
        sent = {"whose": whose, "person": "patient", "most": "4", "version": now}
        assert browser.send("/table/about?plan=plan.yaml", sent).status_code == 200
        assert load_plan(path).privacy_unit == unit
        assert f"\n{stated}\n" in path.read_text()
        assert f'value="{whose}" data-switch checked' in browser.show("/table?plan=plan.yaml")


def test_a_form_without_a_choice_of_unit_leaves_the_plan_as_it_is(browser, folder):
    path = folder / "plan.yaml"
    path.write_text(PLAN.replace("one-record-per-person: true\n", ""))
    page = browser.show("/table?plan=plan.yaml")
    assert not re.search('name="whose"[^>]*checked', page)
    sent = {"records": "30000", "version": version(page)}
    assert browser.send("/table/about?plan=plan.yaml", sent).status_code == 200
    plan = load_plan(path)
    assert (plan.records, plan.privacy_unit) == (30000, None)


HOSTILE = "<img src=x onerror=alert(1)>\"'{{7919*7907}}"


def test_hostile_labels_are_shown_and_do_nothing(browser, folder):
    path = folder / "plan.yaml"
    name = json.dumps(HOSTILE)
    path.write_text(
        f"data: x.csv\nattributes:\n  {name}: {{values: [{name}, b]}}  # list: <b>bold</b>\n"
        "  a: {numeric: [0, 9]}\n"
    )
    text = browser.show("/table?plan=plan.yaml")
    part = browser.client.get("/table/column", params={"plan": "plan.yaml", "name": HOSTILE}).text
    for shown in (text, part):
        assert "<img" not in shown
        assert "<b>bold" not in shown
        assert "62615533" not in shown
        assert html.escape(HOSTILE)[:8] in shown


def test_a_draft_runs_as_a_process_of_its_own_with_progress(browser, folder):
    browser.show("/table?data=visits.csv")
    sent = {"data": "visits.csv", "plan": "drafted.yaml", "class": "returned"}
    answer = browser.send("/table/draft", sent)
    assert answer.status_code == 200
    run = browser.runs.all("draft")[0]
    assert f"/runs/{run.id}/events" in answer.text
    deadline = time.monotonic() + 120
    while browser.runs.get(run.id).is_running and time.monotonic() < deadline:
        time.sleep(0.1)
    done = browser.runs.get(run.id)
    assert done.state == "done", done.stderr
    assert done.step == "reading"
    assert load_plan(folder / "drafted.yaml").class_name == "returned"
    told = browser.client.get(f"/runs/{run.id}/events").text
    assert told.startswith("event: over")
    # A reopened page, and another start of the server, find the run again.
    assert type(browser)(folder).runs.get(run.id).state == "done"
    assert "/table?plan=drafted.yaml" in browser.client.get(f"/runs/{run.id}").text


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({"plan": "../plan.yaml", "data": "visits.csv"}, "out of the folder"),
        ({"plan": "/tmp/plan.yaml", "data": "visits.csv"}, "out of the folder"),
        ({"plan": "p.yaml", "url": "postgresql://me:secret@host/x"}, "password"),
        ({"plan": "p.yaml"}, "No table is chosen"),
    ],
)
def test_a_draft_is_refused_before_anything_runs(browser, sent, why):
    browser.show("/table")
    answer = browser.send("/table/draft", sent)
    assert answer.status_code == 422
    assert why in html.unescape(answer.text)
    assert "secret" not in answer.text
    assert browser.runs.all("draft") == []


def test_a_hundred_columns_are_shown_in_one_light_page(browser, folder):
    columns = "\n".join(f"  c{n}: {{numeric: [0, 9]}}  # bounds: numbers" for n in range(100))
    (folder / "wide.yaml").write_text(f"data: x.csv\nattributes:\n{columns}\n")
    text = browser.show("/table?plan=wide.yaml")
    assert text.count('class="column look"') == 100
    assert len(text.encode()) < 200_000


def test_an_open_question_is_shown_until_it_is_answered(browser, folder):
    path = folder / "plan.yaml"
    asked = [
        "Whose records are these? 'a', \"b\" or <c>?",
        "'day': which comes first, day or month?",
    ]
    lines = "".join(f"  - {json.dumps(each)}\n" for each in asked)
    before = path.read_text()
    path.write_text(before.replace("confirmed: false", f"to-do:\n{lines}confirmed: false"))
    for left in (asked[1:], []):
        text = browser.show("/table?plan=plan.yaml")
        first = asked[len(asked) - len(left) - 1]
        assert (
            html.escape(first, quote=True).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
            in text
        )
        answer = browser.send(
            "/table/answered?plan=plan.yaml", {"question": first, "version": version(text)}
        )
        assert answer.status_code == 200
        assert load_plan(path).to_do == tuple(left)
    assert path.read_text() == before
    assert "Answered" not in browser.show("/table?plan=plan.yaml")
