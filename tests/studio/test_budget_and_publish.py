"""The pages Budget and Publish: what they tell is what the commands tell, and do."""

from __future__ import annotations

import html
import json
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction

import pytest

from hedgerow.cli.main import make_app
from hedgerow.plan.load import load_plan
from hedgerow.studio.runs import called
from support.studio import Browser


def told(text: str) -> dict[str, object]:
    """Return what a page shows of a forecast."""
    found = re.search(r'data-forecast="(.*?)"', text)
    assert found
    return json.loads(html.unescape(found[1]))


def command(capsys, *words: str) -> dict[str, object]:
    """Return what a command answers in JSON."""
    capsys.readouterr()
    make_app()([*words, "--json"], standalone_mode=False)
    return json.loads(capsys.readouterr().out)


def version(text: str) -> str:
    found = re.search(r'name="version" value="(\w+)"', text)
    assert found
    return found[1]


def over(browser: Browser, kind: str) -> object:
    """Return the newest run of a kind once it is over."""
    deadline = time.monotonic() + 120
    while (run := browser.runs.all(kind)[0]).is_running and time.monotonic() < deadline:
        time.sleep(0.05)
    return run


@pytest.mark.parametrize("epsilon", ["1", "0.3", "1/3"])
def test_the_page_forecasts_what_check_does(browser, folder, capsys, epsilon):
    shown = told(browser.show(f"/budget/forecast?plan=plan.yaml&epsilon={epsilon}"))
    checked = command(capsys, "check", str(folder / "plan.yaml"), "--epsilon", epsilon)
    assert shown == {key: checked[key] for key in shown}
    assert shown["fingerprint"] == checked["fingerprint"]


def test_the_slider_is_answered_without_a_forecast(browser, monkeypatch):
    monkeypatch.setattr("hedgerow.studio.forecasts.forecast", None)
    text = browser.show("/budget/live?plan=plan.yaml&epsilon=0.4&cap=2&spent=1&dataset=x")
    assert "1.5 times" in re.sub(r"\s+", " ", text).replace("1.50", "1.5")
    assert "0.6 left after this release" in text
    over_cap = browser.show("/budget/live?plan=plan.yaml&epsilon=1.5&cap=2&spent=1&dataset=x")
    assert "exceeds the remaining budget on the ledger" in over_cap


def test_the_error_wanted_gives_the_epsilon_of_check(browser, folder, capsys):
    text = browser.show("/budget/within?plan=plan.yaml&within=20")
    found = re.search(r'data-value="([^"]+)"', text)
    checked = command(capsys, "check", str(folder / "plan.yaml"), "--within", "20")
    assert found
    assert Fraction(found[1]) == Fraction(str(checked["epsilon"]))


def test_what_is_no_epsilon_is_refused_in_the_words_of_the_command(browser):
    text = browser.show("/budget/live?plan=plan.yaml&epsilon=99", status=422)
    assert "Give a number from 1e-9 to 50" in text


def test_the_budget_is_written_to_the_plan_with_its_comments(browser, folder):
    before = (folder / "plan.yaml").read_text()
    now = version(browser.show("/budget?plan=plan.yaml"))
    sent = {"epsilon": "0.25", "method": "weave", "dataset": "visits-2026", "cap": "3"}
    answer = browser.send("/budget/save?plan=plan.yaml", {**sent, "version": now})
    assert answer.status_code == 200
    plan = load_plan(folder / "plan.yaml")
    assert (plan.publish.method, plan.publish.epsilon, plan.ledger.cap) == (
        "weave",
        Fraction(1, 4),
        3,
    )
    after = (folder / "plan.yaml").read_text()
    assert [line for line in before.splitlines() if "#" in line] == [
        line for line in after.splitlines() if "#" in line
    ]


def test_an_account_of_people_stays_one(browser, folder):
    path = folder / "plan.yaml"
    text = re.sub(r"ledger: \{dataset: [^,]+,", "ledger: {people: hospital-2026,", path.read_text())
    path.write_text(text if "person" in text else f"one-record-per-person: true\n{text}")
    assert load_plan(path).ledger.people == "hospital-2026"
    page = browser.show("/budget?plan=plan.yaml")
    assert 'value="hospital-2026"' in page
    assert "hospital-2026" in browser.show("/budget/account?plan=plan.yaml&epsilon=1")
    sent = {"epsilon": "1", "method": "hedge", "dataset": "hospital-2027", "cap": "3"}
    browser.send("/budget/save?plan=plan.yaml", {**sent, "version": version(page)})
    ledger = load_plan(path).ledger
    assert (ledger.people, ledger.dataset, ledger.cap) == ("hospital-2027", None, 3)


def confirm_all(browser: Browser) -> None:
    for name in ("patient", "age", "ward"):
        now = version(browser.show("/table?plan=plan.yaml"))
        sent = {"name": name, "version": now}
        assert browser.send("/table/confirm?plan=plan.yaml", sent).status_code == 200


