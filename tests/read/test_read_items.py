"""Basket files, columns of lists and long tables: the same records from every storage."""

from __future__ import annotations

import gzip
import re
import sqlite3
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.universe import universe_of
from hedgerow.errors import DataError
from hedgerow.model.reading import Reading
from hedgerow.plan.load import plan_of
from hedgerow.read.items import ItemsPlace, open_items
from hedgerow.read.words import BasketFile, WordSplitter

RECORDS = [["milk", "bread"], ["eggs"], ["bread", "milk", "bread"], ["caviar"], ["tea", "eggs"]]
UNIVERSE = ["bread", "eggs", "milk", "tea"]
SETS = [{"milk", "bread"}, {"eggs"}, {"bread", "milk"}, {"tea", "eggs"}]


def naive(text: str, separators: str) -> list[list[str]]:
    lines = text.removesuffix("\n").split("\n")
    return [[word for word in re.split(f"[{separators}\r]", line) if word] for line in lines]


def sets_of(data, base=Path(), **items):
    """What the baskets hold, as sets of labels."""
    query = items.pop("query", None)
    reading = Reading(**items.pop("reading", {}))
    universe = universe_of(plan_of({"items": {"universe": UNIVERSE, "fan-out": 2, **items}}))
    source = open_items(data, universe.place, query=query, base=base, reading=reading)
    baskets = encode_baskets(source, universe)
    labels = universe.taxonomy.leaf_labels
    bounds = baskets.offsets.tolist()
    codes = baskets.items.tolist()
    records = [codes[a:b] for a, b in pairwise(bounds)]
    assert all(record == sorted(set(record)) and record for record in records)
    return [{labels[code] for code in record} for record in records]


@given(text=st.text(alphabet="ab1 ,\t\r\né", min_size=1), separators=st.sampled_from([" ", ",\t"]))
def test_words_are_those_of_a_parser_that_goes_line_by_line(text, separators):
    batch = WordSplitter(separators.encode()).split(text.encode())
    words, expected = batch.words.to_pylist(), naive(text, separators)
    records = []
    for length in batch.lengths.tolist():
        records.append(words[:length])
        words = words[length:]
    assert not words
    assert records == expected


@given(
    lines=st.lists(st.lists(st.sampled_from(["milk", "tea", "x"]), max_size=4), max_size=20),
    size=st.integers(1, 30),
)
def test_blocks_of_any_size_give_the_same_records(lines, size, tmp_path_factory):
    path = tmp_path_factory.mktemp("blocks") / "a.dat"
    path.write_text("".join(" ".join(line) + "\n" for line in lines))
    file = BasketFile(path=path, separators=b" ", block_size=size)
    found = [n for batch in file.batches() for n in batch.lengths.tolist()]
    assert found == [len(line) for line in lines]


@pytest.mark.parametrize("separator", [" ", ",", "\t", ", ", "  ", " \t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", ",\n"])
def test_items_lie_between_blanks_commas_or_tabs(tmp_path, separator, end):
    text = "".join(separator.join(record) + end for record in RECORDS)
    (tmp_path / "a.dat").write_bytes(text.encode())
    (tmp_path / "a.gz").write_bytes(gzip.compress(text.encode()))
    assert sets_of("a.dat", tmp_path) == sets_of("a.gz", tmp_path) == SETS


def as_basket_file(folder):
    (folder / "a.dat").write_text("\n".join(" ".join(record) for record in RECORDS))
    return folder / "a.dat", {}


def as_parquet(folder):
    pq.write_table(pa.table({"x": range(5), "bought": RECORDS}), folder / "a.parquet")
    return folder / "a.parquet", {"column": "bought"}


def as_arrow(folder):
    column = pa.array(RECORDS, pa.large_list(pa.large_string()))
    feather.write_feather(pa.table({"bought": column}), folder / "a.arrow")
    return folder / "a.arrow", {"column": "bought"}


def as_dictionary_lists(folder):
    words = pa.dictionary(pa.int8(), pa.string())
    return pa.table({"bought": pa.array(RECORDS, pa.list_(words))}), {"column": "bought"}


def as_slices(folder):
    chunks = [pa.array([["tea"], *RECORDS[:2]])[1:], pa.array([*RECORDS[2:], None, ["tea"]])[:-1]]
    return pa.table({"bought": pa.chunked_array(chunks)}), {"column": "bought"}


def as_polars(folder):
    return pl.DataFrame({"bought": RECORDS}), {"column": "bought"}


def as_lazy_polars(folder):
    return pl.LazyFrame({"bought": RECORDS}), {"column": "bought"}


