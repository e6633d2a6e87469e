"""A release with a folder of its own inside is known again, and what is not its own is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow.errors import PublishNotice, ReleaseError
from hedgerow.ledger.ledger import Ledger


@pytest.fixture
def plan(tmp_path: Path) -> dict[str, Any]:
    pl.DataFrame({"a": np.arange(500) % 10, "b": ["x", "y"] * 250}).write_csv(tmp_path / "t.csv")
    return {
        "data": str(tmp_path / "t.csv"),
        "attributes": {"a": {"numeric": [0, 9]}, "b": {"values": ["x", "y"]}},
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "weave", "epsilon": 1},
        "ledger": {"dataset": "woven", "cap": 4},
    }


def test_a_second_run_of_weave_is_answered_with_its_release(plan, tmp_path):
    out = tmp_path / "out"
    hedgerow.publish(plan, out=out)
    assert any(path.is_dir() for path in out.iterdir())
    with pytest.warns(PublishNotice, match="was made before"):
        hedgerow.publish(plan, out=out)
    assert Ledger().spent("woven") == 1


@pytest.mark.parametrize("wrong", ["changed", "further", "linked"])
def test_a_folder_that_is_not_as_it_was_written_is_no_answer(plan, tmp_path, wrong):
    out = tmp_path / "out"
    hedgerow.publish(plan, out=out)
    table = next(path for path in sorted(out.rglob("*.csv")) if path.parent != out)
    if wrong == "changed":
        table.write_bytes(table.read_bytes() + b"\n")
    elif wrong == "further":
        (table.parent / "more.csv").write_text("a\n")
    else:
        (table.parent / "more.csv").symlink_to(table)
    with pytest.raises(ReleaseError, match="not empty"):
        hedgerow.publish(plan, out=out)
    assert Ledger().spent("woven") == 1
