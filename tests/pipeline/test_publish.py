from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hedgerow
from hedgerow.errors import CapError, PlanError, RefusedError, UnconfirmedPlanError
from hedgerow.ledger.ledger import Ledger
from hedgerow.pipeline.prepare import prepare
from hedgerow.release.records import FROM_BOXES
from hedgerow.release.release import Release
from support.once_booked import once_booked

PLAN = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "ward": {"values": ["A", "B", "C"]},
        "name": {"role": "identifier"},
        "sick": {"role": "class", "values": ["no", "yes"]},
    },
    "protects": "records",
    "confirmed": True,
    "publish": {"method": "diffgen", "epsilon": 1, "h": 4},
    "ledger": {"dataset": "wards", "cap": 2},
}


def table(n=400):
    rng = np.random.default_rng(5)
    age = rng.integers(0, 100, n)
    return {
        "age": age,
        "ward": rng.choice(["A", "B", "C"], n),
        "name": [f"person {i}" for i in range(n)],
        "sick": np.where(rng.random(n) < age / 100, "yes", "no"),
    }


def with_plan(**changes):
    return {**PLAN, **changes}


def test_a_release_is_written_booked_and_read_back(tmp_path):
    release = hedgerow.publish(
        PLAN,
        data=pd.DataFrame(table()),
        out=hedgerow.Output(folder=tmp_path / "release", records=True, parquet=True),
    )
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == [
        "certificate.json",
        "datapackage.json",
        "dictionary.csv",
        "recoding.json",
        "records.csv",
        "release.csv",
        "release.parquet",
        "report.html",
    ]
    [entry] = Ledger().entries("wards")
    assert (entry.state, entry.epsilon) == ("released", 1)
    assert release.certificate.ledger.entry == entry.id
    again = Release.load(tmp_path / "release")
    assert again.groups.counts.tolist() == release.groups.counts.tolist()
    assert "name" not in release.to_arrow().column_names


def test_the_certificate_adds_up_and_matches_its_schema(tmp_path, root):
    import jsonschema

    hedgerow.publish(PLAN, data=pd.DataFrame(table()), out=tmp_path / "release")
    certificate = json.loads((tmp_path / "release" / "certificate.json").read_text())
    schema = json.loads((root / "docs" / "certificate.schema.json").read_text())
    jsonschema.validate(certificate, schema)
    shares = [Fraction(line["share"]) * line["times"] for line in certificate["budget"]["spends"]]
    assert sum(shares) == 1
    assert certificate["method"]["settings"]["score"] == "gini"
    assert certificate["guarantee"]["private"] is True


