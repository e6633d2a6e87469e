"""What a signature covers: every key of a plan that is not on an explicit list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import combinations
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from hedgerow.errors import PlanError
from hedgerow.plan.attribute import AttributePlan
from hedgerow.plan.covers import CoversPlan, PeopleDisjointPlan
from hedgerow.plan.dates import DatePlan
from hedgerow.plan.derive import DateColumnPlan
from hedgerow.plan.disclose import DISCLOSE_FAMILIES
from hedgerow.plan.disclose_parts import RiskPlan, UtilityPlan
from hedgerow.plan.fields import PlanModel
from hedgerow.plan.items import ItemsPlan
from hedgerow.plan.load import plan_of
from hedgerow.plan.mistakes import keys_of
from hedgerow.plan.model import LedgerPlan, Plan
from hedgerow.plan.reading import ReadingPlan
from hedgerow.plan.registry import METHODS
from hedgerow.plan.signature import NOT_SIGNED, differences, signable
from support.engine_plans import SETTINGS

FINGERPRINT = "0" * 64
SIGNATURE = {"by": "A", "on": "2026-11-18", "plan": FINGERPRINT}

TABLE: dict[str, Any] = {
    "attributes": {
        "age": {"numeric": [0, 99]},
        "ward": {"values": ["A", "B"]},
        "sick": {"role": "class", "values": ["no", "yes"]},
    },
    "one-record-per-person": True,
    "publish": {"method": "hedge", "epsilon": 1},
    "ledger": {"dataset": "wards", "cap": 4},
}
BASKETS: dict[str, Any] = {
    "items": {"universe": [1, 9]},
    "protects": "records",
    "publish": {"method": "diffpart", "epsilon": 1},
}
DISCLOSED: dict[str, Any] = {
    "attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B"]}},
    "disclose": {"method": "aruba"},
}


def fingerprint(mapping: Mapping[str, Any]) -> str:
    return signable(
        plan_of(mapping), {"items": "ab" * 32} if "items" in mapping else {}
    ).fingerprint


def changed(mapping: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return the mapping with another value at a path; ``None`` removes the key."""
    copy: Any = deepcopy(dict(mapping))
    holder = copy
    for step in path[:-1]:
        holder = holder.setdefault(step, {})
    if value is None:
        holder.pop(path[-1], None)
    else:
        holder[path[-1]] = value
    return copy


