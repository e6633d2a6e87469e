"""`hedgerow draw`: rows from a release, as many as its counts say, from its groups alone."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow.csv
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.errors import HedgerowError, ReleaseError
from support.disclosure_tables import patients, plan


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    given = {
        **plan(),
        "one-record-per-person": True,
        "publish": {"method": "hedge", "epsilon": 4},
        "ledger": {"dataset": "p", "cap": 9, "file": str(folder / "ledger.sqlite")},
    }
    hedgerow.publish(given, data=patients(2_000), out=folder / "release")
    return folder / "release"


def draw(*words):
    done = CliRunner().invoke(app, ["draw", *map(str, words)])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_every_group_gives_as_many_records_as_its_count(release, tmp_path):
    out = tmp_path / "records.csv"
    told = json.loads(draw(release, "-o", out, "--json"))
    drawn = pyarrow.csv.read_csv(out)
    groups = hedgerow.Release.load(release).groups
    assert told == {"file": str(out), "records": drawn.num_rows}
    assert drawn.num_rows == int(groups.counts.sum())
    assert set(drawn.column_names) == {"age", "ward", "sex", "sick"}
    assert set(drawn["ward"].to_pylist()) <= set("ABCDE")
    assert max(drawn["age"].to_pylist()) <= 63
    classes = pyarrow.csv.read_csv(release / "release.csv")
    published = Counter()
    for sick, count in zip(classes["sick"].to_pylist(), classes["count"].to_pylist(), strict=True):
        published[sick] += count
    assert Counter(drawn["sick"].to_pylist()) == published


def test_drawing_costs_nothing_and_says_what_it_wrote(release, tmp_path):
    before = (release.parent / "ledger.sqlite").read_bytes()
    out = tmp_path / "records.csv"
    assert f"{out}: " in draw(release, "-o", out).replace("\n", "")
    assert draw(release, "-o", tmp_path / "more.csv", "--quiet") == ""
    assert (release.parent / "ledger.sqlite").read_bytes() == before


def test_a_file_that_is_there_stays_and_a_place_that_is_not_is_told(release, tmp_path):
    (tmp_path / "records.csv").write_text("mine")
    with pytest.raises(ReleaseError, match="exists"):
        draw(release, "-o", tmp_path / "records.csv")
    assert (tmp_path / "records.csv").read_text() == "mine"
    with pytest.raises(HedgerowError, match="cannot be written"):
        draw(release, "-o", tmp_path / "no" / "records.csv")
    with pytest.raises(HedgerowError):
        draw(tmp_path, "-o", tmp_path / "new.csv")
    assert not (tmp_path / "new.csv").exists()
