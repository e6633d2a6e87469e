"""Recipes in other languages, and pages that are made from others."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import hedgerow


def stays_plan():
    return {
        "attributes": {
            "age": {"numeric": [18, 99]},
            "ward": {"values": ["cardiology", "medicine", "surgery"]},
            "returned": {"role": "class", "values": ["no", "yes"]},
        },
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "hedge", "epsilon": 1},
    }


def test_the_recipe_in_r_runs_on_a_release(root, tmp_path):
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("there is no Rscript: install R to run its recipe")
    rng = np.random.default_rng(7)
    wards = ["cardiology", "medicine", "surgery"]
    stays = pd.DataFrame({"age": rng.integers(18, 95, 4000), "ward": rng.choice(wards, 4000)})
    chance = 0.1 + 0.4 * (stays["age"] > 70)
    stays["returned"] = np.where(rng.random(4000) < chance, "yes", "no")
    made = hedgerow.publish(stays_plan(), data=stays, seed=1, out=tmp_path / "release")
    text = (root / "docs" / "using.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```r\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [program, "-e", script],
        cwd=tmp_path / "release",
        capture_output=True,
        text=True,
        check=True,
    )
    shown = re.search(r"medicine\s+([\d.]+)\s+([\d.]+)", done.stdout)
    assert shown, done.stdout
    table = (
        made.to_pandas()
        .query("ward == 'medicine'")
        .groupby("returned", observed=False)["count"]
        .sum()
    )
    assert float(shown[2]) == round(table["yes"] / table.sum(), 2)


def test_the_gallery_shows_the_papers_figures_as_their_pages_do(root):
    made = subprocess.run(
        [sys.executable, "tools/gallery.py"], cwd=root, capture_output=True, text=True, check=True
    )
    page = (root / "research" / "gallery.md").read_text(encoding="utf-8")
    assert made.stdout == page, "run: python tools/gallery.py > research/gallery.md"
    assert page.count("![") > 20