ATTRIBUTES: list[dict[str, Any]] = [
    {"numeric": [0, 99]},
    {"numeric": [0, 98]},
    {"numeric": [0, 99], "step": 3},
    {"numeric": [0, 99], "unit": "years"},
    {"numeric": [0, 99], "meaning": "age at admission"},
    {"numeric": [0, 99], "source": "code book p. 4"},
    {"numeric": [0, 99], "missing-values": ["x"]},
    {"numeric": [0, 99], "unreadable": "missing"},
    {"numeric": [0, 99], "decimal": "comma"},
    {"numeric": [0, 99], "thousands": "comma"},
    {"numeric": [0, 99], "from": "born", "years-at": "2026-01-01"},
    {"numeric": [0, 99], "from": "born", "years-at": "2026-01-02"},
    {
        "numeric": [0, 99],
        "from": {"column": "born", "format": "dd.mm.yyyy"},
        "years-at": "2026-01-01",
    },
    {"numeric": [0, 99], "from": "born", "years-until": "seen"},
    {"numeric": [0, 99], "from": "born", "days-until": "seen"},
    {"values": ["1", "2"], "from": "born", "part": "month"},
    {"edges": [0, 50, 99]},
    {"edges": [0, 51, 99]},
    {"date": {"from": "2010-01-01", "to": "2020-12-31"}},
    {"date": {"from": "2010-01-02", "to": "2020-12-31"}},
    {"date": {"from": "2010-01-01", "to": "2020-12-30"}},
    {"date": {"from": "2010-01-01", "to": "2020-12-31", "step": "month"}},
    {"date": {"from": "2010-01-01", "to": "2020-12-31", "format": "dd.mm.yyyy"}},
    {"values": ["0", "1"]},
    {"values": ["1", "0"]},
    {"values": ["0", "1"], "other": "else"},
    {"values": ["0", "1"], "letters": 1},
    {"taxonomy": "age.csv"},
    {"taxonomy": {"old": None, "young": None}},
    {"taxonomy": {"young": None, "old": None}},
    {"role": "drop"},
    {"role": "identifier"},
]
READINGS: list[dict[str, Any]] = [
    {},
    {"encoding": "latin-1"},
    {"delimiter": "semicolon"},
    {"decimal": "comma"},
    {"thousands": "comma"},
    {"header": ["age", "ward", "sick"]},
    {"quote": "none"},
    {"malformed": "drop"},
    {"seconds": 7},
    {"megabytes": 7},
    {"format": "json-lines"},
    {"sheet": "2026"},
    {"value-labels": "ignore"},
]
LEDGERS: list[dict[str, Any]] = [
    {"dataset": "wards", "cap": 4},
    {"dataset": "wards", "cap": 5},
    {"dataset": "ward", "cap": 4},
    {"people": "wards", "cap": 4},
    {"dataset": "wards", "cap": 4, "delta-cap": "1e-6"},
]
COVERS: list[dict[str, Any]] = [
    {"column": "ward", "values": ["A"]},
    {"column": "ward", "values": ["B"]},
    {"column": "sick", "values": ["no"]},
    {
        "column": "ward",
        "values": ["A"],
        "people-disjoint": {"confirmed": True, "why": "one ward each"},
    },
    {
        "column": "ward",
        "values": ["A"],
        "people-disjoint": {"confirmed": True, "why": "another reason"},
    },
]
UNIVERSES: list[dict[str, Any]] = [
    {"universe": [1, 9]},
    {"universe": [1, 8]},
    {"universe": "items.txt"},
    {"taxonomy": "items.csv"},
    {"universe": [1, 9], "fan-out": 3},
    {"universe": [1, 9], "column": "thing"},
    {"universe": [1, 9], "column": "thing", "record": "receipt"},
    {"universe": [1, 9], "separator": "comma"},
    {"universe": [1, 9], "as": "sets"},
    {"universe": [1, 9], "source": "price list"},
]
SEQUENCES: list[dict[str, Any]] = [
    {"universe": [1, 9], "ordered": True},
    {"universe": [1, 9], "ordered": True, "column": "c", "record": "r", "order": "when"},
]
SECTIONS: dict[str, tuple[dict[str, Any], tuple[str, ...], list[dict[str, Any]]]] = {
    "attribute": (TABLE, ("attributes", "age"), ATTRIBUTES),
    "reading": (TABLE, ("reading",), READINGS),
    "ledger": (TABLE, ("ledger",), LEDGERS),
    "covers": (TABLE, ("covers",), COVERS),
    "items": (BASKETS, ("items",), UNIVERSES),
    "sequences": (
        {**BASKETS, "publish": {"method": "chain", "epsilon": 1}},
        ("items",),
        SEQUENCES,
    ),
}
PLANS: dict[str, list[dict[str, Any]]] = {
    "missing": [{"missing": "value"}],
    "missing-values": [{"missing-values": ["", "?", "NA"]}],
    "records": [{"records": 20_000}, {"records": 30_000}],
    "person": [
        {"one-record-per-person": None, "person": "who", "records-per-person": 4},
        {"one-record-per-person": None, "person": "whose", "records-per-person": 4},
    ],
    "records-per-person": [
        {"one-record-per-person": None, "person": "who", "records-per-person": "auto"},
        {"one-record-per-person": None, "person": "who", "records-per-person": 5},
    ],
    "count": [
        {
            "one-record-per-person": None,
            "person": "who",
            "records-per-person": 4,
            "count": "people",
        }
    ],
    "one-record-per-person": [{"one-record-per-person": None}],
    "protects": [{"one-record-per-person": None, "protects": "records"}],
    "to-do": [{"to-do": ["Whose records are these?"]}],
    "query": [
        {"data": "sqlite:///x", "query": "select 1"},
        {"data": "sqlite:///x", "query": "select 2"},
    ],
    "table": [{"data": "sqlite:///x", "table": "a"}, {"data": "sqlite:///x", "table": "b"}],
    "publish": [{"publish": {"method": "weave", "epsilon": 1}}, {"publish": None}],
    "disclose": [{"disclose": {"method": "aruba"}}],
    "join": [
        {
            "attributes": None,
            "ledger": None,
            "one-record-per-person": None,
            "items": {"universe": [1, 9], "column": "thing", "record": "receipt"},
            "person": "who",
            "join": "union",
            "publish": {"method": "coterie", "epsilon": 1},
        }
    ],
}
"""Plans that differ from `TABLE` in one statement, by the key of it."""


