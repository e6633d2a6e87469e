"""What another site, another program or a stranger could try: each fails, and would succeed
where the one defence against it were taken out."""

from __future__ import annotations

import pytest

from hedgerow.studio import security
from hedgerow.studio.folder import Folder, OutsideError
from hedgerow.studio.security import HEADERS, PAGE_TOKEN, Defences
from support.studio import Browser


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Take one defence out."""
    monkeypatch.setattr(Defences, name, lambda self, asked: True)


def test_a_browser_that_plays_by_the_rules_gets_in(browser):
    assert "<h1>" in browser.show("/start")


@pytest.mark.parametrize("path", ["/start", "/static/studio.css", "/runs/x/events", "/nowhere"])
def test_a_stranger_without_the_cookie_sees_nothing(folder, path, monkeypatch):
    stranger = Browser(folder, enter=False)
    assert stranger.client.get(path).status_code == 403
    without(monkeypatch, "cookie")
    assert stranger.client.get(path).status_code != 403


def test_the_cookie_is_strict_and_out_of_reach_of_scripts(folder):
    browser = Browser(folder, enter=False)
    answer = browser.client.get(browser.keys.address().partition(browser.host)[2])
    said = answer.headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    assert "domain" not in said
    assert browser.keys.cookie in said
    assert Browser(folder).keys.cookie != browser.keys.cookie


def test_a_rebound_name_is_refused(browser, monkeypatch):
    """A name of the attacker's that leads to 127.0.0.1 sends a matching Origin, and the cookie if
    it was ever set for it: only the list of hosts, and the token of a page, stop it."""
    browser.show("/start")
    rebound = {"Host": "evil.example:4711", "Origin": "http://evil.example:4711"}
    rebound["Cookie"] = f"{browser.keys.cookie}={browser.keys.session}"
    assert browser.client.get("/start", headers=rebound).status_code == 403
    without(monkeypatch, "host")
    assert browser.client.get("/start", headers=rebound).status_code == 200


def test_after_the_entry_only_the_name_that_was_entered_by_is_known(browser):
    cookie = {"Cookie": f"{browser.keys.cookie}={browser.keys.session}"}
    assert (
        browser.client.get("/start", headers={"Host": "127.0.0.1:4711", **cookie}).status_code
        == 403
    )
    assert browser.keys.hosts == (browser.host,)


def cancel(browser: Browser, **headers: str) -> int:
    """Return the status of some change; that there is no such run is an answer of the page."""
    answer = browser.send("/runs/0000000000-00000000/cancel", **headers)
    return int(answer.status_code)


def test_a_change_that_another_site_sends_is_refused(browser, monkeypatch):
    browser.show("/start")
    assert cancel(browser) == 422
    assert cancel(browser, Origin="http://evil.example") == 403
    assert cancel(browser, Origin="null") == 403
    without(monkeypatch, "origin")
    assert cancel(browser, Origin="http://evil.example") == 422


def test_a_change_without_an_origin_is_refused(browser, monkeypatch):
    browser.show("/start")
    bare = {PAGE_TOKEN: browser.token}
    path = "/runs/0000000000-00000000/cancel"
    assert browser.client.post(path, headers=bare).status_code == 403
    without(monkeypatch, "origin")
    assert browser.client.post(path, headers=bare).status_code == 422


def test_a_change_without_the_token_of_a_page_is_refused(browser, monkeypatch):
    browser.show("/start")
    assert cancel(browser, **{PAGE_TOKEN: ""}) == 403
    assert cancel(browser, **{PAGE_TOKEN: "0" * 16 + "." + "0" * 64}) == 403
    without(monkeypatch, "page_token")
    assert cancel(browser, **{PAGE_TOKEN: ""}) == 422


def test_the_token_of_one_page_changes_nothing_of_another(browser, monkeypatch):
    browser.show("/start")
    assert browser.send("/publish/start").status_code == 403
    without(monkeypatch, "page_token")
    assert browser.send("/publish/start").status_code != 403


def test_a_page_of_an_earlier_start_changes_nothing(folder):
    before, now = Browser(folder), Browser(folder)
    before.show("/start")
    now.token = before.token
    assert cancel(now) == 403


def test_what_a_browser_says_was_sent_by_another_site_is_refused(browser, monkeypatch):
    sent = {"Sec-Fetch-Site": "cross-site"}
    assert browser.client.get("/start", headers=sent).status_code == 403
    assert browser.client.get("/start", headers={"Sec-Fetch-Site": "same-site"}).status_code == 403
    without(monkeypatch, "site")
    assert browser.client.get("/start", headers=sent).status_code == 200


@pytest.mark.parametrize("path", ["/start", "/static/studio.js", "/nowhere", "/help/epsilon"])
def test_every_answer_has_the_policy_and_is_not_kept(browser, path):
    headers = browser.client.get(path).headers
    for name, value in HEADERS.items():
        assert headers[name] == value
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "*" not in policy


def test_a_refusal_has_the_policy_too(folder):
    answer = Browser(folder, enter=False).client.get("/start")
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_no_link_leads_out_of_the_folder(folder, monkeypatch):
    secret = folder.parent / "secret.yaml"
    secret.write_text("attributes: {secret: {numeric: [0, 1]}}\n")
    (folder / "link.yaml").symlink_to(secret)
    (folder / "up").symlink_to(folder.parent)
    (folder / "plan-link.yaml").symlink_to(folder / "plan.yaml")
    place = Folder.at(folder)
    for name in ("link.yaml", "up/secret.yaml"):
        with pytest.raises(OutsideError):
            place.inside(name)
    assert place.inside("plan-link.yaml")
    assert not {"link.yaml", "up/secret.yaml"} & set(place.files(".yaml"))
    monkeypatch.setattr(Folder, "holds", lambda self, path: True)
    assert place.inside("link.yaml").read_text() == secret.read_text()


def test_tokens_are_compared_in_constant_time_and_never_shown(folder):
    keys = Browser(folder).keys
    shown = repr(keys)
    assert keys.session not in shown
    assert repr(keys.key) not in shown
    assert security._same("a", "a")
    assert not security._same("a", "b")
