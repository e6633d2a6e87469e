"""Baskets and sequences on the page Table, and on the page Release."""

from __future__ import annotations

import html
import re

import pytest

import hedgerow
from hedgerow.plan.load import load_plan
from hedgerow.studio.columns import to_look_at
from hedgerow.studio.folder import Folder
from hedgerow.studio.planfile import PlanFile
from support.studio import Browser

PLAN = """\
# receipts of a shop
data: receipts.dat  # the export
records: 3000
items:
  # from the data: the numbers of items in 20 records or more; replace by public
  # knowledge
  universe: [1, 9]  # nine shelves
  taxonomy: context-free
  fan-out: 3

one-record-per-person: true
confirmed: false

publish: {method: coterie, epsilon: 2}
ledger: {dataset: receipts, cap: 9, file: ledger.sqlite}
"""

FORM = {
    "records-are": "baskets",
    "universe-kind": "range",
    "first": "1",
    "last": "9",
    "grouping": "context-free",
    "fan-out": "3",
    "layout": "lines",
    "separator": "auto",
}


@pytest.fixture
def shop(tmp_path):
    """A folder with baskets, which are sequences to whoever wants them so."""
    folder = tmp_path / "shop"
    folder.mkdir()
    rows = [f"{1 + n % 9} {1 + n % 4} {5 + n % 2}" for n in range(3000)]
    (folder / "receipts.dat").write_text("\n".join(rows) + "\n")
    (folder / "plan.yaml").write_text(PLAN)
    return folder


def version(text: str) -> str:
    return re.findall(r'id="version" name="version" value="([^"]+)"', text)[0]


def saved(browser: Browser, **changed: str):
    now = version(browser.show("/table?plan=plan.yaml"))
    return browser.send("/table/items?plan=plan.yaml", {**FORM, "version": now, **changed})


def test_the_universe_of_a_draft_waits_for_a_person_and_is_confirmed_alone(shop):
    browser = Browser(shop)
    text = browser.show("/table?plan=plan.yaml")
    assert "items.universe" in text
    file = PlanFile.read(Folder.at(shop), "plan.yaml")
    assert to_look_at(file) == ["items.universe"]
    sent = {"key": "items.universe", "version": version(text)}
    answer = browser.send("/table/fact?plan=plan.yaml", sent)
    assert answer.status_code == 200, answer.text
    after = (shop / "plan.yaml").read_text()
    assert "  # confirmed: the numbers of items in 20 records or more." in after
    assert to_look_at(PlanFile.read(Folder.at(shop), "plan.yaml")) == []
    kept = [line for line in PLAN.splitlines() if "from the data" not in line]
    assert set(kept) - {"  # knowledge"} <= set(after.splitlines())


def test_a_plan_cannot_be_signed_while_its_universe_waits(shop):
    browser = Browser(shop)
    now = re.findall(r'name="version" value="([^"]+)"', browser.show("/publish?plan=plan.yaml"))[0]
    sent = {"version": now, "public": "yes", "by": "me"}
    assert browser.send("/publish/confirm?plan=plan.yaml", sent).status_code == 422


def test_what_is_saved_as_it_is_changes_nothing(shop):
    assert saved(Browser(shop)).status_code == 200
    assert (shop / "plan.yaml").read_text() == PLAN


CHANGES = {
    "a range": ({"last": "12"}, ("universe", (1, 12))),
    "a list": (
        {"universe-kind": "list", "universe-list": "tea\nmilk"},
        ("universe", ("tea", "milk")),
    ),
    "a file": ({"universe-kind": "file", "universe-file": "all.txt"}, ("universe", "all.txt")),
    "wider groups": ({"fan-out": "5"}, ("fan_out", 5)),
    "commas": ({"separator": "comma"}, ("separator", "comma")),
    "lists": ({"layout": "lists", "column": "things"}, ("column", "things")),
    "rows": (
        {"layout": "long", "column": "thing", "record": "receipt", "order": "not kept"},
        ("record", "receipt"),
    ),
}