def sign(browser: Browser, **sent: str) -> object:
    now = version(browser.show("/publish?plan=plan.yaml"))
    given = {"public": "yes", "by": "Dr. O", "version": now, **sent}
    return browser.send("/publish/confirm?plan=plan.yaml", given)


@pytest.mark.parametrize(
    ("line", "standing", "words"),
    [
        ("", "bad", "does not state whether it protects each person or each record"),
        (
            "protects: records\n",
            "good",
            "A person with ten records has ten times the privacy loss.",
        ),
        ("one-record-per-person: true\n", "good", "The plan states that nobody has more than one"),
        (
            "person: patient\nrecords-per-person: 4\n",
            "good",
            "Protects each patient (column patient) with all their records.",
        ),
    ],
)
def test_the_privacy_unit_is_a_check_that_blocks_if_it_is_missing(
    browser, folder, line, standing, words
):
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("one-record-per-person: true\n", line))
    page = browser.show("/publish?plan=plan.yaml")
    point = next(part for part in page.split("<li") if words in html.unescape(part))
    assert f'class="badge {standing}"' in point
    assert ("/table?" in point) == (standing == "bad")


def test_a_plan_without_a_privacy_unit_starts_no_run(browser, folder):
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("one-record-per-person: true\n", ""))
    confirm_all(browser)
    assert sign(browser).status_code == 422  # nor can it be signed
    path.write_text(path.read_text().replace("confirmed: false", "confirmed: true"))
    sent = {"fingerprint": fingerprint(browser), "out": "release"}
    answer = browser.send("/publish/start?plan=plan.yaml", sent)
    assert answer.status_code == 422
    assert "does not state its privacy unit" in html.unescape(answer.text)
    assert not (folder / "release").exists()


def fingerprint(browser: Browser) -> str:
    found = re.search(r'name="fingerprint" value="(\w+)"', browser.show("/publish?plan=plan.yaml"))
    assert found
    return found[1]


def test_a_plan_is_confirmed_only_when_everything_was_looked_at(browser, folder):
    waiting = sign(browser)
    assert waiting.status_code == 422
    assert "patient, age, ward" in waiting.text
    confirm_all(browser)
    assert sign(browser, public="").status_code == 422
    assert load_plan(folder / "plan.yaml").confirmed is False
    assert sign(browser).status_code == 200
    plan = load_plan(folder / "plan.yaml")
    assert plan.confirmed
    assert plan.approved.by == "Dr. O"


def test_a_signature_is_tied_to_the_plan_and_void_after_a_change_on_any_page(browser, folder):
    confirm_all(browser)
    assert sign(browser, by="").status_code == 422
    assert sign(browser).status_code == 200
    signed = load_plan(folder / "plan.yaml")
    assert signed.confirmed.plan == signed.approved.plan
    assert "Confirmed by Dr. O" in browser.show("/publish?plan=plan.yaml")
    now = version(browser.show("/budget?plan=plan.yaml"))
    sent = {"epsilon": "0.25", "method": "hedge", "dataset": "visits-2026", "cap": "3"}
    browser.send("/budget/save?plan=plan.yaml", {**sent, "version": now})
    now = version(browser.show("/table?plan=plan.yaml"))
    sent = {"names": "ward", "bulk-role": "drop", "version": now}
    assert browser.send("/table/bulk?plan=plan.yaml", sent).status_code == 200
    page = html.unescape(browser.show("/publish?plan=plan.yaml"))
    for named in ("epsilon was 1 and is 0.25 now", "ledger.cap was 2", "column 'ward': role was"):
        assert named in page
    sent = {"fingerprint": fingerprint(browser), "out": "release"}
    answer = browser.send("/publish/start?plan=plan.yaml", sent)
    assert answer.status_code == 422
    assert "epsilon was 1 and is 0.25 now" in html.unescape(answer.text)
    assert browser.runs.all("publish") == []
    assert sign(browser, by="Dr. P").status_code == 200
    assert load_plan(folder / "plan.yaml").confirmed.by == "Dr. P"
    assert "void" not in browser.show("/publish?plan=plan.yaml")


def test_a_plan_is_published_by_the_command_and_found_again(browser, folder):
    confirm_all(browser)
    assert sign(browser).status_code == 200
    sent = {"fingerprint": fingerprint(browser), "out": "release"}
    assert browser.send("/publish/start?plan=plan.yaml", sent).status_code == 200
    run = over(browser, "publish")
    assert run.state == "done", (run.stderr, run.answer)
    assert run.command[:4] == ("hedgerow", "publish", "plan.yaml", "--expect")
    assert (folder / "release" / "certificate.json").is_file()
    assert run.step is not None
    # A browser of another start finds the run, and the start page the release and the ledger.
    again = Browser(folder)
    assert run.id in again.show("/publish?plan=plan.yaml")
    assert "release" in again.show("/start")
    assert "1 of 2 left" in again.show("/start/left")
    assert "1 of 2 left" in again.show("/budget/account?plan=plan.yaml&epsilon=1")


