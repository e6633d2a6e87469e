"""Publishing reads a file as the plan says, refuses before booking, and never guesses."""

from __future__ import annotations

import pytest

import hedgerow
from hedgerow.errors import DataError
from hedgerow.ledger.ledger import Ledger
from hedgerow.plan.load import plan_digest, plan_of

ROWS = [("Köln", "1,5", "ja"), ("Bern", "0,5", "nein")] * 40


def plan(tmp_path, **reading):
    said = {"reading": reading} if reading else {}
    return {
        **said,
        "attributes": {
            "ort": {"values": ["Köln", "Bern"]},
            "wert": {"numeric": [0, 2], "step": "1/2"},
            "treu": {"role": "class", "values": ["ja", "nein"]},
        },
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "diffgen", "epsilon": 1, "h": 3},
        "ledger": {"dataset": "kunden", "cap": 9, "file": str(tmp_path / "ledger.sqlite")},
    }


def written(path, *, encoding="windows-1252", extra=()):
    lines = [";".join(row) for row in [("ort", "wert", "treu"), *ROWS]]
    path.write_bytes("\n".join([*lines, ""]).encode(encoding) + b"".join(extra))
    return path


FORM = {"encoding": "windows-1252", "delimiter": "semicolon", "decimal": "comma"}


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_file_is_read_as_the_plan_says_and_the_certificate_repeats_it(tmp_path, engine):
    data = written(tmp_path / "kunden.csv")
    release = hedgerow.publish(plan(tmp_path, **FORM), data=data, seed=1, engine=engine)
    plain = tmp_path / "plain.csv"
    lines = [",".join([a, b.replace(",", "."), c]) for a, b, c in ROWS]
    plain.write_text("ort,wert,treu\n" + "\n".join(lines) + "\n")
    same = hedgerow.publish(plan(tmp_path), data=plain, seed=1)
    assert release.to_pandas().equals(same.to_pandas())
    said = [each.what for each in release.certificate.assumed_public]
    assert any("encoding windows-1252, delimiter semicolon, decimal comma" in what for what in said)
    assert not any("how the file" in each.what for each in same.certificate.assumed_public)


@pytest.mark.parametrize(
    ("form", "extra"),
    [
        ({}, ()),
        ({"encoding": "windows-1252"}, ()),
        (FORM, [b'"K\xf6ln;1,5;ja\n']),
        (FORM, [b"K\xf6ln;1,5\n"]),
        (FORM, [b"\x81;1,5;ja\n"]),
        ({**FORM, "encoding": "utf-8"}, ()),
        ({**FORM, "decimal": "point"}, ()),
    ],
)
def test_a_file_that_is_written_otherwise_is_refused_before_anything_is_booked(
    tmp_path, form, extra
):
    data = written(tmp_path / "kunden.csv", extra=extra)
    with pytest.raises(DataError):
        hedgerow.publish(plan(tmp_path, **form), data=data, out=tmp_path / "release")
    assert not (tmp_path / "release").exists()
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert not any(ledger.entries(each.name) for each in ledger.accounts())


def test_malformed_records_are_left_out_one_by_one(tmp_path):
    extra = [
        b'"K\xf6ln;1,5;ja\n',
        b"K\xf6ln;1,5\n",
        b"\x81;1,5;ja\n",
        b"x\0\n",
        b"Bern;0,5;nein\r\n",
    ]
    told = {**FORM, "malformed": "drop"}
    spoilt = written(tmp_path / "a.csv", extra=extra)
    release = hedgerow.publish(plan(tmp_path, **told), data=spoilt, seed=1)
    clean = written(tmp_path / "b.csv", extra=[extra[-1]])
    assert hedgerow.publish(plan(tmp_path, **told), data=clean, seed=1).digest == release.digest


def test_plans_without_the_section_keep_their_digest():
    attributes = {"age": {"numeric": [0, 9]}}
    bare = plan_of({"attributes": attributes})
    assert "reading" not in bare.model_dump(exclude_none=True)
    assert plan_digest(bare) == DIGEST
    assert plan_digest(plan_of({"attributes": attributes, "reading": {}})) != DIGEST


DIGEST = "cbab9b5d46b370ee50a56d220367198f573e745c7018cfbbcbecd9c0abee6aa5"
