"""A first look in a real browser and nothing else; the whole walk is `make pages`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
MAIN = "from hedgerow.cli.main import main; main()"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions"),
    *("--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage"),
)


@contextmanager
def started(folder):
    """Yield the address that a studio prints."""
    words = [sys.executable, "-P", "-c", MAIN, "studio", str(folder), "--no-open"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.communicate()


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on the PATH")
def test_the_printed_address_leads_a_browser_to_pages_whose_scripts_run(folder, tmp_path):
    with started(folder) as address:
        done = subprocess.run(
            [
                CHROMIUM,
                *FLAGS,
                f"--user-data-dir={tmp_path / 'profile'}",
                "--virtual-time-budget=15000",
                "--dump-dom",
                address,
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert "<h1>Start</h1>" in done.stdout, done.stderr[-2000:]
    assert "plan.yaml" in done.stdout
    # What the ledger has left comes later, by htmx: the content policy lets the studio's own
    # scripts run.
    assert "Reading the ledger" not in done.stdout
    assert "Refused to" not in done.stderr
