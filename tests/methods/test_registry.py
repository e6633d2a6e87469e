"""Every registered method is in every battery, and a new one needs no other file."""

from __future__ import annotations

import json
import runpy
from fractions import Fraction
from pathlib import Path
from typing import Literal

import jsonschema
import pytest
import test_baselines_battery
import test_basket_battery
import test_battery
import test_exact_audit
import test_taint
from pydantic import Field
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import make_app
from hedgerow.cli.settings import (
    GENERAL,
    SettingOption,
    option_name,
    setting_options,
    single_valued,
)
from hedgerow.ledger.ledger import Ledger
from hedgerow.methods.register import registered
from hedgerow.model.certificate import certificate_schema
from hedgerow.model.method import About, Outline, Step
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings
from hedgerow.trees.counts import noisy_groups
from hedgerow.trees.cut import Cut
from support.engine_plans import (
    basket_plan,
    sequence_plan,
    table_plan,
    variants,
    write_baskets,
    write_table,
)

HERE = Path(__file__).resolve().parent
PRIVATE = [name for name, model in METHODS.items() if issubclass(model, PrivateSettings)]


APP = make_app()


def call(*arguments, app=APP, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, result.output
    return result.stdout


def battery(path: str):
    """The methods of a battery that lives in a folder of its own."""
    return runpy.run_path(str(HERE / path))["METHODS"].values()


def in_batteries() -> set[str]:
    """The methods that some battery of contracts runs."""
    built = [
        *test_battery.METHODS.values(),
        *test_baselines_battery.METHODS.values(),
        *test_basket_battery.METHODS.values(),
        *(make(5) for make in battery("../baselines/kanonymity/test_k_anonymity.py")),
        *battery("weave/test_weave_battery.py"),
        *battery("chain/test_chain_battery.py"),
    ]
    personal = {
        settings.method for settings in battery("../disclosure/private/test_personal_battery.py")
    }
    return {method.about.name for method in built} | personal


def in_audit(parameters) -> set[str]:
    return {str(each.id).split(",")[0] for each in parameters}


def test_every_method_is_in_a_battery_of_contracts():
    assert in_batteries() == set(METHODS)


def test_every_private_method_is_watched_for_raw_counts():
    sampling = set(test_taint.SAMPLING)  # true counts leave; their own audits hold them
    assert in_audit(test_taint.methods()) | sampling == set(PRIVATE)


def test_every_private_method_is_in_the_exact_audit():
    sampling = set(test_exact_audit.SAMPLING)
    assert in_audit(test_exact_audit.audited()) | sampling == set(PRIVATE)


def test_every_method_is_documented(root):
    for page in ("methods.md", "plan.md", "privacy.md"):
        text = (root / "docs" / page).read_text(encoding="utf-8")
        missing = [name for name in METHODS if f"`{name}`" not in text]
        assert missing == [], page


@pytest.mark.parametrize("kind", ["table", "baskets", "sequences"])
@pytest.mark.parametrize("name", METHODS)
def test_a_release_is_booked_and_its_certificate_adds_up(name, kind, tmp_path):
    if METHODS[name].publishes != kind:
        pytest.skip("the method publishes the other kind of data")
    settings = next(given for method, given in variants(kind) if method == name)
    makers = {"table": table_plan, "baskets": basket_plan, "sequences": sequence_plan}
    plan = makers[kind]((name, settings))
    data = write_table(tmp_path / "t.csv") if kind == "table" else write_baskets(tmp_path / "b.dat")
    release = hedgerow.publish(plan, data=data, out=tmp_path / "release")
    told = json.loads((tmp_path / "release" / "certificate.json").read_text(encoding="utf-8"))
    jsonschema.validate(told, certificate_schema())
    assert told["method"]["name"] == name
    assert release.certificate.method.settings["method"] == name
    spent = sum(
        Fraction(line["of-epsilon"]) for line in told["budget"]["spends"] if line["level"] == 0
    )
    if name in PRIVATE:
        entries = Ledger().entries("small")
        assert Fraction(told["budget"]["total"]) == 2
        assert spent <= 1
        assert [(entry.epsilon, entry.state) for entry in entries] == [(2, "released")]
    else:
        assert told["guarantee"]["kind"] == "none"
        assert Ledger().accounts() == ()


# One list of settings.


def options_of(command: str) -> set[str]:
    shown = call(command, "--help")
    listed = shown.partition("Settings of the methods")[2].split()
    return {word.partition("/")[0] for word in listed if word.startswith("--")}


def test_check_and_publish_take_the_same_settings_of_every_method():
    wanted = {
        f"--{option_name(key)}"
        for settings in METHODS.values()
        for key in single_valued(settings)
        if key not in GENERAL
    }
    assert options_of("publish") == options_of("check") == wanted


def test_the_help_of_publish_fits_on_two_screens():
    assert len(call("publish", "--help").splitlines()) <= 80


@pytest.mark.parametrize(
    "option", setting_options("publish").values(), ids=lambda option: option.key
)
def test_an_option_is_refused_by_the_name_that_was_written(option: SettingOption, tmp_path):
    strange = next(name for name in METHODS if name not in option.names)
    kind = METHODS[strange].publishes
    plan = tmp_path / "plan.json"
    settings = next(given for method, given in variants(kind) if method == strange)
    made = (table_plan if kind == "table" else basket_plan)((strange, settings))
    plan.write_text(json.dumps({**made, "data": "nowhere.csv"}), encoding="utf-8")
    given = [f"--{option.option}"] if option.is_flag else [f"--{option.option}", "1"]
    for command in ("check", "publish"):
        result = CliRunner().invoke(APP, [command, str(plan), *given])
        assert result.exception is not None
        assert str(result.exception).startswith(f"--{option.option}: ")


def test_methods_are_listed_with_their_settings():
    listed = json.loads(call("methods", "--json"))["methods"]
    assert [each["name"] for each in listed] == list(METHODS)
    for name, settings in METHODS.items():
        told = json.loads(call("methods", name, "--json"))
        keys = {field.alias or attr for attr, field in settings.model_fields.items()}
        assert {each["key"] for each in told["settings"]} == keys - {"method"}
        assert name in call("methods", name)
    assert "is not a method" in str(CliRunner().invoke(APP, ["methods", "nope"]).exception)


# A method of ten lines.


class ToySettings(PrivateSettings):
    """toy: the noisy number of records of each class."""

    method: Literal["toy"] = Field("toy", description="the publishing method: toy")
    colour: Literal["red", "blue"] = Field("red", description="red or blue")

    def build(self, *, has_class):
        return Toy()


class Toy:
    about = About(name="toy")

    def validate(self, schema, epsilon):
        pass

    def outline(self, schema, epsilon):
        return Outline(
            steps=(Step(on="counts", share=epsilon, times=1),), counts=epsilon, n_groups=2
        )

    def publish(self, run):
        whole = Cut.topmost(run.engine.schema).ranges()
        return noisy_groups(run, whole, total_share=None)


def test_a_toy_method_runs_everywhere_without_another_file(tmp_path):
    data = write_table(tmp_path / "t.csv")
    plan = tmp_path / "plan.json"
    with registered(ToySettings):
        given = {**table_plan(("diffgen", {"h": 1})), "data": str(data)}
        given["publish"] = {"method": "toy", "epsilon": 2}
        plan.write_text(json.dumps(given), encoding="utf-8")
        app = make_app()
        checked = json.loads(call("check", plan, "--colour", "blue", "--json", app=app))
        call(
            *("publish", plan, "--colour", "blue", "-o", tmp_path / "a", "--json"),
            *("--expect", checked["fingerprint"]),
            app=app,
        )
        told = json.loads((tmp_path / "a" / "certificate.json").read_text(encoding="utf-8"))
        assert told["method"]["settings"]["colour"] == "blue"
        assert [entry.method for entry in Ledger().entries("small")] == ["toy"]
        streamed = hedgerow.publish(plan, engine="stream", seed=1)
        assert streamed.digest == hedgerow.publish(plan, seed=1).digest
        verdicts = hedgerow.audit(["toy"], runs=60, seed=1).verdicts
        assert {verdict.name for verdict in verdicts}
        assert "toy" in call("methods")
    with pytest.raises(hedgerow.errors.PlanError):
        hedgerow.publish(plan, seed=1)
