"""Every mistake in a plan: its path, what is wrong and what is allowed, in one message."""

import json
from datetime import date
from decimal import Decimal

import pytest

from hedgerow.errors import PlanError
from hedgerow.plan.load import load_plan, plan_of

GOOD = {
    "attributes": {
        "age": {"numeric": [17, 90]},
        "income": {"role": "class", "values": ["low", "high"]},
    },
    "publish": {"epsilon": 1},
}


def with_age(**keys):
    return {**GOOD, "attributes": {**GOOD["attributes"], "age": keys}}


def with_publish(**keys):
    return {**GOOD, "publish": {"method": "diffgen", "epsilon": 1, **keys}}


def with_ledger(**keys):
    return {**GOOD, "ledger": {"dataset": "d", "cap": 4, **keys}}


def with_reading(**changes):
    return {**GOOD, "reading": changes}


def nested(depth):
    tree = {"leaf": None}
    for _ in range(depth):
        tree = {"node": tree}
    return tree


# what is given, the path of the mistake, and words that its message must hold
MISTAKES = {
    "no attributes": ({}, "attributes", ["missing", "mapping of column names"]),
    "empty attributes": ({"attributes": {}}, "attributes", ["list is empty"]),
    "attributes as a list": ({"attributes": ["age"]}, "attributes", ["mapping of column names"]),
    "too many attributes": (
        {"attributes": {f"a{i}": {"role": "drop"} for i in range(10_001)}},
        "attributes",
        ["10,000"],
    ),
    "unknown key": (
        {**GOOD, "colour": 1},
        "colour",
        ["The key is unknown", "data, query, table, read"],
    ),
    "misspelt key": ({**GOOD, "confirmd": True}, "confirmd", ["Did you mean 'confirmed'?"]),
    "snake case key": (
        {**GOOD, "missing_values": []},
        "missing_values",
        ["Did you mean 'missing-values'?"],
    ),
    "key of another section": ({**GOOD, "epsilon": 1}, "epsilon", ["belongs under 'publish'"]),
    "ledger key on top": ({**GOOD, "cap": 1}, "cap", ["belongs under 'ledger'"]),
    "top key in a section": (
        with_publish(confirmed=True),
        "publish.confirmed",
        ["belongs at the top of the plan"],
    ),
    "data is no text": ({**GOOD, "data": 3}, "data", ["not a text", "database URL"]),
    "data is empty": ({**GOOD, "data": " "}, "data", ["empty"]),
    "query without database": (
        {**GOOD, "data": "adult.csv", "query": "select 1"},
        "query",
        ["postgresql://"],
    ),
    "database without query": ({**GOOD, "data": "sqlite:///x.db"}, "query", ["SELECT"]),
    "missing policy": ({**GOOD, "missing": "dorp"}, "missing", ["Did you mean 'drop'?", "value"]),
    "missing values no list": (
        {**GOOD, "missing-values": "?"},
        "missing-values",
        ["not a list", "list of texts"],
    ),
    "missing values no text": (
        {**GOOD, "missing-values": ["?", None]},
        "missing-values[1]",
        ["quotes"],
    ),
    "missing values twice": ({**GOOD, "missing-values": ["?", "?"]}, "missing-values", ["twice"]),
    "confirmed as text": ({**GOOD, "confirmed": "yes"}, "confirmed", ["true", "false"]),
    "confirmed as number": ({**GOOD, "confirmed": 1}, "confirmed", ["true", "false"]),
    "attribute is nothing": (
        {**GOOD, "attributes": {"age": None}},
        "attributes.age",
        ["not a mapping", "numeric: [0, 100]", "role: drop"],
    ),
    "attribute without domain": (
        with_age(),
        "attributes.age",
        ["no domain", "numeric, edges, date, taxonomy, values", "role: drop"],
    ),
    "two domains": (
        with_age(numeric=[0, 1], values=["a"]),
        "attributes.age",
        ["numeric and values", "Keep one of"],
    ),
    "unknown attribute key": (
        with_age(numric=[0, 1]),
        "attributes.age.numric",
        [
            "Did you mean 'numeric'?",
            "role, numeric, step, edges, date, taxonomy, values, other, letters, missing-values,"
            " unreadable, decimal, thousands, from, years-at, years-until, days-until, part",
        ],
    ),
    "unknown role": (
        with_age(role="predicter"),
        "attributes.age.role",
        ["Did you mean 'predictor'?", "predictor, class, cover, drop, identifier"],
    ),
    "role in capitals": (with_age(role="DROP"), "attributes.age.role", ["Did you mean 'drop'?"]),
    "role is no text": (with_age(role=["drop"]), "attributes.age.role", ["predictor, class"]),
    "bounds fall": (
        with_age(numeric=[90, 17]),
        "attributes.age.numeric",
        ["The lower bound (90) is not below the upper bound (17)", "low < high"],
    ),
    "bounds equal": (with_age(numeric=[1, 1.0]), "attributes.age.numeric", ["low < high"]),
    "one bound": (with_age(numeric=[1]), "attributes.age.numeric", ["[low, high]"]),
    "bounds no list": (with_age(numeric=5), "attributes.age.numeric", ["[low, high]"]),
    "bound is text": (
        with_age(numeric=[0, "many"]),
        "attributes.age.numeric[1]",
        ["not a number", "0.5"],
    ),
    "bound is nan": (
        with_age(numeric=[0, float("nan")]),
        "attributes.age.numeric[1]",
        ["not a finite number"],
    ),
    "bound is infinite": (
        with_age(numeric=[float("-inf"), 0]),
        "attributes.age.numeric[0]",
        ["not a finite number"],
    ),
    "bound is huge": (
        with_age(numeric=[0, Decimal("1e999999999")]),
        "attributes.age.numeric[1]",
        ["too large"],
    ),
    "bound above doubles": (with_age(numeric=[0, 10**16]), "attributes.age.numeric[1]", ["1e15"]),
    "bound is true": (with_age(numeric=[True, 5]), "attributes.age.numeric[0]", ["not numbers"]),
    "bound over nothing": (
        with_age(numeric=["1/0", 5]),
        "attributes.age.numeric[0]",
        ["cannot be over 0"],
    ),
    "bound of many digits": (
        with_age(numeric=["1" * 101, 5]),
        "attributes.age.numeric[0]",
        ["at most 100"],
    ),
    "step is zero": (
        with_age(numeric=[0, 1], step=0),
        "attributes.age.step",
        ["0 is out of range", "above 0"],
    ),
    "step is negative": (with_age(numeric=[0, 1], step=-0.5), "attributes.age.step", ["above 0"]),
    "step is text": (with_age(numeric=[0, 1], step="one"), "attributes.age.step", ["not a number"]),
    "step without numeric": (with_age(values=["a"], step=1), "attributes.age.step", ["Remove"]),
    "grid too fine": (
        with_age(numeric=[0, 10], step="1/1000001"),
        "attributes.age.step",
        ["10,000,000 cells", "wider step"],
    ),
    "grid finer than doubles": (
        with_age(numeric=["1/1000000007", 1], step="1/1000003"),
        "attributes.age.step",
        ["finer than the floating-point", "fewer digits"],
    ),
    "edges closer than doubles": (
        with_age(edges=["1", "1.00000000000000000001"]),
        "attributes.age.edges",
        ["further apart"],
    ),
    "edges fall": (with_age(edges=[0, 5, 5, 9]), "attributes.age.edges", ["Edge 3", "strictly"]),
    "one edge": (with_age(edges=[0]), "attributes.age.edges", ["at least two"]),
    "edges no list": (with_age(edges="0,5"), "attributes.age.edges", ["not a list", "increasing"]),
    "edges and numeric": (
        with_age(edges=[0, 1], numeric=[0, 1]),
        "attributes.age",
        ["numeric and edges"],
    ),
    "values no list": (with_age(values="a"), "attributes.age.values", ["not a list"]),
    "values empty": (with_age(values=[]), "attributes.age.values", ["list is empty"]),
    "value is a decimal": (with_age(values=["a", 1.5]), "attributes.age.values[1]", ["in quotes"]),
    "value is true": (with_age(values=[True]), "attributes.age.values[0]", ["in quotes"]),
    "value is nothing": (with_age(values=[None]), "attributes.age.values[0]", ["in quotes"]),
    "value is a date": (
        with_age(values=[date(2026, 1, 1)]),
        "attributes.age.values[0]",
        ["in quotes"],
    ),
    "value is empty": (with_age(values=[""]), "attributes.age.values[0]", ["empty"]),
    "value with blanks": (with_age(values=[" a"]), "attributes.age.values[0]", ["blanks"]),
    "value is the root": (with_age(values=["*"]), "attributes.age.values[0]", ["all values"]),
    "value twice": (with_age(values=["a", 1, "1"]), "attributes.age.values", ["'1' twice"]),
    "value is missing": (
        with_age(values=["a", "?"]),
        "attributes.age.values[1]",
        ["missing-values", "'?'"],
    ),
    "value with line end": (
        with_age(values=["a\nb"]),
        "attributes.age.values[0]",
        ["control character"],
    ),
    "value too long": (with_age(values=["a" * 1001]), "attributes.age.values[0]", ["1,000"]),
    "taxonomy is a list": (
        with_age(taxonomy=["a"]),
        "attributes.age.taxonomy",
        ["path of a taxonomy file", "values"],
    ),
    "taxonomy is empty": (with_age(taxonomy={}), "attributes.age.taxonomy", ["nested mapping"]),
    "taxonomy too deep": (with_age(taxonomy=nested(70)), "attributes.age.taxonomy", ["64 levels"]),
    "taxonomy with a date": (
        with_age(taxonomy={"any": [date(2026, 1, 1)]}),
        "attributes.age.taxonomy",
        ["quotes"],
    ),
    "taxonomy not finite": (
        with_age(taxonomy={"width": float("inf")}),
        "attributes.age.taxonomy",
        ["finite"],
    ),
    "other for a number": (
        with_age(numeric=[0, 1], other="rest"),
        "attributes.age.other",
        ["clamped", "'taxonomy' or 'values'"],
    ),
    "other is a list": (with_age(values=["a"], other=["b"]), "attributes.age.other", ["quotes"]),
    "drop with a domain": (
        with_age(role="drop", numeric=[0, 1]),
        "attributes.age.numeric",
        ["'drop' needs no domain", "predictor or class"],
    ),
    "identifier with a step": (with_age(role="identifier", step=2), "attributes.age.step", []),
    "class is a number": (
        with_age(role="class", numeric=[0, 1]),
        "attributes.age.numeric",
        ["cannot be a number", "values"],
    ),
    "too many classes": (
        with_age(role="class", values=[str(i) for i in range(65_536)]),
        "attributes.age.values",
        ["65,535"],
    ),
    "two classes": (
        {
            "attributes": {
                "a": {"role": "class", "values": ["x"]},
                "b": {"role": "class", "values": ["x"]},
            }
        },
        "attributes.b.role",
        ["second class", "'a'"],
    ),
    "name with NUL": (
        {"attributes": {"a\0b": {"role": "drop"}}},
        r"attributes.'a\x00b'",
        ["control character"],
    ),
    "name half a character": (
        {"attributes": {"\ud800": {"role": "drop"}}},
        "attributes.���",  # no text file could hold the name itself
        ["control character"],
    ),
    "ledger with NUL": (with_ledger(file="a\0b"), "ledger.file", ["holds a NUL", "Remove it"]),
    "ledger half a character": (with_ledger(file="\ud800"), "ledger.file", ["half a character"]),
    "data with NUL": ({**GOOD, "data": "a\0b"}, "data", ["holds a NUL"]),
    "query half a character": ({**GOOD, "query": "select '\udc80'"}, "query", ["half a char"]),
    "name empty": ({"attributes": {"": {"role": "drop"}}}, "attributes.''", ["empty"]),
    "publish is a text": ({**GOOD, "publish": "diffgen"}, "publish", ["not a mapping", "method"]),
    "unknown method": (
        with_publish(method="difgen"),
        "publish.method",
        ["Did you mean 'diffgen'?", "Allowed: "],
    ),
    "method is a number": (
        with_publish(method=3),
        "publish.method",
        ["Allowed: hedge, weave, diffgen"],
    ),
    "setting of no method": (
        with_publish(eplison=2),
        "publish.eplison",
        ["Did you mean 'epsilon'?", "method, epsilon, for, h, score, faithful"],
    ),
    "python name of a key": (
        with_publish(purpose="classification"),
        "publish.purpose",
        ["The key is unknown", "for"],
    ),
    "no epsilon": ({**GOOD, "publish": {}}, "publish.epsilon", ["missing", "fraction"]),
    "epsilon zero": (with_publish(epsilon=0), "publish.epsilon", ["from 1e-9 to 50"]),
    "epsilon negative": (with_publish(epsilon=-1), "publish.epsilon", ["from 1e-9 to 50"]),
    "epsilon nan": (with_publish(epsilon=float("nan")), "publish.epsilon", ["from 1e-9 to 50"]),
    "epsilon infinite": (with_publish(epsilon=float("inf")), "publish.epsilon", ["to 50"]),
    "epsilon enormous": (with_publish(epsilon=10**9), "publish.epsilon", ["to 50"]),
    "epsilon tiny": (with_publish(epsilon="1e-12"), "publish.epsilon", ["1e-9"]),
    "epsilon over nothing": (with_publish(epsilon="1/0"), "publish.epsilon", ["'1/2'"]),
    "epsilon text": (with_publish(epsilon="one"), "publish.epsilon", ["'1/2'"]),
    "epsilon true": (with_publish(epsilon=True), "publish.epsilon", ["'1/2'"]),
    "epsilon list": (with_publish(epsilon=[1]), "publish.epsilon", ["'1/2'"]),
    "unknown purpose": (with_publish(**{"for": "fun"}), "publish.for", ["classification"]),
    "h negative": (with_publish(h=-1), "publish.h", ["from 0", "all"]),
    "h not whole": (with_publish(h=1.5), "publish.h", ["whole number", "all"]),
    "h true": (with_publish(h=True), "publish.h", ["whole number"]),
    "h a word": (with_publish(h="many"), "publish.h", ["all"]),
    "h enormous": (with_publish(h=10**30), "publish.h", ["100,000"]),
    "unknown score": (with_publish(score="best"), "publish.score", ["gini, max, infogain"]),
    "a score the paper does not have": (
        with_publish(score="gini", faithful=True),
        "publish.score",
        ["max or infogain"],
    ),
    "faithful as text": (with_publish(faithful="no"), "publish.faithful", ["true", "false"]),
    "nothing to publish": (
        {"attributes": {"a": {"role": "drop"}}, "publish": {"epsilon": 1}},
        "attributes",
        ["predictor"],
    ),
    "no class to publish for": (
        {"attributes": {"a": {"values": ["x"]}}, "publish": {"method": "diffgen", "epsilon": 1}},
        "publish",
        ["role: class"],
    ),
    "ledger without data set": ({**GOOD, "ledger": {"cap": 1}}, "ledger.dataset", ["missing"]),
    "ledger without cap": ({**GOOD, "ledger": {"dataset": "d"}}, "ledger.cap", ["missing"]),
    "cap zero": (with_ledger(cap=0), "ledger.cap", ["1e-9 to 50"]),
    "cap text": (with_ledger(cap="lots"), "ledger.cap", ["number"]),
    "ledger data set empty": (with_ledger(dataset=""), "ledger.dataset", ["empty"]),
    "encoding": (with_reading(encoding="utf-16"), "reading.encoding", ["utf-8, latin-1"]),
    "delimiter": (with_reading(delimiter=","), "reading.delimiter", ["comma, semicolon, tab"]),
    "header of false": (with_reading(header=False), "reading.header", ["neither"]),
    "header of lines": (with_reading(header=3), "reading.header", ["Only basket files"]),
    "header of two names": (with_reading(header=["a", "a"]), "reading.header[1]", ["twice"]),
    "header of a number": (
        with_reading(header=["a", 1]),
        "reading.header[1]",
        ["name is not a text"],
    ),
    "quotes and dropping": (
        with_reading(quote="multi-line", malformed="drop"),
        "reading.malformed",
        ["it cannot be known which record"],
    ),
    "columns of baskets": (
        {"items": {"universe": [1, 2]}, "reading": {"header": ["a"]}},
        "reading.header",
        ["has no names of columns"],
    ),
    "delimiter of baskets": (
        {"items": {"universe": [1, 2]}, "reading": {"delimiter": "tab"}},
        "reading.delimiter",
        ["items.separator"],
    ),
    "no second": (with_reading(seconds=0), "reading.seconds", ["1 to 1,000,000"]),
    "covers of baskets": (
        {"items": {"universe": [1, 9]}, "covers": {"column": "age", "values": ["1"]}},
        "covers",
        ["Only releases of tables"],
    ),
    "covers of disclosed records": (
        {**GOOD, "covers": {"column": "age", "values": ["1"]}, "disclose": {"method": "aruba"}},
        "covers",
        ["Only releases of tables", "always add up"],
    ),
    "covers by two columns": (
        {
            "attributes": {**GOOD["attributes"], "part": {"values": ["a"], "role": "cover"}},
            "covers": {"column": "age", "values": ["1"]},
        },
        "attributes.part.role",
        ["a plan covers by one"],
    ),
    "covers by a number": (
        {**GOOD, "covers": {"column": 3.5, "values": ["1"]}},
        "covers.column",
        ["is not a text"],
    ),
    "people of records": (
        {**with_publish(), "ledger": {"people": "p", "cap": 4}},
        "ledger.people",
        ["several times larger per person", "'person: COLUMN'"],
    ),
    "people and data set": (with_ledger(people="p"), "ledger.people", ["on one account"]),
    "no account": ({**GOOD, "ledger": {"cap": 4}}, "ledger.dataset", ["is missing", "people"]),
    "ledger unknown key": (
        with_ledger(path="x"),
        "ledger.path",
        ["dataset, people, cap, delta-cap, file"],
    ),
    "ledger file no text": (with_ledger(file=1), "ledger.file", ["not a text", "ledger file"]),
}


