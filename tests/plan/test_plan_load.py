"""Plans that are right: three formats, exact numbers, round trips, digests, overrides."""

import datetime as dt
import json
import sys
from fractions import Fraction
from pathlib import Path
from subprocess import run
from typing import ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hedgerow.errors import PlanError
from hedgerow.methods.diffgen.settings import DiffGenSettings
from hedgerow.methods.weave.settings import WeaveSettings
from hedgerow.plan.load import dump_plan, load_plan, plan_digest, plan_mapping, plan_of
from hedgerow.plan.override import merged_settings, override
from hedgerow.plan.settings import PrivateSettings

YAML = """
data: adult.csv
missing: value
missing-values: ["?", n/a, 999]
attributes:
  age: {numeric: [17, 90.5], step: 0.1}
  hours: {edges: [0, 20, 40, "321/4", 99]}
  workclass: {taxonomy: taxonomies/workclass.csv, other: other}
  race: {taxonomy: {any: {a: [x, y], b: null}}}
  fnlwgt: {role: drop}
  income: {role: class, values: ["<=50K", ">50K"]}
  name: {role: identifier}
confirmed: true
publish: {method: diffgen, epsilon: 1/3, for: classification, h: all, score: infogain}
ledger: {dataset: adult-2026, cap: 4}
"""

TOML = """
data = "adult.csv"
missing = "value"
missing-values = ["?", "n/a", 999]
confirmed = true
ledger = {dataset = "adult-2026", cap = 4.0}
[publish]
method = "diffgen"
score = "infogain"
h = "all"
epsilon = "1/3"
[attributes]
age = {numeric = [17, 90.50], step = 0.1}
hours = {edges = [0, 20, 40, 80.25, 99]}
workclass = {taxonomy = "taxonomies/workclass.csv", other = "other"}
fnlwgt = {role = "drop"}
income = {role = "class", values = ["<=50K", ">50K"]}
name = {role = "identifier"}
"""

EXAMPLE = {
    "attributes": {
        "age": {"numeric": [17, 90]},
        "income": {"role": "class", "values": ["low", "high"]},
    },
    "publish": {"method": "diffgen", "epsilon": "1/2", "h": 4},
}


def written(folder, name, text):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return load_plan(file)


def test_yaml_toml_and_json_say_the_same(tmp_path):
    from_yaml = written(tmp_path, "plan.yaml", YAML.replace("  race: ", "  # race: "))
    from_toml = written(tmp_path, "plan.toml", TOML)
    from_json = written(tmp_path, "plan.json", json.dumps(plan_mapping(from_yaml)))
    assert from_yaml == from_toml == from_json
    assert plan_digest(from_yaml) == plan_digest(from_toml) == plan_digest(from_json)


def test_numbers_are_exact(tmp_path):
    plan = written(tmp_path, "plan.yaml", YAML)
    age = plan.attributes["age"]
    assert age.numeric == (17, Fraction(181, 2))
    assert age.step == Fraction(1, 10)
    assert plan.publish.epsilon == Fraction(1, 3)


def test_what_a_plan_leaves_out_has_its_default():
    plan = plan_of({"attributes": {"age": {"numeric": [0, 9]}}})
    assert (plan.missing, plan.missing_values) == ("drop", ("", "?"))
    assert (plan.confirmed, plan.publish, plan.ledger, plan.data) == (False, None, None, None)
    assert plan.attributes["age"].step == 1
    publish = plan_of(EXAMPLE).publish
    assert (publish.method, publish.purpose) == ("diffgen", "classification")
    assert (publish.score, publish.faithful) == (None, False)
    assert publish.score_name == "gini"
    assert publish.model_copy(update={"faithful": True}).score_name == "max"


def test_whole_numbers_are_taken_as_texts_where_texts_belong():
    attributes = {"code": {"values": [1, 2, "03"], "other": 9}}
    plan = plan_of({"attributes": attributes, "missing-values": [-1]})
    assert plan.attributes["code"].values == ("1", "2", "03")
    assert plan.attributes["code"].other == "9"
    assert plan.missing_values == ("-1",)


def test_relative_paths_start_from_the_folder_of_the_plan(tmp_path):
    plan = written(tmp_path, "plan.yaml", YAML)
    assert plan.base == tmp_path
    assert plan.resolve(plan.attributes["workclass"].taxonomy) == (
        tmp_path / "taxonomies" / "workclass.csv"
    )
    assert plan.resolve("/elsewhere/x.csv") == Path("/elsewhere/x.csv")