def plan_with(changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**TABLE, **changes}
    return {key: value for key, value in merged.items() if value is not None}


@pytest.mark.parametrize("section", SECTIONS)
def test_whatever_a_section_says_changes_the_fingerprint(section: str) -> None:
    base, path, choices = SECTIONS[section]
    found = [fingerprint(changed(base, path, each)) for each in choices]
    assert len(set(found)) == len(choices)


def test_whatever_the_plan_says_changes_the_fingerprint() -> None:
    plans = [TABLE, *(plan_with(each) for listed in PLANS.values() for each in listed)]
    assert len({fingerprint(each) for each in plans}) == len(plans)


def keys_in(choices: list[dict[str, Any]], *path: str) -> set[str]:
    found: set[str] = set()
    for each in choices:
        part: Any = each
        for step in path:
            part = part.get(step, {})
        found |= set(part) if isinstance(part, dict) else set()
    return found


def test_no_key_of_the_plan_is_forgotten() -> None:
    """A new key must be given a plan above, or a reason why it is not signed."""
    tried = {*PLANS, "attributes", "items", "reading", "ledger", "covers"}
    unsigned = {path[0] for path in NOT_SIGNED if len(path) == 1}
    assert tried | unsigned == set(keys_of(Plan))
    assert not tried & unsigned
    assert all(reason for reason in NOT_SIGNED.values())
    parts: dict[type[PlanModel], set[str]] = {
        AttributePlan: keys_in(ATTRIBUTES),
        DatePlan: keys_in(ATTRIBUTES, "date"),
        DateColumnPlan: keys_in(ATTRIBUTES, "from"),
        ReadingPlan: keys_in(READINGS),
        LedgerPlan: keys_in(LEDGERS) | {"file"},
        CoversPlan: keys_in(COVERS),
        PeopleDisjointPlan: keys_in(COVERS, "people-disjoint"),
        ItemsPlan: keys_in(UNIVERSES) | keys_in(SEQUENCES),
    }
    for model, keys in parts.items():
        assert keys == set(keys_of(model)), model
    settings = {*METHODS.values(), *DISCLOSE_FAMILIES.values(), UtilityPlan, RiskPlan}
    assert models_below(Plan) <= {*parts, *settings, Plan, *signatures()}


def signatures() -> set[type[PlanModel]]:
    from hedgerow.plan.approval import ApprovedPlan, ConfirmedPlan

    return {ApprovedPlan, ConfirmedPlan}


def models_below(model: type[PlanModel]) -> set[type[PlanModel]]:
    """Return every part of a plan that the fields of a model hold."""
    found: set[type[PlanModel]] = set()
    waiting: list[Any] = [each.annotation for each in model.model_fields.values()]
    while waiting:
        kind = waiting.pop()
        waiting += getattr(kind, "__args__", ())
        if isinstance(kind, type) and issubclass(kind, PlanModel) and kind not in found:
            found |= {kind, *models_below(kind)}
    return found - {each for each in found if each.__subclasses__()}