def as_pandas(folder):
    return pd.DataFrame({"bought": RECORDS}), {"column": "bought"}


def rows():
    return [(f"r{at}", item) for at, record in enumerate(RECORDS) for item in record]


LONG = {"record": "receipt", "column": "product"}


def as_long_csv(folder):
    text = "".join(f"{record},{item}\n" for record, item in rows())
    (folder / "a.csv").write_text("receipt,product\n" + text)
    return folder / "a.csv", LONG


def as_scattered_rows(folder):
    # One item of each record, then the next of each: records keep the order of first rows.
    order = sorted(
        range(len(rows())), key=lambda at: [r for r, _ in rows()[:at]].count(rows()[at][0])
    )
    records, items = zip(*(rows()[at] for at in order), strict=True)
    return pa.table({"receipt": records, "product": items}), LONG


def as_long_sqlite(folder):
    with sqlite3.connect(folder / "a.sqlite") as connection:
        connection.execute("CREATE TABLE sold (receipt TEXT, product TEXT)")
        connection.executemany("INSERT INTO sold VALUES (?, ?)", rows())
    connection.close()
    query = "SELECT receipt, product FROM sold ORDER BY rowid"
    return f"sqlite:///{folder / 'a.sqlite'}", {**LONG, "query": query}


STORAGES = [
    as_basket_file,
    as_parquet,
    as_arrow,
    as_dictionary_lists,
    as_slices,
    as_polars,
    as_lazy_polars,
    as_pandas,
    as_long_csv,
    as_scattered_rows,
    as_long_sqlite,
]


@pytest.mark.parametrize("store", STORAGES)
def test_every_storage_gives_the_same_records(tmp_path, store):
    data, items = store(tmp_path)
    assert sets_of(data, **items) == SETS


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["r1", "r2", "r3", None]), st.sampled_from([*UNIVERSE, "x", None])
        )
    ),
    cut=st.integers(0, 10),
)
def test_rows_of_a_long_table_may_lie_anywhere(rows, cut):
    expected: dict[str, set[str]] = {}
    for record, item in rows:
        if record is not None:
            expected.setdefault(record, set()).update({item} & set(UNIVERSE))
    names, items = ([row[at] for row in rows] for at in (0, 1))
    kind = pa.schema({"receipt": pa.string(), "product": pa.string()})
    whole = pa.table({"receipt": names, "product": items}, schema=kind)
    parts = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])
    assert sets_of(parts, **LONG) == [record for record in expected.values() if record]


@pytest.mark.parametrize("parts", [1, 2])
def test_blanks_around_the_names_of_records_do_not_count(parts):
    names, items = ["r1", " r1", "r2 ", " ", "r2"], ["milk", "tea", "eggs", "eggs", "tea"]
    whole = pa.table({"receipt": names, "product": items})
    table = pa.concat_tables([whole]) if parts == 1 else pa.concat_tables([whole[:1], whole[1:]])
    assert sets_of(table, **LONG) == [{"milk", "tea"}, {"eggs", "tea"}]


def test_a_database_needs_the_columns_named(tmp_path):
    url, items = as_long_sqlite(tmp_path)
    with pytest.raises(DataError, match="not name the column of the items"):
        sets_of(url, query=items["query"])


def test_lists_may_be_arrays_of_numpy_in_a_frame_of_pandas():
    frame = pd.DataFrame({"bought": [np.array(record) for record in RECORDS]})
    assert sets_of(frame, column="bought") == SETS


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ([[1, 2], [17]], pa.list_(pa.int64())),
        ([[1.0, 2.0], [17.0]], pa.list_(pa.float64())),
        ([["1", "2.0"], [" 17 "]], pa.list_(pa.string())),
        ([[1, 2, None], None, [17, 99]], pa.list_(pa.int16())),
    ],
)
def test_numbers_are_items_whatever_they_are_stored_as(column, kind):
    table = pa.table({"bought": pa.array(column, kind)})
    universe = universe_of(plan_of({"items": {"universe": [1, 17], "column": "bought"}}))
    baskets = encode_baskets(open_items(table, universe.place), universe)
    assert baskets.offsets.tolist() == [0, 2, 3]
    assert baskets.items.tolist() == [0, 1, 16]


