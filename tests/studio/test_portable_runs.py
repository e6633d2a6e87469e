"""Runs without POSIX sessions and locks: what Windows takes, tried as far as it can be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from hedgerow.studio import runs
from hedgerow.studio.folder import Folder


def test_on_windows_a_run_has_a_group_of_its_own_and_no_console():
    asked = runs.detached((7,), "nt")
    assert asked["creationflags"] == 0x200 | 0x8000000
    assert "pass_fds" not in asked  # which Windows refuses
    assert "start_new_session" not in asked
    assert runs.detached((7,), "posix") == {"start_new_session": True, "pass_fds": (7,)}


def test_on_windows_a_run_is_asked_by_a_break_and_else_ended(monkeypatch):
    sent = []

    def kill(pid: int, sign: int) -> None:
        sent.append(sign)
        if sign == 1:
            raise OSError(87, "no console in common")

    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 1, raising=False)
    runs.end_process(4, "nt")
    assert sent == [1, signal.SIGTERM]


@pytest.mark.parametrize(("listed", "there"), [('"python.exe","4",', True), ("INFO: no", False)])
def test_on_windows_the_list_of_tasks_says_whether_a_run_lives(
    tmp_path, monkeypatch, listed, there
):
    (tmp_path / "pid").write_text("4")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=listed))
    assert runs.is_there(tmp_path / "pid", "nt") is there
    (tmp_path / "out").write_text('{"answer": 1}')
    assert not runs.is_there(tmp_path / "pid", "nt")  # the number is another's by now


def test_a_run_without_locks_is_found_by_another_server_and_ended(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    slow = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(runs, "called", lambda words: slow)
    place = Folder.at(folder)
    first = runs.Runs(place)
    run = first.start("demo", ["demo"], about={})
    other = runs.Runs(place)
    assert other.get(run.id).is_running
    other.cancel(run.id)
    deadline = time.monotonic() + 30
    while first.get(run.id).is_running and time.monotonic() < deadline:
        time.sleep(0.02)
    assert other.get(run.id).state == "stopped"


def test_a_command_that_cannot_be_started_is_a_refusal_and_no_fault(browser, monkeypatch):
    monkeypatch.setattr(runs, "called", lambda words: ["/no/such/program"])
    browser.show("/start")
    answer = browser.send("/start/demo")
    assert answer.status_code == 422
    assert "could not be started" in answer.text