CANDIDATES: tuple[Any, ...] = (
    *(True, False, 2, 3, 5, 0, "1/3", "1/1000", "auto", "all", "text", "half", "30%"),
    *(["age"], [["age", "ward"]], {"age": 2}, {"age": "weight"}),
    *([{"age": [1, 2]}], {"age": [0, 1]}, {"by": "ward", "factors": {"A": 2}}),
)


def other_value(model: type[PlanModel], name: str, now: Any) -> Any:
    """Return a value that the field may have, and has not; ``None`` if there is just one."""
    field = model.model_fields[name]
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[field.annotation, "", *field.metadata])
    listed = [*literals(field.annotation), *CANDIDATES]
    for value in listed:
        try:
            found = adapter.validate_python(value)
        except ValidationError:
            continue
        if found != now and found is not None:
            return found
    assert len(literals(field.annotation)) == 1, name
    return None


def literals(annotation: Any) -> list[Any]:
    found: list[Any] = []
    for each in getattr(annotation, "__args__", ()):
        found += [each] if isinstance(each, str | int) else literals(each)
    return found


def with_other_values(part: PlanModel) -> Iterator[tuple[str, PlanModel]]:
    """Yield the part of a plan once for each of its fields, with another value there."""
    for name in type(part).model_fields:
        now = getattr(part, name)
        if isinstance(now, PlanModel):
            for inner, copy in with_other_values(now):
                yield f"{name}.{inner}", part.model_copy(update={name: copy})
        elif name != "method" and (value := other_value(type(part), name, now)) is not None:
            yield name, part.model_copy(update={name: value})


def check_every_setting(plan: Plan, section: str) -> None:
    """Check that another value of any setting of a section changes the fingerprint."""
    domains = {"items": "ab" * 32} if plan.items is not None else {}
    before = signable(plan, domains)
    for name, part in with_other_values(getattr(plan, section)):
        after = signable(plan.model_copy(update={section: part}), domains)
        assert after.fingerprint != before.fingerprint, name
        assert differences(before.parts, after.parts), name


METHOD_PLANS: dict[str, dict[str, Any]] = {
    "table": TABLE,
    "baskets": BASKETS,
    "sequences": {"items": {"universe": [1, 9], "ordered": True}, "protects": "records"},
}


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_of_a_method_changes_the_fingerprint(method: str) -> None:
    settings = METHODS[method]
    needed = {"epsilon": 1} if "epsilon" in settings.model_fields else {}
    section = {"method": method, **needed, **SETTINGS.get(method, {})}
    check_every_setting(
        plan_of(changed(METHOD_PLANS[settings.publishes], ("publish",), section)), "publish"
    )


@pytest.mark.parametrize(
    "section",
    [
        {"method": "aruba"},
        {"method": "aggregate", "lambda": 2},
        {"method": "approx", "utility": {"at-least": 1}},
    ],
    ids=lambda section: section["method"],
)
def test_every_setting_of_a_disclosure_changes_the_fingerprint(section: dict[str, Any]) -> None:
    check_every_setting(plan_of(changed(DISCLOSED, ("disclose",), section)), "disclose")


UNSIGNED: dict[tuple[str, ...], list[Any]] = {
    ("data",): [None, "a.csv", "b.parquet"],
    ("confirmed",): [None, True, SIGNATURE, {**SIGNATURE, "by": "B"}],
    ("approved",): [None, {"by": "A", "on": "2026-11-18"}, {**SIGNATURE, "why": "so"}],
    ("ledger", "file"): [None, "ledger.sqlite", "other.sqlite"],
}
SIGNED: dict[tuple[str, ...], list[Any]] = {
    ("missing",): [None, "value"],
    ("records",): [None, 20_000],
    ("reading",): [None, {"encoding": "latin-1"}, {"quote": "none"}],
    ("covers",): [None, *COVERS[:2]],
    ("attributes", "age"): ATTRIBUTES[:4],
    ("attributes", "ward"): [{"values": ["A", "B"]}, {"values": ["B", "A"]}],
    ("publish", "epsilon"): [1, 2, "1/2"],
    ("publish", "method"): ["hedge", "weave"],
    ("ledger", "cap"): [4, 5],
    ("missing-values",): [None, [""]],
}


