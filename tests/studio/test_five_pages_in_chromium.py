"""Taxonomies, Release, Compare, Disclose and Ledger in a real browser; slow, part of the audit."""

from __future__ import annotations

import json
import os
import subprocess
import time

import pyarrow.csv
import pytest

import hedgerow
from hedgerow.studio.runs import called
from hedgerow.taxonomy.files import write_taxonomy
from hedgerow.taxonomy.tree import Taxonomy
from support.disclosure_tables import patients, plan


def prepared(folder):
    """Fill a folder with a plan for everything, its data, a taxonomy and two booked releases."""
    (folder / "taxonomies").mkdir(parents=True)
    # With so many records, two attributes or more are divided whatever the noise is.
    pyarrow.csv.write_csv(patients(3_000), folder / "patients.csv")
    tree = Taxonomy.from_nested("*", {"surgery": ["A", "B"], "other": ["C", "D", "E"]})
    write_taxonomy(tree, folder / "taxonomies" / "ward.csv")
    given = {
        **plan(utility={"at-least": "half"}),
        "data": "patients.csv",
        "records": 3_000,
        "one-record-per-person": True,
        "publish": {"method": "hedge", "epsilon": 2},
        "ledger": {"dataset": "patients-2026", "cap": 9, "file": "ledger.sqlite"},
    }
    given["attributes"] = {**given["attributes"], "ward": {"taxonomy": "taxonomies/ward.csv"}}
    for method in ("weave", "hedge"):
        given["publish"] = {"method": method, "epsilon": 2}
        (folder / "plan.yaml").write_text(json.dumps(given))  # which is YAML, too
        hedgerow.publish(folder / "plan.yaml", out=folder / f"release-{method}")


@pytest.mark.audit
def test_five_pages_by_keyboard_and_by_mouse_in_both_themes_and_widths(root, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "tools"))
    from pages import NotThereError, chromium, packages

    try:
        browser, scratch = chromium(), packages(root / ".pages")
    except NotThereError as error:
        pytest.skip(str(error))
    folder = tmp_path / "register"
    prepared(folder)
    command = called(["studio", str(folder), "--no-open", "--json"])
    out = tmp_path / "address"
    with out.open("wb") as file:
        plain = {**os.environ, "PYTHONUNBUFFERED": "1"}
        server = subprocess.Popen(command, stdout=file, cwd=folder, env=plain)
    try:
        deadline = time.monotonic() + 60
        while not out.read_bytes().strip().endswith(b"}") and time.monotonic() < deadline:
            time.sleep(0.1)
        told = json.loads(out.read_text())
        walk = subprocess.run(
            ["node", str(root / "tools" / "studio_pages.mjs"), told["fallback"] or told["url"]],
            cwd=scratch,
            env={**os.environ, "CHROMIUM": browser},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        server.terminate()
        server.wait()
    found = json.loads(walk.stdout)
    assert not found["wrong"], "\n".join(found["wrong"])
    assert len(found["done"]) == 6 + 4 * 13