def test_a_plan_cannot_be_changed():
    plan = plan_of(EXAMPLE)
    with pytest.raises(ValidationError):
        plan.confirmed = True
    with pytest.raises(ValidationError):
        plan.publish.epsilon = Fraction(9)


def test_the_repr_of_a_plan_hides_where_the_data_is():
    plan = plan_of({**EXAMPLE, "data": "postgresql://me:secret@host/db", "query": "select 1"})
    assert "secret" not in repr(plan)


def test_inline_taxonomies_stay_plain_objects_in_their_order(tmp_path):
    tree = written(tmp_path, "plan.yaml", YAML).attributes["race"].taxonomy
    assert tree == {"any": {"a": ["x", "y"], "b": None}}
    again = plan_of({"attributes": {"z": {"taxonomy": {"b": {1: None}, "a": [0.5, True]}}}})
    assert list(again.attributes["z"].taxonomy.items()) == [("b", {"1": None}), ("a", [0.5, True])]


def test_a_plan_with_a_whole_megabyte_of_values_loads(tmp_path):
    values = ", ".join(f"v{i}" for i in range(20_000))
    plan = written(tmp_path, "plan.yaml", f"attributes: {{a: {{values: [{values}]}}}}")
    assert len(plan.attributes["a"].values) == 20_000


def test_the_digest_ignores_the_file_and_sees_every_change(tmp_path):
    plan = plan_of(EXAMPLE)
    same = plan_of({**EXAMPLE, "confirmed": False}, base=tmp_path)
    assert plan_digest(plan) == plan_digest(same)
    turned = dict(reversed(EXAMPLE["attributes"].items()))
    others = [
        override(plan, epsilon=Fraction(1, 3)),
        plan_of({**EXAMPLE, "confirmed": True}),
        plan_of({**EXAMPLE, "attributes": turned}),
    ]
    assert len({plan_digest(other) for other in [plan, *others]}) == 4
    assert len(plan_digest(plan)) == 64


def test_the_digest_is_the_same_in_every_version():
    # A changed digest cuts every certificate off from its plan: change it knowingly.
    assert plan_digest(plan_of(EXAMPLE)) == (
        "d089172496c2c61bfeb5232709b1f210d2b31be72e07a42302d7a43a0daf27b7"
    )


def test_override_changes_settings_and_checks_them(tmp_path):
    plan = plan_of(EXAMPLE, base=tmp_path)
    other = override(plan, epsilon=0.1, faithful=True, h=None)
    assert (other.publish.epsilon, other.publish.faithful) == (Fraction(1, 10), True)
    assert other.publish.h == 4
    assert (other.base, other.attributes) == (tmp_path, plan.attributes)
    assert plan.publish.faithful is False


def test_override_gives_a_plan_without_publish_its_settings():
    bare = plan_of({"attributes": EXAMPLE["attributes"]})
    assert override(bare, epsilon=2).publish == WeaveSettings(epsilon=Fraction(2))
    with pytest.raises(PlanError, match=r"publish\.epsilon: This setting is missing"):
        override(bare, method="diffgen")
    assert override(bare, epsilon=None) is bare


@pytest.mark.parametrize(
    ("changes", "path", "word"),
    [
        ({"epsilon": 0}, "publish.epsilon", "1e-9 to 50"),
        ({"method": "hedgerow"}, "publish.method", "Allowed: "),
        ({"score": "best"}, "publish.score", "gini, max, infogain"),
        ({"eplison": 1}, "publish.eplison", "Did you mean 'epsilon'?"),
        ({"purpose": "fun"}, "publish.for", "classification"),
    ],
)
def test_override_names_a_mistake_like_a_file_does(changes, path, word):
    with pytest.raises(PlanError) as raised:
        override(plan_of(EXAMPLE), **changes)
    assert raised.value.paths == (path,)
    assert word in str(raised.value)


class OtherPublish(PrivateSettings):
    """A second method, for tests: it shares h with DiffGen, and has no score."""

    needs_class: ClassVar[bool] = False
    method: Literal["other"] = "other"
    h: int = 3


