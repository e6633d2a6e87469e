"""Files with one record more, and whether that changed how the others are read."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.encode.universe import universe_of
from hedgerow.errors import DataError
from hedgerow.model.schema import Schema
from hedgerow.model.universe import Universe
from hedgerow.plan.load import plan_of

TOWNS = ["São Paulo", "Köln", "a,b", 'q"r', "m", "17", "1.5"]


@cache
def schema() -> Schema:
    """A town, which may be any text, and a number."""
    attributes = {
        "town": {"values": TOWNS, "other": "else"},
        "n": {"numeric": [0, 9], "step": "1/2"},
    }
    markers = ["", "?", "-9", "zwölf", "NULL"]
    return schema_of(plan_of({"attributes": attributes, "missing-values": markers}))


@cache
def universe(separator: str = "auto") -> Universe:
    """Items with and without letters beyond ASCII."""
    items = {"universe": ["Käse", "milk", "1", "22", "%"], "separator": separator}
    return universe_of(plan_of({"items": items}))


def codes_in(source: Any) -> Counter[tuple[int, ...]]:
    table = encode_table(source, schema())
    return Counter(zip(*(column.tolist() for column in table.codes), strict=True))


def sets_in(source: Any, asked: Universe) -> Counter[tuple[int, ...]]:
    baskets = encode_baskets(source, asked)
    bounds, items = baskets.offsets.tolist(), baskets.items.tolist()
    return Counter(tuple(items[a:b]) for a, b in pairwise(bounds))


def assert_by_itself(
    without: Callable[[], Counter[Any]], with_it: Callable[[], Counter[Any]], *, most: int = 1
) -> None:
    """All other records are there as they were, or the data with the record are refused."""
    before = without()
    try:
        after = with_it()
    except DataError:
        return
    assert not before - after, "a record was lost or read otherwise"
    assert (after - before).total() <= most, "one record became several"


def inserted(lines: list[Any], hostile: Any, place: int) -> list[Any]:
    return [*lines[: place % (len(lines) + 1)], hostile, *lines[place % (len(lines) + 1) :]]


def put(folder: Path, name: str, lines: list[bytes], end: bytes = b"\n", last: bool = True) -> Path:
    path = folder / name
    data = end.join(lines) + (end if last and lines else b"")
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return path


HOSTILE = [
    b'"',
    b'""',
    b",",
    b";",
    b"\t",
    b"|",
    b"\r",
    b"\0",
    b"%",
    b" ",
    b"\xe3",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\x85",
    b"\xe2\x80\xa8",
    b"\x0b",
    b"\x1a",
    "ã".encode(),
    b"m",
    b"1",
    b"1.5",
    b"1,5",
    b"#",
    b"'",
    b"\\",
]
BYTES = st.lists(st.sampled_from(HOSTILE), max_size=8).map(b"".join) | st.binary(max_size=12).map(
    lambda data: data.replace(b"\n", b"")
)
PLACE = st.integers(0, 20)
RECORDS = st.lists(
    st.tuples(st.sampled_from([*TOWNS, "", "elsewhere"]), st.sampled_from(["1", "8.5", "?", "3"])),
    max_size=8,
)
BASKETS = st.lists(
    st.lists(st.sampled_from(["Käse", "milk", "1", "22", "rum"]), max_size=4), max_size=8
)
