"""The digest of a cover's rule changes with everything that can give a record another code."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import hedgerow
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import CapError
from hedgerow.ledger.ledger import Ledger
from hedgerow.model.database import Database
from hedgerow.model.derive import DateColumn, Derivation
from hedgerow.model.reading import READING_RULES, NumberMarks, Reading
from hedgerow.model.schema import Attribute, CoverRule, Schema
from hedgerow.pipeline import covers
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table
from hedgerow.taxonomy.domain import CategoricalDomain, DateDomain, NumericDomain
from hedgerow.taxonomy.load import taxonomy_of
from hedgerow.taxonomy.tree import Taxonomy

PLAN: dict[str, Any] = {
    "data": "visits.csv",
    "attributes": {
        "site": {"role": "cover", "numeric": [0, 9]},
        "age": {"numeric": [0, 50], "step": 5},
    },
    "covers": {"column": "site", "values": ["1"]},
    "publish": {"method": "basic-table", "epsilon": 1},
}


def digest(told: dict[str, Any] = PLAN, data: Any = None) -> str:
    plan = plan_of(told)
    schema = schema_of(plan)
    assert schema.cover is not None
    return covers.rule_digest(plan, schema, schema.cover, data)


# Every field of Reading: the plan's line that gives it another value, or why it has no line.
READING: dict[str, Any] = {
    "encoding": "latin-1",
    "delimiter": "semicolon",
    "decimal": "comma",
    "thousands": "comma",
    "header": ["site", "age"],
    "quote": "none",
    "malformed": "drop",
    "format": "json-lines",
    "sheet": "Visits",
    "value_labels": "ignore",
}


def test_every_field_of_reading_is_in_the_digest_or_listed_with_a_reason():
    names = {field.name for field in dataclasses.fields(Reading)}
    assert names == set(READING) | set(covers.NEVER_CHANGE_A_CODE)
    assert not set(READING) & set(covers.NEVER_CHANGE_A_CODE)
    assert all(covers.NEVER_CHANGE_A_CODE.values())


@pytest.mark.parametrize("field", READING)
def test_another_way_of_reading_changes_the_digest(field):
    told = {**PLAN, "reading": {field.replace("_", "-"): READING[field]}}
    assert digest(told) != digest()


def test_limits_and_the_marks_of_other_columns_do_not_change_the_digest():
    assert digest({**PLAN, "reading": {"seconds": 7, "megabytes": 7}}) == digest()
    other = {**PLAN["attributes"], "age": {"numeric": [0, 50], "step": 5, "decimal": "comma"}}
    assert digest({**PLAN, "attributes": other}) == digest()


@pytest.mark.parametrize("mark", [field.name for field in dataclasses.fields(NumberMarks)])
def test_the_columns_own_number_marks_change_the_digest(mark):
    own = {**PLAN["attributes"], "site": {**PLAN["attributes"]["site"], mark: "comma"}}
    assert digest({**PLAN, "attributes": own}) != digest()


@pytest.mark.parametrize("name", ["visits.tsv", "visits.tab.gz", "visits.jsonl"])
def test_what_the_name_of_a_file_decides_changes_the_digest(name):
    assert digest({**PLAN, "data": name}) != digest()
    assert digest(data=name) == digest(data=Path(name)) == digest({**PLAN, "data": name})


def test_the_same_rule_said_in_other_words_has_the_same_digest():
    said = {"encoding": "utf-8", "delimiter": "comma", "format": "delimited", "header": True}
    assert digest({**PLAN, "reading": said}) == digest()
    assert digest(data="elsewhere/november.csv") == digest()
    assert digest({**PLAN, "covers": {"column": "site", "values": ["2", "3"]}}) == digest()
    assert digest({**PLAN, "data": "v.tsv"}) == digest(
        {**PLAN, "reading": {"delimiter": "tab"}, "data": "v.tsv"}
    )


def test_a_query_is_a_part_of_the_rule_and_a_table_is_not():
    base = {**PLAN, "data": "sqlite:///visits.sqlite"}
    asked = digest({**base, "query": "SELECT * FROM visits"})
    assert asked != digest({**base, "query": "SELECT site + 1 AS site, age FROM visits"})
    assert digest({**base, "table": "october"}) == digest({**base, "table": "november"})
    given = Database(url="sqlite:///visits.sqlite", query="SELECT * FROM visits")
    assert digest(data=given) == asked != digest({**base, "table": "visits"})


def test_a_new_version_of_the_reading_rules_changes_the_digest(monkeypatch):
    before = digest()
    monkeypatch.setattr(covers, "READING_RULES", covers.READING_RULES + 1)
    assert digest() != before


TREE = Taxonomy.flat(["a", "b", "c"])
OTHER_TREE = Taxonomy.flat(["a", "b", "d"])
ATTRIBUTE = Attribute(name="site", domain=NumericDomain.even(low=0, high=9, step=1))
DERIVATION = Derivation(
    what="days", start=DateColumn(name="from", format="iso"), until=DateColumn(name="to")
)
AT = dataclasses.replace(DERIVATION, until=None, at=20_000)


def of_attribute(attribute: Attribute, missing: frozenset[str] = frozenset()) -> str:
    rule = CoverRule(attribute=attribute, codes=(1,), values=("1",))
    schema = Schema(attributes=(), class_attribute=None, missing_values=missing, cover=rule)
    plan = plan_of({**PLAN, "attributes": {**PLAN["attributes"], "elsewhere": {"numeric": [0, 9]}}})
    return covers.rule_digest(plan, schema, rule)


ATTRIBUTES = {
    "name": "elsewhere",
    "domain": NumericDomain.even(low=0, high=8, step=1),
    "missing_values": frozenset({"none"}),
    "unreadable": "missing",
    "letters": 3,
    "derivation": DERIVATION,
}
DERIVATIONS = {
    "what": "years",
    "start": DateColumn(name="admitted"),
    "until": DateColumn(name="discharged"),
    "at": 20_000,
}
COLUMNS = {"name": "admitted", "format": "dd.mm.yyyy"}


@pytest.mark.parametrize(
    ("kind", "others"),
    [(Attribute, ATTRIBUTES), (Derivation, DERIVATIONS), (DateColumn, COLUMNS)],
)
def test_every_field_of_an_attribute_has_a_test_here(kind, others):
    assert {field.name for field in dataclasses.fields(kind)} == set(others)


@pytest.mark.parametrize("field", ATTRIBUTES)
def test_every_field_of_the_attribute_changes_the_digest(field):
    changed = dataclasses.replace(ATTRIBUTE, **{field: ATTRIBUTES[field]})
    assert of_attribute(changed) != of_attribute(ATTRIBUTE)


@pytest.mark.parametrize("field", DERIVATIONS)
def test_every_field_of_a_derivation_changes_the_digest(field):
    def of(derivation: Derivation) -> str:
        return of_attribute(dataclasses.replace(ATTRIBUTE, derivation=derivation))

    assert of(dataclasses.replace(DERIVATION, **{field: DERIVATIONS[field]})) != of(DERIVATION)
    assert of(AT) != of(dataclasses.replace(AT, at=20_001))


@pytest.mark.parametrize("field", COLUMNS)
@pytest.mark.parametrize("end", ["start", "until"])
def test_every_field_of_a_date_column_changes_the_digest(end, field):
    column = dataclasses.replace(getattr(DERIVATION, end), **{field: COLUMNS[field]})
    derivation = dataclasses.replace(DERIVATION, **{end: column})
    assert of_attribute(dataclasses.replace(ATTRIBUTE, derivation=derivation)) != of_attribute(
        dataclasses.replace(ATTRIBUTE, derivation=DERIVATION)
    )


def test_the_missing_values_of_the_whole_table_change_the_digest():
    assert of_attribute(ATTRIBUTE, frozenset({"?"})) != of_attribute(ATTRIBUTE)


LEAVES = CategoricalDomain.over(TREE, other=None, missing=None, reads=None)
EVEN = NumericDomain.even
DATES = DateDomain.between
DAYS = (date(2026, 1, 1), date(2026, 12, 31))
NESTED = taxonomy_of({"x": ["a", "b"], "y": ["c"]}, base=Path(), where="taxonomy")
MOVED = taxonomy_of({"x": ["a"], "y": ["b", "c"]}, base=Path(), where="taxonomy")
DOMAINS = {
    "parents": [
        CategoricalDomain.over(NESTED, other=None, missing=None, reads=None),
        CategoricalDomain.over(MOVED, other=None, missing=None, reads=None),
    ],
    "labels": [LEAVES, CategoricalDomain.over(OTHER_TREE, other=None, missing=None, reads=None)],
    "other": [LEAVES, CategoricalDomain.over(TREE, other="c", missing=None, reads=None)],
    "missing": [LEAVES, CategoricalDomain.over(TREE, other=None, missing="c", reads=None)],
    "reads": [LEAVES, CategoricalDomain.over(TREE, other=None, missing=None, reads="x")],
    "low": [EVEN(low=0, high=9, step=1), EVEN(low=1, high=9, step=1)],
    "high": [EVEN(low=0, high=9, step=1), EVEN(low=0, high=8, step=1)],
    "step": [EVEN(low=0, high=9, step=1), EVEN(low=0, high=9, step=3)],
    "a code for missing numbers": [
        EVEN(low=0, high=9, step=1),
        EVEN(low=0, high=9, step=1, missing=True),
    ],
    "edges": [NumericDomain.from_edges([0, 5, 9]), NumericDomain.from_edges([0, 4, 9])],
    "a code for missing cells": [
        NumericDomain.from_edges([0, 5, 9]),
        NumericDomain.from_edges([0, 5, 9], missing=True),
    ],
    "first day": [DATES(*DAYS, step="month"), DATES(date(2026, 2, 1), DAYS[1], step="month")],
    "last day": [DATES(*DAYS, step="month"), DATES(DAYS[0], date(2027, 1, 31), step="month")],
    "calendar": [DATES(*DAYS, step="month"), DATES(*DAYS, step="quarter")],
    "a code for missing days": [
        DATES(*DAYS, step="month"),
        DATES(*DAYS, step="month", missing=True),
    ],
}


@pytest.mark.parametrize("fact", DOMAINS)
def test_every_fact_of_a_domain_changes_the_digest(fact):
    one, other = (dataclasses.replace(ATTRIBUTE, domain=each) for each in DOMAINS[fact])
    assert of_attribute(one) != of_attribute(other)


# A part whose encoding is corrected: the same bytes get other codes.
TOWNS = {"role": "cover", "values": ["Köln", "Ulm"], "other": "elsewhere"}


def towns(encoding: str, value: str, ledger: Path) -> dict[str, Any]:
    return {
        "reading": {"encoding": encoding},
        "attributes": {"town": TOWNS, "age": {"numeric": [0, 3]}},
        "covers": {"column": "town", "values": [value]},
        "protects": "records",
        "confirmed": True,
        "publish": {"method": "basic-table", "epsilon": 1},
        "ledger": {"dataset": "towns", "cap": 1, "file": str(ledger)},
    }


def test_a_corrected_encoding_does_not_make_two_parts_disjoint(tmp_path):
    path, ledger = tmp_path / "towns.csv", tmp_path / "ledger.sqlite"
    path.write_bytes(b"town,age\n" + "Köln,2\n".encode() * 300)
    first, second = towns("latin-1", "elsewhere", ledger), towns("utf-8", "Köln", ledger)
    n_counted = [
        len(encode_table(open_table(path, reading=plan.how_to_read()), schema_of(plan)).codes[0])
        for plan in (plan_of(first), plan_of(second))
    ]
    assert n_counted == [300, 300]  # every record is in both parts
    hedgerow.publish(first, data=path, even_if_noise=True)
    with pytest.raises(CapError) as refused:
        hedgerow.publish(second, data=path, even_if_noise=True)
    assert any("'reading'" in note for note in refused.value.__notes__)


def test_parts_booked_under_an_older_digest_add_up(tmp_path, monkeypatch):
    path, ledger = tmp_path / "towns.csv", tmp_path / "ledger.sqlite"
    path.write_text("town,age\n" + "Ulm,2\nKöln,1\n" * 300, encoding="utf-8")
    with monkeypatch.context() as older:
        older.setattr(covers, "rule_digest", lambda *_: hashlib.sha256(b"older rules").hexdigest())
        hedgerow.publish(towns("utf-8", "Ulm", ledger), data=path, even_if_noise=True)
    with pytest.raises(CapError):
        hedgerow.publish(towns("utf-8", "Köln", ledger), data=path, even_if_noise=True)
    more = towns("utf-8", "Köln", ledger)
    Ledger(ledger).set_cap("towns", 2, "room for both")
    more["ledger"]["cap"] = 2
    hedgerow.publish(more, data=path, even_if_noise=True)
    assert Ledger(ledger).spent("towns") == 2


# Values that readers and encoders have to decide on, each in a file of its own.
WORDS = ["1", " 1", "1.0", "01", "1e0", "+1", "1.", "a", "A", '"a"', "a ", "17.0", "?", "NA", "é"]
NUMBERS = [
    "1",
    " 2 ",
    "3.0",
    "1e0",
    "+4",
    "-1",
    "99",
    ".5",
    "7.",
    "?",
    "",
    "nan",
    "1_0",
    "0x1",
    "x",
]
DAYS_WRITTEN = ["2026-01-31", "2025-12-31", "2027-01-01", "31.01.2026", "2026-02-30", "?", "x"]
KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "texts": ({"values": ["1", "17", "a", "é"], "other": "else"}, WORDS),
    "letters": ({"values": ["1", "a", "é"], "other": "else", "letters": 1}, WORDS),
    "numbers": ({"numeric": [0, 9], "unreadable": "missing"}, NUMBERS),
    "edges": ({"edges": [0, 1, 2.5, 9], "unreadable": "missing"}, NUMBERS),
    "dates": (
        {
            "date": {"from": "2026-01-01", "to": "2026-12-31", "step": "month"},
            "unreadable": "missing",
        },
        DAYS_WRITTEN,
    ),
}
RULES = {1: "de3e63a8baeb8d62be57d43fdc90bdeff9ce8700bd97fc9e70657560d442e563"}
"""What version of the reading rules gives which codes."""


def codes_of(kind: str, text: str, name: str, folder: Path, reading: dict[str, str]) -> list[int]:
    attributes = {"v": KINDS[kind][0], "n": {"numeric": [0, 99]}}
    plan = plan_of({"attributes": attributes, "missing": "value", "reading": reading})
    path = folder / name
    path.write_bytes(text.encode(reading.get("encoding", "utf-8")))
    codes = encode_table(open_table(path, reading=plan.how_to_read()), schema_of(plan)).codes
    return [*codes[0].tolist(), *codes[1].tolist()]


def test_a_change_of_the_reading_rules_has_a_new_version(tmp_path):
    found: dict[str, list[int]] = {}
    for kind, (_, words) in KINDS.items():
        rows = list(enumerate(words))
        lines = {
            "csv": "v,n\n" + "".join(f"{word},{at}\n" for at, word in rows),
            "tsv": "v\tn\r\n" + "".join(f"{word}\t{at}\r\n" for at, word in rows),
            "jsonl": "".join(json.dumps({"v": word, "n": at}) + "\n" for at, word in rows),
        }
        for ending, text in lines.items():
            name = f"{kind}.{ending}"
            found[name] = codes_of(kind, text, name, tmp_path, {})
            found[f"{name} latin-1"] = codes_of(kind, text, name, tmp_path, {"encoding": "latin-1"})
        found[f"{kind} quotes"] = codes_of(
            kind, lines["csv"], f"{kind}.csv", tmp_path, {"quote": "none"}
        )
    told = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
    assert told == RULES[READING_RULES], (
        "These values get other codes than before: increase READING_RULES in"
        f" hedgerow/model/reading.py, and add its digest here: {told}"
    )