def test_another_method_keeps_the_settings_it_has():
    old = DiffGenSettings(epsilon=1, h=7)
    kept = merged_settings(old, OtherPublish, {"epsilon": "1/4"})
    assert kept == {"epsilon": "1/4", "h": 7}


def test_another_method_refuses_settings_that_it_would_ignore():
    old = DiffGenSettings(epsilon=1, score="infogain", faithful=True)
    with pytest.raises(PlanError, match="'other' has no setting 'score'") as raised:
        merged_settings(old, OtherPublish, {})
    assert raised.value.paths == ("publish.score", "publish.faithful")
    assert "epsilon, h" in str(raised.value)
    with pytest.raises(PlanError, match="'other' does not have this setting"):
        merged_settings(None, OtherPublish, {"score": "max"})


characters = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])
names = st.text(characters, min_size=1, max_size=12).filter(str.strip)
numbers = st.one_of(
    st.integers(-(10**12), 10**12),
    st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 4)),
    st.fractions(-1000, 1000, max_denominator=999).map(str),
)
leaves = names.map(str.strip).filter(lambda text: text not in ("?", "*"))
labels = st.lists(leaves, min_size=1, max_size=5, unique=True)
domains = st.one_of(
    st.tuples(st.integers(-999, 0), st.integers(1, 999), st.sampled_from([1, 0.25, "1/3"])).map(
        lambda t: {"numeric": [t[0], t[1]], "step": t[2]}
    ),
    st.lists(numbers, min_size=2, max_size=6, unique_by=lambda n: Fraction(str(n))).map(
        lambda edges: {"edges": sorted(edges, key=lambda n: Fraction(str(n)))}
    ),
    st.fixed_dictionaries({"values": labels}, optional={"other": leaves}),
    st.dictionaries(names, labels, min_size=1, max_size=3).map(lambda t: {"taxonomy": t}),
    st.sampled_from([{"role": "drop"}, {"role": "identifier"}]),
    st.fixed_dictionaries(
        {"from": st.just("2010-01-01"), "to": st.dates(dt.date(2010, 1, 2)).map(str)},
        optional={"step": st.sampled_from(["day", "year"]), "format": st.just("dd.mm.yyyy")},
    ).map(lambda date: {"date": date}),
    st.sampled_from(
        [
            {"from": "a birth", "years-at": "2026-01-01", "numeric": [0, 99]},
            {"from": {"column": "a birth", "format": "yyyymmdd"}, "part": "month", "edges": [1, 9]},
            {"from": "a birth", "days-until": {"column": "an end"}, "values": ["1"]},
        ]
    ),
)
publishes = st.fixed_dictionaries(
    {"method": st.just("diffgen"), "epsilon": st.sampled_from([1, 0.1, "1/3", "2e-3"])},
    optional={
        "h": st.one_of(st.integers(0, 100), st.just("all")),
        "score": st.sampled_from(["max", "infogain"]),
        "faithful": st.booleans(),
    },
)
plans = st.fixed_dictionaries(
    {
        "attributes": st.dictionaries(names, domains, max_size=4).map(
            lambda d: {
                **d,
                "p": {"numeric": [0, 1]},
                "c": {"role": "class", "values": ["no", "1e5", "x"]},
            }
        )
    },
    optional={
        "data": names,
        "missing": st.sampled_from(["drop", "value"]),
        "confirmed": st.booleans(),
        "publish": publishes,
        "ledger": st.fixed_dictionaries({"dataset": names, "cap": st.sampled_from([4, "7/2"])}),
    },
)


@given(mapping=plans)
@settings(max_examples=100, deadline=None)
def test_a_plan_survives_being_written_and_read(tmp_path_factory, mapping):
    plan = plan_of(mapping)
    folder = tmp_path_factory.getbasetemp()
    again = written(folder, "again.yaml", dump_plan(plan)).at(plan.base)
    assert again == plan
    assert plan_digest(again) == plan_digest(plan)
    as_json = written(folder, "again.json", json.dumps(plan_mapping(plan))).at(plan.base)
    assert as_json == plan


def test_plans_load_without_heavy_libraries():
    heavy = "numba polars pyarrow narwhals matplotlib sklearn"
    code = f"import sys, hedgerow.plan; sys.exit(any(m in sys.modules for m in {heavy.split()}))"
    assert run([sys.executable, "-c", code], check=False).returncode == 0
