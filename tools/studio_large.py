"""Publish a large table through the studio's page: ``python tools/studio_large.py 10000000``.

Watches the progress, cancels one run, kills the server under another (which goes on, and is found
again by the next server), and kills that: what is left is compared with what killing a `publish`
in a terminal leaves.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv

PLAN = """\
data: {data}
records: {records}
attributes:
  age: {{numeric: [0, 99]}}
  ward: {{values: [A, B, C, D]}}
  stay: {{numeric: [0, 40]}}
  returned: {{role: class, values: ["no", "yes"]}}
one-record-per-person: true
confirmed: true
publish: {{method: hedge, epsilon: 1}}
ledger: {{dataset: visits, cap: 20, file: ledger.sqlite}}
"""
HEDGEROW = [sys.executable, "-P", "-c", "from hedgerow.cli.main import main; main()"]


def write_table(path: Path, n_rows: int) -> None:
    """Write made-up visits, a million at a time."""
    rng = np.random.default_rng(7)
    with path.open("wb") as out:
        for first in range(0, n_rows, 1_000_000):
            n = min(1_000_000, n_rows - first)
            age = np.clip(rng.normal(55, 20, n), 0, 99).astype(np.int64)
            wards, answers = pa.array(["A", "B", "C", "D"]), pa.array(["no", "yes"])
            returned = rng.random(n) < 0.1 + age / 400
            table = pa.table(
                {
                    "age": age,
                    "ward": wards.take(pa.array(rng.integers(0, 4, n))),
                    "stay": np.clip(rng.gamma(2, 2.2, n), 0, 40).astype(np.int64),
                    "returned": answers.take(pa.array(returned.astype(np.int64))),
                }
            )
            options = pyarrow.csv.WriteOptions(include_header=not first)
            pyarrow.csv.write_csv(table, out, options)


class Page:
    """A server of its own, and a browser that has entered it."""

    def __init__(self, folder: Path) -> None:
        self.server = subprocess.Popen(
            [*HEDGEROW, "studio", str(folder), "--no-open", "--json"],
            stdout=subprocess.PIPE,
            text=True,
        )
        if self.server.stdout is None:
            raise RuntimeError("the studio says nothing")
        told = json.loads(self.server.stdout.readline())
        url = httpx.URL(told["fallback"] or told["url"])
        self.origin = f"http://{url.host}:{url.port}"
        self.client = httpx.Client(base_url=self.origin, timeout=60)
        self.client.get(str(url)).raise_for_status()

    def shown(self) -> tuple[str, dict[str, str]]:
        """Return the page Publish, and the headers that its changes carry."""
        text = self.client.get("/publish?plan=plan.yaml").raise_for_status().text
        found = re.search(r"hx-headers='(.*?)'", text)
        headers = json.loads(found[1].replace("&#34;", '"')) if found else {}
        return text, {**headers, "Origin": self.origin, "HX-Request": "true"}

    def publish(self, out: str) -> str:
        """Press *Publish*; return the run's name."""
        text, headers = self.shown()
        shown = re.findall(r'name="fingerprint" value="(\w+)"', text)
        if not shown:
            self.kill()
            raise RuntimeError(f"the page does not publish: {text[-3000:]}")
        fingerprint = shown[0]
        sent = {"fingerprint": fingerprint, "out": out, "again": "yes"}
        answer = self.client.post("/publish/start?plan=plan.yaml", data=sent, headers=headers)
        return str(re.findall(r"/runs/([0-9a-f-]+)/events", answer.raise_for_status().text)[0])

    def cancel(self, run: str) -> None:
        """Press *Cancel*."""
        self.client.post(f"/runs/{run}/cancel", headers=self.shown()[1]).raise_for_status()

    def events(self, run: str) -> Iterator[dict[str, Any]]:
        """Yield what the page hears of a run, to its end."""
        with self.client.stream("GET", f"/runs/{run}/events", timeout=600) as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    def kill(self) -> None:
        """End the server at once."""
        self.server.kill()
        self.server.wait()


def left(folder: Path) -> dict[str, Any]:
    """Return what lies in a folder, and the states of the ledger's entries."""
    names = sorted(path.name for path in folder.iterdir() if path.name != ".hedgerow-studio")
    words = [*HEDGEROW, "ledger", "show", "--ledger", str(folder / "ledger.sqlite"), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout) if done.returncode == 0 else {}
    entries = [e["state"] for each in told.get("datasets", []) for e in each["entries"]]
    return {"files": names, "entries": entries}


def half_way(page: Page, run: str) -> list[dict[str, Any]]:
    """Return the events up to the first one that says how far the work on the data is."""
    seen = []
    for event in page.events(run):
        seen.append(event)
        if event["state"] != "running" or (event["fraction"] or 0) > 0.3:
            break
    return seen


def trial(folder: Path, data: Path, n_rows: int) -> dict[str, Any]:
    """Return what was seen."""
    folder.mkdir()
    plan = PLAN.format(data=os.path.relpath(data, folder), records=n_rows)
    (folder / "plan.yaml").write_text(plan, encoding="utf-8")
    found: dict[str, Any] = {}
    page = Page(folder)
    cancelled = page.publish("release")
    found["before it was cancelled"] = half_way(page, cancelled)[-1]
    page.cancel(cancelled)
    found["cancelled"] = list(page.events(cancelled))[-1]["state"]
    found["left by cancelling"] = left(folder)
    running = page.publish("release")
    found["when the server was killed"] = half_way(page, running)[-1]
    page.kill()
    again = Page(folder)
    told = next(iter(again.events(running)))
    found["the next server finds"] = told
    pid = int((folder / ".hedgerow-studio" / "runs" / running / "pid").read_text())
    os.kill(pid, signal.SIGKILL)
    found["then killed"] = list(again.events(running))[-1]["state"]
    found["left by killing"] = left(folder)
    whole = again.publish("release")
    seen = list(again.events(whole))
    steps: list[str] = []
    for event in seen:
        if event["step"] and event["step"] not in steps:
            steps.append(event["step"])
    found |= {"published": seen[-1]["state"], "events": len(seen), "steps": steps}
    found["left by publishing"] = left(folder)
    again.kill()
    return found


def killed_in_a_terminal(folder: Path, data: Path, n_rows: int) -> dict[str, Any]:
    """Return what killing `publish` at about the same place leaves."""
    folder.mkdir()
    plan = PLAN.format(data=os.path.relpath(data, folder), records=n_rows)
    (folder / "plan.yaml").write_text(plan, encoding="utf-8")
    progress = folder.parent / "progress"
    progress.touch()
    process = subprocess.Popen(
        [*HEDGEROW, "publish", "plan.yaml", "--out", "release", "--json"],
        cwd=folder,
        env={**os.environ, "HEDGEROW_PROGRESS": str(progress)},
        stdout=subprocess.DEVNULL,
    )
    while process.poll() is None:
        lines = progress.read_text().splitlines()
        if lines and (json.loads(lines[-1])["fraction"] or 0) > 0.3:
            break
        time.sleep(0.05)
    process.kill()
    process.wait()
    return left(folder)


def main() -> None:
    """Run the trial, and print what was seen."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("rows", type=int, nargs="?", default=10_000_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        write_table(place / "visits.csv", given.rows)
        found = trial(place / "page", place / "visits.csv", given.rows)
        found["left by killing publish"] = killed_in_a_terminal(
            place / "terminal", place / "visits.csv", given.rows
        )
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