def test_a_file_of_sequences_is_read_as_sets_without_its_header(tmp_path):
    header = "% Names:\r\n\r\nmilk bread\r\n\r\n% Sequences:\r\n\r\n"
    (tmp_path / "a.seq").write_bytes((header + "tea milk tea \r\nmilk\r\n").encode())
    told = {"as": "sets", "reading": {"header": 6}}
    assert sets_of("a.seq", tmp_path, **told) == [{"tea", "milk"}, {"milk"}]
    with pytest.raises(DataError, match="header: 7"):
        sets_of("a.seq", tmp_path, **{"as": "sets"})
    every = {"reading": {"header": 0}}
    assert sets_of("a.seq", tmp_path, **every) == [{"milk", "bread"}, {"tea", "milk"}, {"milk"}]
    assert sets_of("a.seq", tmp_path, reading={"header": 99}) == []


def test_names_with_blanks_are_read_between_commas(tmp_path):
    universe = ["red apples", "milk"]
    (tmp_path / "a.dat").write_text("red apples,milk\nmilk, red apples\nred apples\n")
    found = sets_of("a.dat", tmp_path, universe=universe)
    assert found == [{"red apples", "milk"}] * 2 + [{"red apples"}]


def test_a_file_without_a_known_item_has_no_records(tmp_path):
    (tmp_path / "a.dat").write_text("caviar\n\n   \n")
    assert sets_of("a.dat", tmp_path) == []


SECRET = "SECRET123"


def bad_inputs(folder):
    (folder / "zip.dat").write_bytes(b"PK\x03\x04" + SECRET.encode())
    (folder / "nul.dat").write_bytes(f"milk {SECRET}\nmilk \0\n".encode())
    (folder / "cut.gz").write_bytes(gzip.compress(SECRET.encode() * 100)[:-9])
    (folder / "empty.dat").write_bytes(b"")
    (folder / "mac.dat").write_bytes(f"milk {SECRET}\rtea\r".encode())
    pq.write_table(pa.table({"bought": [SECRET], "n": [1]}), folder / "a.parquet")
    text = pa.table({"bought": [SECRET]})
    nested = pa.table({"bought": [[[SECRET]]]})
    column = ItemsPlace(column="bought")
    return [
        (folder / "zip.dat", ItemsPlace(), "spreadsheet"),
        (folder / "nul.dat", ItemsPlace(), "nul.dat, line 2"),
        (folder / "cut.gz", ItemsPlace(), "truncated or damaged"),
        (folder / "empty.dat", ItemsPlace(), "empty"),
        (folder / "mac.dat", ItemsPlace(), "CR alone"),
        (folder / "none.dat", ItemsPlace(), "file does not exist"),
        (folder, ItemsPlace(), "folder"),
        (folder / "a.parquet", ItemsPlace(), "items.column"),
        (text, ItemsPlace(), "items.column"),
        (text, column, "does not hold lists"),
        (nested, column, "no text form"),
        (text, ItemsPlace(column="sold"), "The column 'sold' does not exist"),
        (
            text,
            ItemsPlace(column="bought", record="receipt"),
            "column 'receipt' does not exist",
        ),
    ]


@pytest.mark.parametrize("at", range(13))
def test_a_wrong_input_is_one_error_without_a_value(tmp_path, at):
    data, place, words = bad_inputs(tmp_path)[at]
    universe = universe_of(plan_of({"items": {"universe": UNIVERSE}}))
    with pytest.raises(DataError) as caught:
        encode_baskets(open_items(data, place), universe)
    assert words in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("name", "items", "reading", "n_records", "n_items", "largest"),
    [
        (
            "msnbc/msnbc990928.seq.gz",
            {"universe": [1, 17], "as": "sets"},
            {"header": 7},
            989_818,
            1_699_303,
            17,
        ),
        ("set-valued/retail.dat.gz", {"universe": [0, 16_469]}, {}, 88_162, 908_576, 76),
    ],
)
def test_real_files_have_the_records_that_their_description_counts(
    shared_data, name, items, reading, n_records, n_items, largest
):
    plan = plan_of({"items": items, "reading": reading})
    universe = universe_of(plan)
    source = open_items(shared_data / name, universe.place, reading=plan.how_to_read())
    baskets = encode_baskets(source, universe)
    assert (len(baskets), len(baskets.items)) == (n_records, n_items)
    assert baskets.lengths.max() == largest


def test_a_long_table_with_an_order_gives_it_beside_records_and_items(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("note,when,item,who\nx,2,milk,a\ny,1,eggs,a\nz,7,tea,b\n", encoding="utf-8")
    place = ItemsPlace(column="item", record="who", order="when")
    ((records, items, order),) = open_items(path, place).rows()
    assert records.to_pylist() == ["a", "a", "b"]
    assert items.to_pylist() == ["milk", "eggs", "tea"]
    assert order.to_pylist() == ["2", "1", "7"]
    unordered = open_items(path, ItemsPlace(column="item", record="who")).rows()
    assert [each[2] for each in unordered] == [None]