def test_a_refusal_is_told_in_the_words_of_the_command_line(browser, folder):
    sent = {"fingerprint": fingerprint(browser), "out": "release"}
    assert browser.send("/publish/start?plan=plan.yaml", sent).status_code == 200
    run = over(browser, "publish")
    assert run.state == "refused"
    text = html.unescape(browser.client.get(f"/runs/{run.id}").text)
    assert "Nobody has confirmed that the domains in this plan are public knowledge" in text
    assert not (folder / "release").exists()


def test_a_plan_that_changed_since_it_was_shown_is_not_published(browser, folder, monkeypatch):
    sent = {"fingerprint": fingerprint(browser), "out": "release"}
    path = folder / "plan.yaml"
    path.write_text(path.read_text().replace("[0, 99]", "[0, 120]"))
    answer = browser.send("/publish/start?plan=plan.yaml", sent)
    assert answer.status_code == 422
    assert browser.runs.all("publish") == []


@pytest.mark.parametrize("out", ["../release", "/tmp/release", ".release"])
def test_a_release_is_written_inside_the_folder_alone(browser, out):
    sent = {"fingerprint": fingerprint(browser), "out": out}
    answer = browser.send("/publish/start?plan=plan.yaml", sent)
    assert answer.status_code == 422
    assert "out of the folder" in answer.text


SLOW = (
    "import json, os, signal, sys, time\n"
    "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
    "open(os.environ['HEDGEROW_PROGRESS'], 'a').write(json.dumps("
    "{'step': 'reading', 'fraction': 0.25}) + '\\n')\n"
    "time.sleep(60)\n"
)


@pytest.fixture
def slow(monkeypatch):
    """Let every command take a minute, and say once how far it is."""
    monkeypatch.setattr(
        "hedgerow.studio.runs.called", lambda words: [sys.executable, "-c", SLOW, *words]
    )


def until(browser: Browser, name: str, wanted: object) -> None:
    deadline = time.monotonic() + 30
    while browser.runs.get(name).step != wanted and time.monotonic() < deadline:
        time.sleep(0.05)


def test_a_run_tells_how_far_it_is_and_can_be_cancelled(browser, folder, slow):
    browser.show("/start")
    run = browser.runs.start("demo", ["demo"], about={})
    until(browser, run.id, "reading")
    shown = browser.client.get(f"/runs/{run.id}").text
    assert 'value="0.25"' in shown
    # Another start of the server sees it run, and ends it.
    other = Browser(folder)
    assert other.runs.get(run.id).is_running
    other.show("/start")
    assert other.send(f"/runs/{run.id}/cancel").status_code == 200
    deadline = time.monotonic() + 30
    while browser.runs.get(run.id).is_running and time.monotonic() < deadline:
        time.sleep(0.05)
    assert browser.runs.get(run.id).state == "stopped"
    assert Browser(folder).runs.get(run.id).state == "stopped"


def test_a_run_outlives_the_server(folder, slow):
    """Killing the server ends no run: what publish does it does by itself."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom hedgerow.studio.folder import Folder\n"
        "from hedgerow.studio import runs\n"
        f"runs.called = lambda words: [sys.executable, '-c', {SLOW!r}]\n"
        "run = runs.Runs(Folder.at(Path(sys.argv[1]))).start('demo', ['demo'], about={})\n"
        "print(run.id, flush=True)\nimport time\ntime.sleep(60)\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True
    )
    name = server.stdout.readline().strip()
    server.send_signal(signal.SIGKILL)
    server.communicate()
    browser = Browser(folder)
    assert browser.runs.get(name).is_running
    browser.runs.cancel(name)
    deadline = time.monotonic() + 30
    while browser.runs.get(name).is_running and time.monotonic() < deadline:
        time.sleep(0.05)
    assert browser.runs.get(name).state == "stopped"


def test_a_command_imports_nothing_from_the_folder(folder):
    (folder / "numpy.py").write_text("raise SystemExit('taken over')\n")
    words = called(["check", "plan.yaml"])
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert "taken over" not in done.stderr
    assert json.loads(done.stdout)["method"] == "hedge"


def test_runs_are_for_their_owner_alone(browser, folder):
    (folder / "plan.yaml").write_text("data: x.csv\n")
    run = browser.runs.start("check", ["check", "plan.yaml"], about={})
    over(browser, "check")
    place = folder / ".hedgerow-studio"
    assert place.stat().st_mode & 0o077 == 0
    assert [path.name for path in (place / "runs").iterdir()] == [run.id]
    assert browser.runs.get(run.id).state == "refused"
