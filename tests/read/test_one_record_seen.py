"""Neighbouring files whose other records were read otherwise, as they were seen.

Nothing here says how a file is written: these fail wherever a file is looked at for that.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hedgerow.encode.universe import universe_of
from hedgerow.errors import DataError
from hedgerow.plan.load import plan_of
from hedgerow.read.items import open_items
from hedgerow.read.open import open_table
from support.one_record import assert_by_itself, codes_in, put, sets_in, universe


def test_a_record_in_another_encoding_leaves_the_others_alone(tmp_path):
    lines = ["São Paulo,1".encode()] * 999

    def read(rows: list[bytes]) -> Counter[Any]:
        return codes_in(open_table(put(tmp_path, "t.csv", [b"town,n", *rows])))

    assert_by_itself(lambda: read(lines), lambda: read([b"S\xe3o Paulo,1", *lines]))


def test_a_basket_in_another_encoding_leaves_the_others_alone(tmp_path):
    lines = ["Käse milk".encode()] * 99

    def read(rows: list[bytes]) -> Counter[Any]:
        return sets_in(open_items(put(tmp_path, "a.dat", rows), universe().place), universe())

    assert_by_itself(lambda: read(lines), lambda: read([b"K\xe4se milk", *lines]))


def test_a_stray_quote_does_not_swallow_the_records_behind_it(tmp_path):
    lines = [b"m,1"] * 1000 + [b'"Q",2'] + [b"17,3"] * 10

    def read(rows: list[bytes]) -> Counter[Any]:
        return codes_in(open_table(put(tmp_path, "t.csv", [b"town,n", *rows])))

    assert_by_itself(lambda: read(lines), lambda: read([b'"m,1', *lines]))


def test_a_record_that_begins_like_a_comment_does_not_cut_off_those_above(tmp_path):
    plan = plan_of({"items": {"universe": ["milk", "1"], "as": "sets"}})
    asked = universe_of(plan)
    lines = [b"% header"] + [b"milk 1"] * 50

    def read(rows: list[bytes]) -> Counter[Any]:
        return sets_in(open_items(put(tmp_path, "a.seq", rows), asked.place, **told), asked)

    told: dict[str, Any] = {}
    try:
        read(lines)
    except DataError:  # the plan must say where records begin
        from hedgerow.model.reading import Reading

        told = {"reading": Reading(header=1)}
    assert_by_itself(lambda: read(lines), lambda: read([*lines, b"% milk"]))


def test_a_bare_cr_is_no_line_end(tmp_path):
    def read(rows: list[bytes]) -> Counter[Any]:
        return codes_in(open_table(put(tmp_path, "t.csv", [b"town,n", *rows])))

    assert_by_itself(lambda: read([b"m,1"]), lambda: read([b"m,1", b"m,1\rm,1"]))
