"""A run as in a container: another user, a package that cannot be written to, and no home."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import hedgerow
from hedgerow.count.memory.placed import COMPILED_FROM
from hedgerow.plan.defaults import DEFAULT_METHOD

NOBODY = 65534
ENTRY = "from hedgerow.cli.main import main; main()"
PLAN = """\
data: data.csv
attributes:
  age: {numeric: [0, 99]}
  ward: {values: [A, B, C, D]}
  sick: {role: class, values: ["no", "yes"]}
protects: records
confirmed: true
publish: {epsilon: 1}
ledger: {dataset: wards, cap: 2, file: ledger.sqlite}
"""
PLACES = [Path(hedgerow.__file__).parents[1], Path(np.__file__).parents[1]]
SETTING = {
    "HOME": "/nonexistent",
    "PATH": os.defpath,
    "PYTHONPATH": os.pathsep.join(str(place) for place in PLACES),
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of nobody's, where nobody may write."""
    made = Path(tempfile.mkdtemp(prefix="hedgerow-container-"))
    (made / "tmp").mkdir(mode=0o700)
    for path in (made, made / "tmp"):
        os.chown(path, NOBODY, NOBODY)
    yield made
    shutil.rmtree(made)


def as_nobody(python: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, *arguments],
        cwd=folder,
        env={**SETTING, "TMPDIR": str(folder / "tmp")},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )


def a_python_for_nobody(folder: Path) -> str:
    same = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, shutil.which(same, path=os.defpath)):
        try:
            if python and not as_nobody(python, folder, "-c", "import hedgerow, numba").returncode:
                return python
        except OSError:
            continue
    pytest.skip("no interpreter that another user may run")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes another user"
)
@pytest.mark.parametrize("method", ["weave", "hedge"])
def test_a_large_table_is_published_without_a_home(folder: Path, method: str) -> None:
    python = a_python_for_nobody(folder)
    assert not os.access("/nonexistent", os.F_OK)
    draws = np.random.default_rng(7)
    n_records = COMPILED_FROM + 1000
    ages, wards = draws.integers(0, 100, n_records), draws.integers(0, 4, n_records)
    lines = [
        f"{age},{'ABCD'[ward]},{'yes' if age > 60 else 'no'}"
        for age, ward in zip(ages.tolist(), wards.tolist(), strict=True)
    ]
    (folder / "data.csv").write_text("age,ward,sick\n" + "\n".join(lines) + "\n")
    (folder / "plan.yaml").write_text(PLAN)

    named = [] if method == DEFAULT_METHOD else ["--method", method]
    run = as_nobody(python, folder, "-c", ENTRY, "publish", "plan.yaml", *named, "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["method"] == method
    cache = folder / "tmp" / f"hedgerow-compiled-{NOBODY}"
    assert cache.stat().st_mode & 0o777 == 0o700
    assert list(cache.rglob("*.nbi"))
