"""Baskets on the command line: check, publish and what goes wrong."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from typer.testing import CliRunner

from hedgerow.cli.main import app
from hedgerow.errors import CapError, PlanError, ReleaseError, SettingError
from hedgerow.release.baskets import BasketRelease

LINES = ["milk bread", "milk", "tea", "milk,tea caviar", "bread\teggs milk"] * 200


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "a.dat").write_text("\n".join(LINES))
    (tmp_path / "items.txt").write_text("bread\neggs\nmilk\ntea\nwine\n")
    (tmp_path / "plan.yaml").write_text(
        "data: a.dat\n"
        "items: {universe: items.txt, fan-out: 2}\n"
        "protects: records\nconfirmed: true\n"
        "publish: {method: diffpart, epsilon: 4}\n"
        "ledger: {dataset: shop, cap: 12}\n"
    )
    return tmp_path / "plan.yaml"


def call(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


METHODS = [["--improved"], ["--faithful"], ["--max-length", "3"], ["--method", "basic"]]


@pytest.mark.parametrize("settings", METHODS, ids=" ".join)
def test_publish_writes_baskets_that_come_back(plan, tmp_path, settings):
    told = json.loads(call("publish", plan, *settings, "-o", tmp_path / "out", "--json"))
    release = BasketRelease.load(tmp_path / "out")
    assert told["groups"] == release.n_rows
    assert told["private"]
    assert told["ledger"]["dataset"] == "shop"
    lines = Counter((tmp_path / "out" / "release.dat").read_text().splitlines())
    assert sum(lines.values()) == told["noisy-total"]
    assert 150 < lines["milk"] < 250
    estimate, error = release.count(["milk", "bread"])
    assert 300 < estimate < 500
    assert error > 0


@pytest.mark.parametrize("settings", METHODS[1::2], ids=" ".join)
def test_check_tells_how_useful_counting_queries_will_be(plan, settings):
    told = json.loads(call("check", plan, *settings, "--json"))
    errors = [bound["error"] for bound in told["usefulness"]]
    assert told["publishes"] == "baskets"
    assert errors == sorted(errors)
    assert len(errors) == 3
    shown = call("check", plan, *settings)
    assert "the error of a counting query is at most" in shown
    assert "groups" not in shown


@pytest.mark.parametrize("is_small", [True, False])
def test_check_says_that_the_papers_bound_is_not_one_of_the_improved_variant(plan, is_small):
    if not is_small:
        plan.write_text(plan.read_text().replace("epsilon: 4", "epsilon: 4, max-length: 3"))
    assert json.loads(call("check", plan, "--json"))["usefulness"] == []
    shown = " ".join(call("check", plan).split())
    assert "Theorem 4.2 of the paper bounds the error of counting queries as printed" in shown
    assert ("records or more are known by noisy counts" in shown) != is_small


def test_check_promises_nothing_where_baskets_must_be_found_first(plan):
    told = json.loads(call("check", plan, "--faithful", "--json"))
    assert told["verdict"] == "depends on the data"
    assert told["groups"] is None
    assert "depends on the data" in call("check", plan, "--faithful")


def test_the_report_names_baskets(plan, tmp_path):
    shown = call("publish", plan, "-o", tmp_path / "out")
    assert "different baskets" in shown
    assert "The most frequent baskets" in (tmp_path / "out" / "report.html").read_text()


def test_a_release_of_baskets_has_no_boxes_to_generalise_by(plan, tmp_path):
    call("publish", plan, "-o", tmp_path / "out")
    with pytest.raises(ReleaseError, match="holds baskets"):
        call("generalise", tmp_path / "out", tmp_path / "a.dat")


def test_what_a_plan_forbids_the_options_cannot_ask(plan, tmp_path):
    with pytest.raises(PlanError, match="does not publish items"):
        call("publish", plan, "--method", "diffgen", "-o", tmp_path / "out")
    with pytest.raises(PlanError, match="Only the faithful variant"):
        call("publish", plan, "--c1", "1", "-o", tmp_path / "out")
    with pytest.raises(CapError):
        call("publish", plan, "--epsilon", "13", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_basic_is_for_small_universes(plan, tmp_path):
    (tmp_path / "items.txt").write_text("\n".join(f"item{n}" for n in range(60)))
    with pytest.raises(SettingError, match="too many to publish"):
        call("publish", plan, "--method", "basic", "-o", tmp_path / "out")
