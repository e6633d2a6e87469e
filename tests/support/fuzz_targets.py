"""What is fuzzed: every reader of files that others wrote, each as one call on bytes.

Whatever the bytes are, a reader returns or raises a `HedgerowError` with a short, printable
message; a message about confidential data shows no piece of it; and what was read is the
same however it was cut into blocks, and the same again after it was written and read back.

`tests/fuzz/test_fuzz_*.py` feed these from Hypothesis, ``tools/fuzz.py`` from atheris.
"""

from __future__ import annotations

import ast
import dataclasses
import gzip
import hashlib
import io
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

import hedgerow
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.encode.universe import universe_of
from hedgerow.errors import HedgerowError, InternalError
from hedgerow.ledger.ledger import Ledger
from hedgerow.model.certificate import Certificate
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.sealed import sealed, unsealed
from hedgerow.model.universe import Universe
from hedgerow.plan.load import dump_plan, load_plan, plan_digest, plan_of
from hedgerow.plan.model import Plan
from hedgerow.read.delimited import DelimitedSource
from hedgerow.read.items import open_items
from hedgerow.read.open import open_table
from hedgerow.read.source import Source
from hedgerow.read.words import BasketFile
from hedgerow.release.basket_files import universe_in, universe_text
from hedgerow.release.recoding import Recoding
from hedgerow.release.release import Release
from hedgerow.taxonomy import builders
from hedgerow.taxonomy.domain import CategoricalDomain, Domain, NumericDomain
from hedgerow.taxonomy.files import FORMATS, read_taxonomy, write_taxonomy
from hedgerow.taxonomy.tree import Taxonomy

WINDOW = 8
"""So many bytes of the input in a message are a leak; fewer may be chance."""

MOST_LETTERS = 20_000
"""A message longer than this shows more than anyone can read."""

Target = Callable[[bytes], None]


class Finding(AssertionError):
    """A reader broke one of its promises."""


@cache
def folder() -> Path:
    """The folder of this process, in memory where the system has such a place."""
    shared = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=shared if shared.is_dir() else None))


def put(data: bytes, name: str) -> Path:
    """Return a file that holds ``data``."""
    path = folder() / name
    path.write_bytes(data)
    return path