@given(data=st.data())
def test_only_the_keys_on_the_list_keep_the_fingerprint(data: st.DataObject) -> None:
    def draw() -> tuple[dict[str, Any], list[int]]:
        mapping, signed = dict(TABLE), []
        for path, choices in {**UNSIGNED, **SIGNED}.items():
            chosen = data.draw(st.integers(0, len(choices) - 1))
            mapping = changed(mapping, path, choices[chosen])
            signed += [chosen] if path in SIGNED else []
        return mapping, signed

    assert set(UNSIGNED) == set(NOT_SIGNED)
    (one, first), (two, second) = draw(), draw()
    assert (fingerprint(one) == fingerprint(two)) == (first == second)


def test_the_content_of_a_domain_changes_the_fingerprint_and_is_named() -> None:
    plan = plan_of(changed(TABLE, ("attributes", "ward"), {"taxonomy": "ward.csv"}))
    first, second = (signable(plan, {"ward": digest * 32}) for digest in ("ab", "cd"))
    assert first.fingerprint != second.fingerprint
    assert differences(first.parts, second.parts) == (
        "column 'ward': the content of its taxonomy changed",
    )


def test_the_order_of_columns_changes_the_fingerprint_and_is_named() -> None:
    turned = {**TABLE, "attributes": dict(reversed(TABLE["attributes"].items()))}
    first, second = (signable(plan_of(each), {}) for each in (TABLE, turned))
    assert first.fingerprint != second.fingerprint
    assert differences(first.parts, second.parts) == ("the order of the columns changed",)


@pytest.mark.parametrize("section", SECTIONS)
def test_whatever_changes_in_a_section_is_named(section: str) -> None:
    base, path, choices = SECTIONS[section]
    parts = []
    for each in choices:
        mapping = changed(base, path, each)
        parts.append(signable(plan_of(mapping), {"items": "ab" * 32}).parts)
    for one, two in combinations(parts, 2):
        assert differences(one, two)


def test_long_values_and_queries_are_kept_as_digests() -> None:
    values = [f"value {n}" for n in range(50)]
    mapping = changed(TABLE, ("attributes", "ward"), {"values": values})
    mapping |= {"data": "sqlite:///x", "query": "select secret from visits"}
    text = str(signable(plan_of(mapping), {"ward": "ab" * 32}).parts)
    assert "value 7" not in text
    assert "secret" not in text
    assert "sqlite" not in text


@pytest.mark.parametrize(
    ("signature", "where"),
    [
        ({"by": "A", "on": "2026-11-18"}, "confirmed.plan"),
        ({"on": "2026-11-18", "plan": FINGERPRINT}, "confirmed.by"),
        ({"by": "A", "plan": FINGERPRINT}, "confirmed.on"),
        ({"by": "A", "on": "2026-11-18", "plan": "1234"}, "confirmed.plan"),
        ({"by": "A", "on": "2026-11-18", "plan": FINGERPRINT.replace("0", "G")}, "confirmed.plan"),
        ({**SIGNATURE, "signed": [1]}, "confirmed.signed"),
        ({**SIGNATURE, "until": "2027"}, "confirmed.until"),
        ("yes", "confirmed"),
        (1, "confirmed"),
    ],
)
def test_a_signature_that_is_incomplete_is_a_mistake(signature: object, where: str) -> None:
    with pytest.raises(PlanError) as raised:
        plan_of({**TABLE, "confirmed": signature})
    assert raised.value.paths == (where,)
