"""How a file is written: `draft` looks and writes it down, so that `publish` never has to."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from hedgerow.drafting.baskets import looks_like_baskets
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.encode.universe import universe_of
from hedgerow.model.reading import Reading
from hedgerow.read.open import open_table

DICE = random.Random(7)
TOWNS = ["Köln", "Zürich", "Bern", "Genève"]
ROWS = [(DICE.choice(TOWNS), DICE.randrange(1000) / 10, DICE.choice("ab")) for _ in range(200)]


def table(path, *, delimiter=",", decimal=".", encoding="utf-8", quote="", extra=()):
    lines = [delimiter.join(["town", "amount", "kind"])]
    for town, amount, kind in ROWS:
        fields = [f"{quote}{town}{quote}", str(amount).replace(".", decimal), kind]
        lines.append(delimiter.join(fields))
    data = "\n".join([*lines, *extra, ""]).encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def drafted(path):
    return draft_plan(path, base=path.parent, class_name="kind").plan


@pytest.mark.parametrize("delimiter", ["comma", "semicolon", "tab", "bar"])
@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252"])
def test_encoding_and_delimiter_are_written_down(tmp_path, delimiter, encoding):
    letter = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}[delimiter]
    plan = drafted(table(tmp_path / "t.csv.gz", delimiter=letter, encoding=encoding))
    assert plan.how_to_read() == Reading(encoding=encoding, delimiter=delimiter)
    source = open_table("t.csv.gz", base=tmp_path, reading=plan.how_to_read())
    assert len(encode_table(source, schema_of(plan))) == 200
    assert set(plan.attributes["town"].values) == set(TOWNS)


@pytest.mark.parametrize(("encoding", "told"), [("utf-8", False), ("windows-1252", True)])
def test_an_encoding_that_bytes_alone_do_not_say_is_told(tmp_path, encoding, told):
    path = table(tmp_path / "t.csv", encoding=encoding)
    notes = draft_plan(path, base=tmp_path, class_name="kind").notes
    assert any("was read as windows-1252" in note for note in notes) is told


def test_a_decimal_comma_is_noticed_beside_another_delimiter(tmp_path):
    plan = drafted(table(tmp_path / "t.csv", delimiter=";", decimal=","))
    assert plan.how_to_read().decimal == "comma"
    assert plan.attributes["amount"].numeric is not None
    source = open_table("t.csv", base=tmp_path, reading=plan.how_to_read())
    assert len(encode_table(source, schema_of(plan))) == 200


def test_quotes_that_hold_line_ends_are_noticed(tmp_path):
    path = table(tmp_path / "t.csv", quote='"', extra=['"Köln\nam Rhein",1.5,a'])
    assert drafted(path).how_to_read().quote == "multi-line"
    assert drafted(table(tmp_path / "t.csv", quote='"')).how_to_read().quote == '"'


def test_quotes_that_are_letters_are_noticed(tmp_path):
    path = table(tmp_path / "t.csv", extra=['5" pipe,1.5,a', '"a"b,2.5,b'])
    assert drafted(path).how_to_read().quote == "none"


def test_a_few_malformed_records_are_left_out_and_that_is_said(tmp_path):
    path = table(tmp_path / "t.csv", extra=["x,y", "a,b,c,d"])
    draft = draft_plan(path, base=tmp_path, class_name="kind")
    assert draft.plan.how_to_read().malformed == "drop"
    assert any("malformed" in note for note in draft.notes)


def test_most_lines_settle_the_encoding_and_not_the_first(tmp_path):
    path = table(tmp_path / "t.csv")
    header, *rest = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([header, b"K\xf6ln,1.5,a", *rest]))
    form = drafted(path).how_to_read()
    assert (form.encoding, form.malformed) == ("utf-8", "drop")


def test_a_basket_file_called_txt_is_drafted_as_baskets(tmp_path):
    path = tmp_path / "receipts.txt"
    items = ["milk", "bread", "tea", "rum", "eggs"]
    lines = [" ".join(DICE.sample(items, DICE.randint(1, 4))) for _ in range(300)]
    path.write_text("\n".join(lines) + "\n")
    assert looks_like_baskets(path)
    plan = draft_plan(path, base=tmp_path).plan
    assert plan.items is not None
    assert universe_of(plan).n_items == 5
    assert plan.how_to_read() == Reading(header=0)


@pytest.mark.parametrize(
    "text",
    [
        "name\nalice\nbob\n" * 20,
        "a,b\n1,2\n3,4\n" * 20,
        "a b,c d\nx y,z\n" * 20,
        "one line\n",
        "",
    ],
)
def test_tables_called_txt_stay_tables(tmp_path, text):
    path = tmp_path / "table.txt"
    path.write_text(text)
    assert not looks_like_baskets(path)


def test_the_header_of_a_file_of_sequences_is_counted(tmp_path):
    path = tmp_path / "clicks.seq"
    header = "% Names:\r\n\r\nnews tech\r\n\r\n\r\n% Sequences:\r\n\r\n"
    path.write_bytes((header + "1 2 \r\n" * 30).encode())
    assert draft_plan(path, base=tmp_path).plan.how_to_read().header == 7


def objects(path, *lines):
    good = [json.dumps({"town": town, "amount": n, "kind": kind}) for town, n, kind in ROWS]
    path.write_text("\n".join([*lines, *good, ""]), encoding="utf-8")
    return path


def test_objects_that_are_all_sound_need_no_list_of_columns(tmp_path):
    form = drafted(objects(tmp_path / "t.jsonl")).how_to_read()
    assert form == Reading(format="json-lines")


@pytest.mark.parametrize("bad", ["{", "x" * (5 << 20)], ids=["short", "long"])
def test_the_columns_of_objects_are_listed_where_malformed_ones_are_dropped(tmp_path, bad):
    nested = '{"town": "Bern", "amount": 1, "kind": "a", "tags": [1], "a, b": 1}'
    plan = drafted(objects(tmp_path / "t.jsonl", bad, nested))
    form = plan.how_to_read()
    assert form.malformed == "drop"
    assert set(form.header) == {"town", "amount", "kind", "a, b"}
    source = open_table("t.jsonl", base=tmp_path, reading=form)
    assert len(encode_table(source, schema_of(plan))) >= 200


def test_keys_that_are_also_values_are_no_record(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": "a", "b": "b"}\n{"a": "x", "b": "y"}\n' * 60)
    assert set(draft_plan(path).plan.attributes) == {"a", "b"}