@pytest.mark.parametrize(("given", "path", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_names_its_path_and_what_is_allowed(given, path, words):
    with pytest.raises(PlanError) as raised:
        plan_of(given, where="my plan")
    error = raised.value
    message = str(error)
    assert error.paths == (path,)
    assert message.startswith(f"my plan: {path}: ")
    for word in words:
        assert word in message
    assert error.do
    for foreign in (
        "pydantic",
        "does not fit",
        "http",
        "Input should",
        "type=",
        "validation error",
        "Fraction",
    ):
        assert foreign not in message
    assert all(len(line) < 300 for line in message.splitlines())


def test_the_plan_that_the_mistakes_start_from_is_right():
    assert plan_of(GOOD).class_name == "income"


def test_several_mistakes_are_listed_together_one_per_line():
    with pytest.raises(PlanError) as raised:
        plan_of({"attributes": {"a": {"role": "x"}, "b": None}, "confirmed": 2, "extra": 1})
    assert raised.value.paths == ("attributes.a.role", "attributes.b", "confirmed", "extra")
    lines = str(raised.value).splitlines()
    assert lines[0] == "plan: The plan has 4 mistakes."
    assert [line.split(":")[0].strip() for line in lines[1:]] == list(raised.value.paths)


def test_at_most_ten_mistakes_are_listed():
    with pytest.raises(PlanError) as raised:
        plan_of({"attributes": {f"a{i}": None for i in range(25)}})
    lines = str(raised.value).splitlines()
    assert len(lines) == 12
    assert lines[-1] == "  and 15 more"


def test_long_values_are_cut_in_messages():
    secret = "s" * 500
    with pytest.raises(PlanError) as raised:
        plan_of({**GOOD, "missing": secret, "confirmed": secret, secret: 1})
    assert "s" * 61 not in str(raised.value)


def test_a_mistake_in_a_file_names_its_line(tmp_path):
    file = tmp_path / "plan.yaml"
    file.write_text("attributes:\n  age:\n    numeric: [9, 1]\n  sex: {valeus: [f, m]}\n", "utf-8")
    with pytest.raises(PlanError) as raised:
        load_plan(file)
    message = str(raised.value)
    assert "line 3, attributes.age.numeric: " in message
    assert "line 4, attributes.sex.valeus: The key is unknown. Did you mean 'values'?" in message


def test_the_line_of_a_missing_key_is_that_of_its_section(tmp_path):
    file = tmp_path / "plan.yaml"
    file.write_text("attributes: {age: {numeric: [1, 9]}}\n\npublish:\n  for: general\n", "utf-8")
    with pytest.raises(PlanError, match=r"line 3: publish\.epsilon: This setting is missing"):
        load_plan(file)


@pytest.mark.parametrize("value", [3, "text", ["a"], None])
def test_a_file_that_is_no_mapping_is_refused_with_the_keys_it_could_have(tmp_path, value):
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(value), "utf-8")
    with pytest.raises(PlanError, match="not a mapping") as raised:
        load_plan(file)
    assert "attributes" in str(raised.value.do)


EVERY_TEXT = {
    "data": "sqlite:///d.db",
    "query": "select 1",
    "reading": {"sheet": "x", "header": ["age", "ward"]},
    "attributes": {
        "age": {"numeric": [0, 9], "missing-values": ["?"], "unit": "y", "meaning": "m"},
        "ward": {"taxonomy": "w.csv", "other": "o"},
        "town": {"taxonomy": {"A": ["b", "c"]}},
        "sick": {"role": "class", "values": ["n", "y"]},
    },
    "missing-values": ["none"],
    "person": "p",
    "records-per-person": 2,
    "disclose": {"against": "d.csv", "memory": "m", "recipient": "r", "key": "p"},
    "ledger": {"people": "w", "cap": 2, "file": "l"},
}


def texts_in(value, path=()):
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts_in(each, (*path, key))


def changed(value, path, text):
    if not path:
        return text
    copied = value.copy()
    copied[path[0]] = changed(value[path[0]], path[1:], text)
    return copied


@pytest.mark.parametrize("path", [*texts_in(EVERY_TEXT)], ids=lambda path: ".".join(map(str, path)))
@pytest.mark.parametrize("text", ["a\0b", "\ud800", "x\udce9"], ids=["NUL", "half", "byte"])
def test_no_text_of_a_plan_holds_what_no_file_can(path, text):
    plan_of(EVERY_TEXT)
    with pytest.raises(PlanError) as raised:
        plan_of(changed(EVERY_TEXT, path, text))
    assert str(path[0]) in str(raised.value)
    str(raised.value).encode("utf-8")