@pytest.mark.parametrize(
    "kind", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_every_dataframe_gives_the_same_seeded_release(kind):
    release = hedgerow.publish(PLAN, data=kind(table()), seed=7)
    again = hedgerow.publish(PLAN, data=pl.DataFrame(table()), seed=7)
    assert release.to_arrow().equals(again.to_arrow())


def test_a_seeded_release_is_stamped_and_not_booked(tmp_path):
    release = hedgerow.publish(PLAN, data=pd.DataFrame(table()), seed=1, out=tmp_path / "release")
    assert release.certificate.guarantee.private is False
    assert release.certificate.randomness.stamp == "reproducible, not private"
    assert release.certificate.ledger is None
    assert Ledger().accounts() == ()
    assert "reproducible, not private" in (tmp_path / "release" / "report.html").read_text().lower()


def test_releases_that_are_not_seeded_differ():
    plan = with_plan(ledger={"dataset": "wards", "cap": 50})
    counts = {
        tuple(hedgerow.publish(plan, data=pd.DataFrame(table())).groups.counts.tolist())
        for _ in range(4)
    }
    assert len(counts) > 1


def test_a_plan_that_nobody_confirmed_is_refused():
    with pytest.raises(UnconfirmedPlanError):
        hedgerow.publish(with_plan(confirmed=False), data=pd.DataFrame(table()))
    assert Ledger().accounts() == ()


def test_the_cap_is_kept():
    frame = pd.DataFrame(table())
    hedgerow.publish(PLAN, data=frame)
    hedgerow.publish(PLAN, data=frame, epsilon="1/2")
    with pytest.raises(CapError):
        hedgerow.publish(PLAN, data=frame)
    assert Ledger().spent("wards") == Fraction(3, 2)


def test_without_a_ledger_section_a_file_can_be_released_once(tmp_path):
    plan = {key: value for key, value in PLAN.items() if key != "ledger"}
    path = tmp_path / "wards.parquet"
    pl.DataFrame(table()).write_parquet(path)
    hedgerow.publish(plan, data=path)
    with pytest.raises(CapError):
        hedgerow.publish(plan, data=path)


def test_a_dataframe_needs_a_name_on_the_ledger():
    plan = {key: value for key, value in PLAN.items() if key != "ledger"}
    with pytest.raises(PlanError, match="name on the ledger"):
        hedgerow.publish(plan, data=pd.DataFrame(table()))


def test_a_release_that_fails_after_its_booking_stays_booked(tmp_path, monkeypatch):
    def full(*_args, **_settings):
        raise OSError(28, "No space left on device")

    once_booked(monkeypatch, lambda: monkeypatch.setattr(Release, "write", full))
    with pytest.raises(OSError, match="No space"):
        hedgerow.publish(PLAN, data=pd.DataFrame(table()), out=tmp_path / "release")
    [entry] = Ledger().entries("wards")
    assert (entry.state, entry.note) == ("failed", "OSError")
    assert Ledger().spent("wards") == 1
    assert not (tmp_path / "release").exists()


def test_booking_comes_before_noise(monkeypatch):
    seen = []

    class Watching:
        reproducible = False

        def words(self, n):
            seen.append(Ledger().spent("wards"))
            return np.random.default_rng(1).integers(0, 2**64, n, dtype=np.uint64)

    monkeypatch.setattr("hedgerow.pipeline.publish.SystemSource", Watching)
    hedgerow.publish(PLAN, data=pd.DataFrame(table()))
    assert seen
    assert set(seen) == {Fraction(1)}


def test_an_empty_table_can_be_published():
    empty = pd.DataFrame(table()).iloc[:0]
    release = hedgerow.publish(PLAN, data=empty, seed=3)
    assert release.certificate.data.noisy_total >= 0


def test_settings_override_the_plan():
    ready = prepare(PLAN, epsilon="1/3", faithful=True, h=7)
    assert (ready.epsilon, ready.settings.h, ready.method.faithful) == (Fraction(1, 3), 7, True)
    with pytest.raises(PlanError, match="does not have this setting"):
        prepare(PLAN, colour="red")


def test_a_seed_is_refused_by_the_ledger_itself():
    with pytest.raises(RefusedError):
        Ledger().book("wards", 1, cap=2, method="diffgen", plan_digest="0" * 64, reproducible=True)


@pytest.mark.audit  # half a minute; tests/pipeline/test_kills.py kills some in every run
def test_killed_at_any_point_there_is_never_a_release_without_a_booking(tmp_path):
    pl.DataFrame(table(20_000)).write_csv(tmp_path / "wards.csv")
    plan = {**PLAN, "data": "wards.csv"}
    plan["ledger"] = {"dataset": "wards", "cap": 40, "file": "ledger.sqlite"}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    code = (
        "import sys, hedgerow\n"
        "plan = hedgerow.load_plan('plan.json')\n"
        "print('ready', flush=True)\n"
        "for number in range(1000):\n"
        "    hedgerow.publish(plan, out=f'{sys.argv[1]}-{number}')\n"
    )
    chance = random.Random(11)
    for attempt in range(6):
        child = subprocess.Popen(
            [sys.executable, "-c", code, f"release-{attempt}"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HEDGEROW_LEDGER": str(tmp_path / "ledger.sqlite")},
        )
        assert child.stdout.readline() == b"ready\n"
        started = time.monotonic()
        while not list(tmp_path.glob("release-*")) and time.monotonic() < started + 60:
            time.sleep(0.05)  # the first child is left alone until it has released something
        time.sleep(0.8 * chance.random())
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        released = [path for path in tmp_path.glob("release-*") if path.is_dir()]
        whole = [path for path in released if (path / "certificate.json").is_file()]
        assert released == whole
        entries = Ledger(tmp_path / "ledger.sqlite").entries("wards") if released else ()
        booked = {entry.id for entry in entries}
        certified = {
            json.loads((path / "certificate.json").read_text())["ledger"]["entry"] for path in whole
        }
        assert len(certified) == len(whole)
        assert certified <= booked
    assert whole  # some releases were made before the kills


@pytest.mark.parametrize(
    ("method", "settings"), [("diffgen", {"h": 2}), ("hedge", {}), ("weave", {})]
)
def test_records_sampled_from_boxes_come_with_a_notice(tmp_path, method, settings):
    plan = {**PLAN, "publish": {"method": method, "epsilon": 1, **settings}}
    notices = []
    hedgerow.publish(
        plan,
        data=pd.DataFrame(table()),
        out=hedgerow.Output(folder=tmp_path / "release", records=True),
        seed=1,
        notice=notices.append,
    )
    assert (FROM_BOXES in notices) is (method != "weave")