@cache
def own_words() -> bytes:
    """Every text that stands in hedgerow's own source: what messages are made of."""
    found: list[str] = []
    for path in sorted(Path(hedgerow.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        found += [value for value in nodes if isinstance(value, str)]
    return "\n".join(found).encode("utf-8", "replace")


def shows(message: str, data: bytes) -> bool:
    """Whether a message holds a piece of ``data`` that is not one of our own words."""
    said = message.encode("utf-8", "replace")
    pieces = (said[i : i + WINDOW] for i in range(len(said) - WINDOW + 1))
    return any(piece in data and piece not in own_words() for piece in pieces)


def _unpacked(data: bytes) -> bytes:
    """Return the input and what it unpacks to, whether or not a byte of options is in front."""
    found = data
    for packed in (data, data[1:]):
        if packed.startswith(b"\x1f\x8b"):
            with suppress(OSError, EOFError, zlib.error):
                found += gzip.decompress(packed)
    return found


def check_message(error: HedgerowError, confidential: bytes = b"") -> None:
    """Refuse an error that is a bug, too long, unprintable, or shows confidential bytes."""
    text = str(error)
    if isinstance(error, InternalError):
        raise Finding("an internal error") from error
    if not error.do:
        raise Finding("the message does not say what to do") from error
    if len(text) > MOST_LETTERS:
        raise Finding("the message is endless") from error
    if not all(line.isprintable() for line in text.split("\n")):
        raise Finding("the message holds control characters") from error
    if confidential and shows(text, _unpacked(confidential)):
        raise Finding("the message shows the data") from error


@cache
def schema() -> Schema:
    """A number, an open and a closed category, and a class."""
    attributes = {
        "age": {"numeric": [-5, 99], "step": "1/2"},
        "ward": {"values": ["A", "B", "Ä"], "other": "else"},
        "town": {"values": ["north", "south"]},
        "sick": {"role": "class", "values": ["no", "yes"]},
    }
    return schema_of(plan_of({"attributes": attributes, "missing": "value"}))


@cache
def universe(separator: str) -> Universe:
    """A few items, between the separators that a plan may name."""
    items = {"universe": ["milk", "bread", "Käse", "1", "22"], "separator": separator}
    return universe_of(plan_of({"items": {**items, "as": "sets"}}))


def _rows(source: Source) -> list[dict[str, object]]:
    batches = source.batches(source.columns)
    return [row for batch in batches for row in batch.to_pylist()]


FORMS = (
    PLAIN,
    Reading(malformed="drop"),
    Reading(quote="multi-line"),
    Reading(quote="none", encoding="windows-1252", delimiter="semicolon", malformed="drop"),
)


def read_delimited(data: bytes) -> None:
    """A CSV or TSV file; small blocks and one large block hold the same records."""
    path = put(data[1:], "input.csv")
    source = open_table(path, reading=FORMS[data[0] // 4 % len(FORMS)])
    if not isinstance(source, DelimitedSource):
        return
    size = (5, 16, 64, 1000)[data[0] % 4]
    whole = _rows(source)
    if _rows(dataclasses.replace(source, block_size=size)) != whole:
        raise Finding("records depend on where blocks end")


OBJECT_FORMS = (
    PLAIN,
    Reading(malformed="drop"),
    Reading(header=("age", "job"), malformed="drop"),
    Reading(encoding="windows-1252", malformed="drop"),
)


def read_objects(data: bytes) -> None:
    """A file of JSON lines; small blocks and one large block hold the same records."""
    form = OBJECT_FORMS[data[0] // 4 % len(OBJECT_FORMS)]
    source = open_table(put(data[1:], "input.jsonl"), reading=form)
    size = (5, 16, 64, 1000)[data[0] % 4]
    whole = _rows(source)
    if _rows(dataclasses.replace(source, block_size=size)) != whole:
        raise Finding("records depend on where blocks end")


@cache
def workbook_parts() -> dict[str, bytes]:
    """The parts of a small workbook, which the corpus holds."""
    kept = Path(__file__).parent.parent / "fuzz" / "corpus" / "workbook" / "whole"
    with zipfile.ZipFile(io.BytesIO(kept.read_bytes()[1:])) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def workbook_of(data: bytes) -> bytes:
    """Return a workbook: the bytes themselves, or a sound one with one part replaced by them."""
    names = (None, "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml")
    chosen = names[data[0] % len(names)]
    if chosen is None:
        return data[1:]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in {**workbook_parts(), chosen: data[1:]}.items():
            packed.writestr(name, content)
    return made.getvalue()


def read_workbook(data: bytes) -> None:
    """A workbook, or one part of it: all cells of its sheet as text."""
    form = Reading(malformed=("refuse", "drop")[data[0] // 4 % 2])
    _rows(open_table(put(workbook_of(data), "input.xlsx"), reading=form))


def read_labelled(data: bytes) -> None:
    """An SPSS or a Stata file, each of its columns as it is and as text."""
    name = ("input.sav", "input.dta", "input.zsav")[data[0] % 3]
    source = open_table(put(data[1:], name))
    if any(len(column) >= WINDOW for column in source.columns):
        return  # messages name the columns that a plan asks for, which are these here
    for text in ((), source.columns):
        for _ in source.batches(source.columns, text=text):
            pass


def read_sqlite(data: bytes) -> None:
    """A SQLite database, asked for everything in its table."""
    path = put(data, "input.db")
    for beside in folder().glob("input.db-*"):
        beside.unlink()
    source = open_table(f"sqlite:///{path}", query="SELECT * FROM t", reading=Reading(seconds=2))
    if any(len(column) >= WINDOW for column in source.columns):
        return
    for text in ((), source.columns):
        for _ in source.batches(source.columns, text=text):
            pass


DRAFTED = (
    *("csv", "csv.gz", "jsonl", "dat", "xlsx", "sav", "dta", "parquet"),
    *("txt", "csv.zst", "tsv", "ndjson.gz"),
)


def draft_file(data: bytes) -> None:
    """A file of any kind; the plan that is drafted from it loads, and is not confirmed."""
    kind = DRAFTED[data[0] % len(DRAFTED)]
    draft = draft_plan(put(data[1:], f"input.{kind}"), base=folder())
    if draft.plan.confirmed:
        raise Finding("a draft is confirmed")
    again = load_plan(put(draft.text.encode(), "drafted.yaml"))
    if again.attributes != draft.plan.attributes or again.items != draft.plan.items:
        raise Finding("written to a file, the draft is another plan")


def encode_delimited(data: bytes) -> None:
    """The records of a file whose header is right, down to codes."""
    path = put(b"age,ward,town,sick\n" + data, "input.csv")
    encode_table(open_table(path), schema())


def read_columnar(data: bytes) -> None:
    """A Parquet or Arrow file, each of its columns as numbers and as texts, down to codes."""
    # Messages name the file, and its last bytes name their writer: parquet,cpp-arrow.
    source = open_table(put(data, "columns"))
    if any(len(name) >= WINDOW for name in source.columns):
        return  # messages name the columns that a plan asks for, which are these here
    domains: tuple[Domain, ...] = (
        NumericDomain.even(low=-5, high=99, step=1),
        CategoricalDomain.over(Taxonomy.flat(["x", "true", "1"]), other="else"),
    )
    for name in source.columns:
        for domain in domains:
            asked = Attribute(name=name, domain=domain)
            try:
                encode_table(source, Schema(attributes=(asked,), class_attribute=None))
            except HedgerowError as error:
                check_message(error, data)


def read_baskets(data: bytes) -> None:
    """A basket file; small blocks and one large block hold the same baskets."""
    asked = universe(("auto", "space", "comma", "tab")[data[0] % 4])
    form = Reading(header=(True, 0, 1, 9)[data[0] // 4 % 4], malformed="drop")
    source = open_items(put(data[1:], "input.dat"), asked.place, reading=form)
    whole = encode_baskets(source, asked)
    if isinstance(source, BasketFile):
        cut = encode_baskets(dataclasses.replace(source, block_size=5), asked)
        if cut.items.tobytes() != whole.items.tobytes() or any(cut.offsets != whole.offsets):
            raise Finding("baskets depend on where blocks end")


def taxonomy_file(data: bytes) -> None:
    """A taxonomy in any format; written in each, it is read back as the same."""
    chosen = (None, *FORMATS)[data[0] % (1 + len(FORMATS))]
    taxonomy = read_taxonomy(put(data[1:], "input.csv"), format=chosen)
    for each in FORMATS:
        again = folder() / f"again.{each}"
        write_taxonomy(taxonomy, again, format=each)
        if read_taxonomy(again, format=each) != taxonomy:
            raise Finding(f"written as {each}, the taxonomy is another")


def plan_file(data: bytes) -> None:
    """A plan in any format, with its domains; written again, it is the same plan."""
    suffix = ("yaml", "toml", "json")[data[0] % 3]
    plan = load_plan(put(data[1:], f"plan.{suffix}"))
    again = load_plan(put(dump_plan(plan).encode(), "again.yaml"))
    if again != plan or plan_digest(again) != plan_digest(plan):
        raise Finding("written again, the plan is another")
    with patch.object(builders, "MOST_LEAVES", 10_000):  # two million would only be slow
        _domains(plan)


def _domains(plan: Plan) -> None:
    if plan.items is None:
        schema_of(plan)
    else:
        universe_of(plan)


def certificate_file(data: bytes) -> None:
    """A certificate; written again, it is the same."""
    certificate = Certificate.from_json(data.decode("utf-8", "replace"))
    if Certificate.from_json(certificate.to_json()) != certificate:
        raise Finding("written again, the certificate is another")


def recoding_file(data: bytes) -> None:
    """The boxes of a release."""
    Recoding.from_json(data.decode("utf-8", "replace"))


@cache
def released() -> Path:
    """A small release with a tree of boxes, to be damaged file by file."""
    place = folder() / "release"
    attributes = {
        "age": {"numeric": [-5, 30]},
        "ward": {"values": ["=A", "B", "C"]},
        "sick": {"role": "class", "values": ["no", "yes"]},
    }
    plan = {"attributes": attributes, "protects": "records", "confirmed": True}
    plan |= {"publish": {"epsilon": 5}}
    rows = {"age": list(range(-5, 31)) * 9, "ward": ["=A", "B", "C"] * 108}
    table = pa.table({**rows, "sick": ["no", "yes", "no", "no"] * 81})
    hedgerow.publish(
        {**plan, "ledger": {"dataset": "x", "cap": 9}},
        data=table,
        seed=3,
        out=place,
        method="hedge",
    )
    return place


def release_folder(data: bytes) -> None:
    """A release folder with one file replaced, and a certificate that vouches for it."""
    place = released()
    names = ("release.csv", "recoding.json", "marginals.json")
    chosen = place / names[data[0] % len(names)]
    kept = {path: path.read_bytes() for path in (place / "certificate.json", chosen)}
    facts = unsealed(kept[place / "certificate.json"].decode())
    digest = hashlib.sha256(data[1:]).hexdigest()
    facts["files"][chosen.name] = {"sha256": digest, "bytes": len(data) - 1}
    try:
        chosen.write_bytes(data[1:])
        (place / "certificate.json").write_text(sealed(facts), encoding="utf-8")
        Release.load(place).to_arrow()
    finally:
        for path, content in kept.items():
            path.write_bytes(content)


def universe_file(data: bytes) -> None:
    """The items of a release of baskets; written again, they are the same."""
    taxonomy = universe_in(data.decode("utf-8", "replace"), where="universe.json")
    if universe_in(universe_text(taxonomy), where="again") != taxonomy:
        raise Finding("written again, the universe is another")


def ledger_file(data: bytes) -> None:
    """The file of a ledger, read and checked."""
    for beside in folder().glob("ledger.sqlite-*"):
        beside.unlink()
    Ledger(put(data, "ledger.sqlite"), create=False, timeout=0.1).accounts()


CONFIDENTIAL: dict[str, Target] = {
    "delimited": read_delimited,
    "encode": encode_delimited,
    "columnar": read_columnar,
    "baskets": read_baskets,
    "objects": read_objects,
    "workbook": read_workbook,
    "labelled": read_labelled,
    "sqlite": read_sqlite,
    "draft": draft_file,
}
PUBLIC: dict[str, Target] = {
    "taxonomy": taxonomy_file,
    "plan": plan_file,
    "certificate": certificate_file,
    "recoding": recoding_file,
    "release": release_folder,
    "universe": universe_file,
    "ledger": ledger_file,
}
TARGETS: dict[str, Target] = {**CONFIDENTIAL, **PUBLIC}


def try_bytes(target: str, data: bytes) -> HedgerowError | None:
    """Feed ``data`` to a target; the error it was refused with, after checking its message."""
    if not data:
        return None
    try:
        TARGETS[target](data)
    except HedgerowError as error:
        check_message(error, data if target in CONFIDENTIAL else b"")
        return error
    return None
