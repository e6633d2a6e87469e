"""A browser that plays by the rules, for tests of the studio, and folders for it to work in."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient
from typer.testing import CliRunner

from hedgerow.cli.main import app
from hedgerow.errors import HedgerowError
from hedgerow.studio.app import studio_app
from hedgerow.studio.folder import Folder
from hedgerow.studio.runs import called
from hedgerow.studio.security import PAGE_TOKEN, StartKeys

PORT = 4711

PLAN = """\
# A plan that somebody wrote, with remarks.
data: visits.csv  # the export
records: 20000

attributes:
  patient: {role: identifier}  # left out: an identifier
  age: {numeric: [0, 99], step: 1}  # bounds: numbers
  # wards as on the hospital's site
  ward: {values: [A, B, C]}  # list: in 20 records or more
  returned: {role: class, values: ["no", "yes"]}  # public

one-record-per-person: true
confirmed: false

publish: {method: hedge, epsilon: 1}
ledger: {dataset: visits-2026, cap: 2, file: ledger.sqlite}
"""


def answered_here(folder: Folder, words: Sequence[str]) -> dict[str, Any]:
    """Answer as `hedgerow.studio.runs.command_answer` does, without a process of its own."""
    with chdir(folder.root):
        done = CliRunner().invoke(app, called(words)[4:])
    if isinstance(done.exception, HedgerowError):
        raise done.exception
    return dict(json.loads(done.stdout))


class Browser:
    """One browser that has entered: it has the cookie, and the token of the page it shows."""

    def __init__(self, folder: Path, *, enter: bool = True) -> None:
        self.keys = StartKeys(port=PORT)
        self.app: Starlette = studio_app(Folder.at(folder), self.keys)
        self.host = self.keys.hosts[0]
        self.client = TestClient(self.app, base_url=f"http://{self.host}")
        self.token = ""
        if enter:
            assert self.client.get(self.keys.address().partition(self.host)[2]).status_code == 200

    @property
    def runs(self) -> Any:
        """The runs of the folder."""
        return self.app.state.studio.runs

    def show(self, path: str, *, status: int = 200) -> str:
        """Return a page as a person would see it, and take its token."""
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        found = re.search(r"hx-headers='(.*?)'", answer.text)
        if found:
            self.token = json.loads(found[1].replace("&#34;", '"'))[PAGE_TOKEN]
        return answer.text

    def send(self, path: str, data: dict[str, Any] | None = None, **headers: str) -> Any:
        """Return the answer to a change, sent as htmx would from the page that is shown."""
        usual = {"Origin": f"http://{self.host}", "HX-Request": "true", PAGE_TOKEN: self.token}
        return self.client.post(path, data=data or {}, headers={**usual, **headers})


def hospital(folder: Path) -> Path:
    """Return a folder with a small table and a plan for it."""
    rows = [f"P{n},{n % 90},{'ABC'[n % 3]},{'no' if n % 4 else 'yes'}" for n in range(600)]
    (folder / "visits.csv").write_text(
        "patient,age,ward,returned\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return folder