@pytest.mark.parametrize(("changed", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_in_the_plan_and_comments_stay(shop, changed, expected):
    answer = saved(Browser(shop), **changed)
    assert answer.status_code == 200, answer.text
    key, value = expected
    assert getattr(load_plan(shop / "plan.yaml").items, key) == value
    text = (shop / "plan.yaml").read_text()
    for remark in ("# receipts of a shop", "# the export", "# nine shelves", "# from the data"):
        assert remark in text


def test_sequences_bring_their_method_and_have_a_longest_one(shop):
    browser = Browser(shop)
    answer = saved(browser, **{"records-are": "sequences", "longest": "20"})
    assert answer.status_code == 200, answer.text
    plan = load_plan(shop / "plan.yaml")
    assert plan.items.ordered
    assert (plan.publish.method, plan.publish.max_length, plan.publish.epsilon) == ("chain", 20, 2)
    assert 'id="items-longest"' in browser.show("/table?plan=plan.yaml")
    assert saved(browser).status_code == 200
    plan = load_plan(shop / "plan.yaml")
    assert (plan.items.ordered, plan.publish.method) == (False, "coterie")


MISTAKES = {
    "no such range": {"first": "9", "last": "1"},
    "no number": {"first": "x"},
    "no file": {"universe-kind": "file"},
    "no column": {"layout": "lists"},
    "no taxonomy": {"grouping": "file"},
    "no universe at all": {"universe-kind": "taxonomy"},
    "no layout": {"layout": "elsewhere"},
}


@pytest.mark.parametrize("changed", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_refused_and_nothing_is_written(shop, changed):
    assert saved(Browser(shop), **changed).status_code == 422
    assert (shop / "plan.yaml").read_text() == PLAN


def test_a_universe_from_the_data_gets_a_source_when_it_is_confirmed(shop):
    path = shop / "plan.yaml"
    path.write_text(PLAN.replace("  fan-out: 3\n", "  fan-out: 3\n  source: data\n"))
    browser = Browser(shop)
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"key": "items.universe", "version": now}
    assert browser.send("/table/fact?plan=plan.yaml", sent).status_code == 200
    assert load_plan(path).items.source == "confirmed by the owner"


def test_people_of_baskets_are_named_and_may_be_joined(shop):
    (shop / "plan.yaml").write_text(
        PLAN.replace("  universe", "  column: thing\n  record: receipt\n  universe")
    )
    browser = Browser(shop)
    sent = {"whose": "person", "person": "customer", "records": "3000", "most": "4"}
    for further, expected in (({}, (4, None)), ({"join": "union"}, (None, "union"))):
        now = version(browser.show("/table?plan=plan.yaml"))
        answer = browser.send("/table/about?plan=plan.yaml", {**sent, **further, "version": now})
        assert answer.status_code == 200, answer.text
        plan = load_plan(shop / "plan.yaml")
        assert plan.person == ("customer",)
        assert (plan.records_per_person, plan.join) == expected


def test_a_release_of_sequences_is_shown_with_what_follows_what(shop):
    text = PLAN.replace("items:\n", "items:\n  ordered: true\n").replace("coterie", "chain")
    (shop / "plan.yaml").write_text(text.replace("confirmed: false", "confirmed: true"))
    hedgerow.publish(shop / "plan.yaml", out=shop / "release")
    browser = Browser(shop)
    shown = html.unescape(browser.show("/release?release=release&show=marginals&item=5"))
    assert "After 5" in shown
    assert "Lengths of sequences" in shown
    rows = html.unescape(browser.show("/release?release=release&show=records"))
    assert re.search(r"\d → \d", rows)
    for view in ("report", "certificate", "recipient"):
        browser.show(f"/release?release=release&show={view}")
    got = browser.client.get("/release/records.csv?release=release")
    assert got.content == (shop / "release" / "release.dat").read_bytes()
