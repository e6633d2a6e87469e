"""Attacks that one line of defence stops: each fails, and succeeds where that line is taken out.

``with_defence`` is whether it stands; a test whose attack failed without it, too, would show
nothing.
"""

from __future__ import annotations

import re

import pytest

from hedgerow.studio import security, shell
from hedgerow.studio.folder import Folder, OutsideError
from hedgerow.studio.pages import publish
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.runs import Runs
from hedgerow.studio.security import PAGE_TOKEN, StartKeys
from hedgerow.studio.treefile import TreeFiles
from support.studio import Browser

twins = pytest.mark.parametrize("with_defence", [True, False], ids=["defended", "twin"])


@twins
def test_the_entry_is_good_once(folder, monkeypatch, with_defence):
    if not with_defence:
        monkeypatch.setattr(StartKeys, "enter", lambda self, token, host: token == self.entry)
    browser = Browser(folder, enter=False)
    way = browser.keys.address().partition(browser.host)[2]
    assert browser.client.get("/enter?token=guessed").status_code == 403
    assert browser.client.get(way).status_code == 200
    browser.client.cookies.clear()
    again = browser.client.get(way)
    assert (again.status_code == 403) is with_defence
    assert ("set-cookie" not in again.headers) is with_defence
    assert (browser.client.get("/start").status_code == 403) is with_defence


WAYS_OUT = [
    "../secret.yaml",
    "a/../../secret.yaml",
    "{outside}/secret.yaml",
    ".hidden/secret.yaml",
]
ODD = ["/etc/passwd", "..\\secret.yaml", "C:secret.yaml", "a\0b.yaml", "", ".", "x" * 2000]


@pytest.mark.parametrize("name", ODD)
def test_no_odd_name_is_a_name(folder, name):
    with pytest.raises(OutsideError):
        Folder.at(folder).inside(name)


@twins
@pytest.mark.parametrize("name", WAYS_OUT)
def test_no_address_leads_out_of_the_folder(folder, name, monkeypatch, with_defence):
    secret = "attributes: {haemophilia: {numeric: [0, 1]}}\n"
    for place in (folder.parent, folder / ".hidden"):
        place.mkdir(exist_ok=True)
        (place / "secret.yaml").write_text(secret)
    (folder / "a").mkdir()
    if not with_defence:
        monkeypatch.setattr(Folder, "is_plain", lambda self, name: True)
        monkeypatch.setattr(Folder, "holds", lambda self, path: True)
    asked = {"plan": name.format(outside=folder.parent)}
    answer = Browser(folder).client.get("/table", params=asked)
    assert answer.status_code == (422 if with_defence else 200)
    assert ("haemophilia" not in answer.text) is with_defence


LABEL = "<script>alert(1)</script>"
TURNED = "A\u202eB"


@twins
def test_a_label_stays_a_label(folder, monkeypatch, with_defence):
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("[A, B, C]", f'[A, "{LABEL}", C]'))
    if not with_defence:
        bare = shell.environment().overlay(autoescape=False)
        monkeypatch.setattr(shell, "environment", lambda: bare)
    browser = Browser(folder)
    assert (LABEL not in browser.show("/table?plan=plan.yaml")) is with_defence


@twins
def test_letters_that_nobody_sees_are_written_out(folder, monkeypatch, with_defence):
    """A label that is turned around, or invisible, would look like another one."""
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("visits.csv  #", f'"{TURNED}.csv"  #'))
    (folder / f"{TURNED}.csv").write_text("a\n1\n")
    if not with_defence:
        monkeypatch.setattr(shell, "visible", lambda text: text)
    assert (TURNED not in Browser(folder).show("/start")) is with_defence


@twins
@pytest.mark.parametrize("told", [True, False], ids=["its length is told", "in pieces"])
def test_a_form_that_is_too_long_is_not_read(browser, monkeypatch, with_defence, told):
    browser.show("/start")
    if with_defence:
        monkeypatch.setattr(security, "MOST_BYTES", 100)
    body = b"x=" + b"y" * 200
    answer = browser.client.post(
        "/runs/0000000000-00000000/cancel",
        content=body if told else iter([body[:50], body[50:]]),
        headers={"Origin": f"http://{browser.host}", PAGE_TOKEN: browser.token},
    )
    assert answer.status_code == (413 if with_defence else 422)
    assert "content-security-policy" in answer.headers


def version(text: str) -> str:
    return re.findall(r'id="version" name="version" value="([^"]+)"', text)[0]


@twins
def test_a_stale_form_takes_no_change_back(browser, folder, monkeypatch, with_defence):
    """An editor changes the plan while a form shows it as it was; the form is sent."""
    path = folder / "plan.yaml"
    seen = version(browser.show("/table?plan=plan.yaml"))
    path.write_text(path.read_text().replace("records: 20000", "records: 30000"))
    if not with_defence:
        monkeypatch.setattr(PlanFile, "check_version", lambda self, version: None)
    sent = {"records": "20000", "whose": "one", "version": seen}
    answer = browser.send("/table/about?plan=plan.yaml", sent)
    assert answer.status_code == (422 if with_defence else 200)
    assert ("records: 30000" in path.read_text()) is with_defence


@twins
def test_a_stale_tree_takes_no_change_back(browser, folder, monkeypatch, with_defence):
    tree = folder / "wards.csv"
    tree.write_text("A,Surgery,*\nB,Surgery,*\nC,Other,*\n")
    shown = browser.show("/taxonomies?plan=plan.yaml&file=wards.csv")
    seen = re.findall(r'name="version" value="([^"]+)"', shown)[0]
    tree.write_text("A,Theatre,*\nB,Theatre,*\nC,Other,*\n")
    if not with_defence:
        monkeypatch.setattr(TreeFiles, "_unchanged", lambda self, name, version: self.opened(name))
    sent = {"do": "rename", "label": "Other", "name": "Rest", "file": "wards.csv", "version": seen}
    answer = browser.send("/taxonomies/edit?plan=plan.yaml", sent)
    assert answer.status_code == (422 if with_defence else 200)
    assert ("Rest" not in tree.read_text()) is with_defence


@twins
def test_a_stale_page_publishes_no_other_plan_than_it_shows(
    browser, folder, monkeypatch, with_defence
):
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("confirmed: false", "confirmed: true"))
    shown = browser.show("/publish?plan=plan.yaml")
    seen = re.findall(r'name="fingerprint" value="(\w+)"', shown)[0]
    path.write_text(path.read_text().replace("epsilon: 1", "epsilon: 2"))
    started = []

    def start(self, kind, words, *, about):
        started.append(words)
        raise OutsideError  # nothing is run here

    monkeypatch.setattr(Runs, "start", start)
    if not with_defence:
        monkeypatch.setattr(publish, "check_fingerprint", lambda file, *, shown, now: None)
    sent = {"fingerprint": seen, "out": "release"}
    assert browser.send("/publish/start?plan=plan.yaml", sent).status_code == 422
    assert (not started) is with_defence
