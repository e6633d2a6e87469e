"""publish knows a table again, names accounts plainly, and records what it has written."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys

import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow.cli.main import main
from hedgerow.errors import CapError, LedgerError, PlanError, SameRecordsError
from hedgerow.ledger.key import key_path
from hedgerow.ledger.ledger import Ledger
from hedgerow.release.release import Release


def plan_for(dataset=None, cap=9, **more):
    plan = {
        "attributes": {
            "age": {"numeric": [0, 99]},
            "ward": {"values": ["A", "B", "C"]},
            "sick": {"role": "class", "values": ["no", "yes"]},
        },
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "diffgen", "epsilon": 1, "h": 2},
        **more,
    }
    return plan if dataset is None else {**plan, "ledger": {"dataset": dataset, "cap": cap}}


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": draw.integers(0, 99, 300).tolist(),
            "ward": draw.choice(["A", "B", "C"], 300).tolist(),
            "sick": draw.choice(["no", "yes"], 300).tolist(),
        }
    )


@pytest.fixture
def table(frame, tmp_path):
    frame.write_csv(tmp_path / "visits.csv")
    return tmp_path / "visits.csv"


def copies(frame, folder):
    """Return the same records as files and dataframes of other kinds."""
    frame.write_parquet(folder / "visits.parquet")
    frame.write_csv(folder / "shuffled.tsv", separator="\t")
    return {
        "a copy": shutil.copy(folder / "visits.csv", folder / "copy.csv"),
        "a conversion": folder / "visits.parquet",
        "another delimiter": folder / "shuffled.tsv",
        "a dataframe": frame.sample(fraction=1, shuffle=True, seed=5),
        "numbers of another kind": frame.with_columns(pl.col("age").cast(pl.Float32)),
        "further columns": frame.with_columns(extra=pl.lit("x")),
        "other order of columns": frame.select("sick", "age", "ward"),
    }


def test_copies_and_conversions_under_a_second_name_are_refused(frame, table, tmp_path):
    hedgerow.publish(plan_for("visits"), data=table)
    for engine in ("memory", "stream"):
        for kind, data in copies(frame, tmp_path).items():
            with pytest.raises(SameRecordsError, match="as data set 'visits'"):
                hedgerow.publish(plan_for("visits-two"), data=data, engine=engine)
            assert [account.name for account in Ledger().accounts()] == ["visits"], kind
    hedgerow.publish(plan_for("visits"), data=frame)  # its own name is right for all of them
    assert Ledger().spent("visits") == 2


def test_another_plan_for_the_same_table_is_no_way_round(table):
    hedgerow.publish(plan_for("visits"), data=table)
    other = plan_for("second")
    other["attributes"]["age"] = {"numeric": [18, 65], "step": 5}
    del other["attributes"]["ward"]
    other["attributes"]["ward"] = {"role": "drop"}
    with pytest.raises(SameRecordsError):
        hedgerow.publish(other, data=table)


def test_an_edited_table_is_not_recognised(frame, table):
    hedgerow.publish(plan_for("visits"), data=table)
    hedgerow.publish(plan_for("second"), data=frame.head(299))
    assert len(Ledger().accounts()) == 2


def test_one_account_after_a_person_has_said_so(frame, table):
    hedgerow.publish(plan_for("visits"), data=table)
    Ledger().same_people("visits", "copy")
    release = hedgerow.publish(plan_for("copy"), data=frame)
    assert release.certificate.ledger.dataset == "visits"
    assert Ledger().spent("visits") == 2


def test_baskets_are_recognised_too(tmp_path):
    draw = np.random.default_rng(4)
    lines = [draw.choice(20, size=3, replace=False) + 1 for _ in range(200)]
    for name in ("shop.dat", "copy.dat"):
        (tmp_path / name).write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
    plan = {
        "items": {"universe": [1, 20]},
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "diffpart", "epsilon": 1},
    }
    hedgerow.publish({**plan, "ledger": {"dataset": "shop", "cap": 9}}, data=tmp_path / "shop.dat")
    for engine in ("memory", "stream"):
        with pytest.raises(SameRecordsError):
            hedgerow.publish(
                {**plan, "ledger": {"dataset": "other", "cap": 9}},
                data=tmp_path / "copy.dat",
                engine=engine,
            )


def test_two_different_files_of_one_name_do_not_share_an_account_unseen(frame, table, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    other = tmp_path / "elsewhere" / "visits.csv"
    frame.head(200).write_csv(other)
    hedgerow.publish(plan_for(), data=table)
    with pytest.raises(CapError) as refused:
        hedgerow.publish(plan_for(), data=other)
    (note,) = refused.value.__notes__
    assert "every file called 'visits.csv'" in note
    assert "ledger: {dataset: NAME, cap: CAP}" in note
    with pytest.raises(CapError) as refused:
        hedgerow.publish(plan_for("visits.csv", cap=1), data=other)  # a person chose the name
    assert not getattr(refused.value, "__notes__", None)


def test_a_file_does_not_join_the_account_of_another_that_has_room(frame, table, tmp_path):
    hedgerow.publish(plan_for("visits.csv", cap=3), data=table)
    other = tmp_path / "elsewhere" / "visits.csv"
    other.parent.mkdir()
    frame.head(200).write_csv(other)
    plan = plan_for()
    plan["publish"] = {**plan["publish"], "epsilon": 2}
    Ledger().set_cap("visits.csv", 2, "less")
    with pytest.raises(CapError):
        hedgerow.publish(plan, data=other)
    assert Ledger().spent("visits.csv") == 1


@pytest.mark.parametrize(
    ("file", "name"),
    [("Visits 2026.csv", "visits-2026.csv"), ("été_1.csv", "ete-1.csv"), ("a--b.csv", "a--b.csv")],
)
def test_the_name_of_a_file_becomes_a_plain_one(table, tmp_path, file, name):
    named = shutil.copy(table, tmp_path / file)
    release = hedgerow.publish(plan_for(), data=named)
    assert release.certificate.ledger.dataset == name
    assert [account.name for account in Ledger().accounts()] == [name]


def test_a_file_without_a_plain_name_asks_for_one(table, tmp_path):
    named = shutil.copy(table, tmp_path / "\u6570\u636e.csv")
    with pytest.raises(LedgerError, match="makes no plain name") as refused:
        hedgerow.publish(plan_for(), data=named)
    assert "ledger: {dataset: NAME" in refused.value.do


def test_a_seeded_run_needs_no_key_no_ledger_and_no_name(frame):
    hedgerow.publish(plan_for(), data=frame, seed=1)
    assert not Ledger().accounts()
    assert not key_path(Ledger().path).exists()


@pytest.mark.parametrize("method", ["mondrian", "tds", "full-domain"])
def test_a_method_that_books_nothing_needs_no_name(frame, method, tmp_path):
    plan = plan_for()
    plan["publish"] = {"method": method, "k": 5}
    release = hedgerow.publish(plan, data=frame, out=tmp_path / "release")
    assert release.certificate.ledger is None
    assert Release.load(tmp_path / "release").n_rows > 0


def test_a_private_method_still_asks_for_the_name_of_a_dataframe(frame):
    with pytest.raises(PlanError, match="needs a name on the ledger"):
        hedgerow.publish(plan_for(), data=frame)


def test_no_file_of_a_release_holds_a_digest_of_a_column(table, tmp_path):
    import sqlite3
    from contextlib import closing

    hedgerow.publish(
        plan_for("visits"),
        data=table,
        out=hedgerow.Output(folder=tmp_path / "release", records=True),
    )
    with closing(sqlite3.connect(Ledger().path)) as database:
        seen = database.execute("SELECT digest, name FROM seen WHERE tab > 0").fetchall()
    assert [name for _, name in seen] == ["column age", "column sick", "column ward"]
    for path in (tmp_path / "release").rglob("*"):
        assert not any(digest.encode() in path.read_bytes() for digest, _ in seen)


def test_an_entry_has_the_digest_of_what_its_own_run_wrote(table, tmp_path, monkeypatch):
    """Two runs with --force into one folder: the second is done before the first is noted."""
    out = tmp_path / "release"
    released, second = Ledger.released, []

    def late(ledger, entry_id, digest):
        if not second:
            second.append(True)
            hedgerow.publish(
                plan_for("visits"), data=table, out=hedgerow.Output(folder=out, force=True)
            )
        return released(ledger, entry_id, digest)

    monkeypatch.setattr(Ledger, "released", late)
    first = hedgerow.publish(plan_for("visits"), data=table, out=out)
    one, two = Ledger().entries("visits")
    there = hashlib.sha256((out / "certificate.json").read_bytes()).hexdigest()
    assert two.release_digest == there != one.release_digest
    assert first.certificate.ledger.entry == one.id
    assert json.loads((out / "certificate.json").read_text())["ledger"]["entry"] == two.id


def test_the_refusal_is_one_message_with_exit_code_3(table, tmp_path, monkeypatch, capsys):
    hedgerow.publish(plan_for("visits"), data=table)
    (tmp_path / "plan.json").write_text(json.dumps(plan_for("copy")))
    given = ["publish", str(tmp_path / "plan.json"), "--data", str(table), "-q"]
    monkeypatch.setattr(sys, "argv", ["hedgerow", *given, "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().err
    assert end.value.code == 3
    assert "hedgerow ledger same-people visits copy" in said
    assert not (tmp_path / "out").exists()
