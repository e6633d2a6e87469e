"""The owner's pages: comparisons, thresholds that move, one record's lattice, saved settings."""

from __future__ import annotations

import html
import re
import time

import numpy as np
import pyarrow.csv
import pytest

import hedgerow
from hedgerow.disclosure.explain import explain_record
from hedgerow.disclosure.frontiers import explain_plane
from hedgerow.draw.heat import heat_maps
from hedgerow.plan.load import dump_plan, load_plan, plan_of
from hedgerow.studio.latticeview import hasse_of, record_plane
from hedgerow.studio.planeview import goal_in, plane_drawing, threshold_moved
from support.disclosure_tables import patients, plan
from support.studio import Browser

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def owned(tmp_path_factory):
    """A folder with a plan for disclosure, its data, and a booked release."""
    folder = tmp_path_factory.mktemp("owned") / "register"
    folder.mkdir()
    pyarrow.csv.write_csv(patients(), folder / "patients.csv")
    given = {
        **plan(utility={"at-least": "half"}),
        "data": "patients.csv",
        "records": 150,
        "one-record-per-person": True,
        "publish": {"method": "hedge", "epsilon": 2},
        "ledger": {"dataset": "p", "cap": 9, "file": "ledger.sqlite"},
    }
    (folder / "plan.yaml").write_text("# kept\n" + dump_plan(plan_of(given)))
    hedgerow.publish(folder / "plan.yaml", out=folder / "release")
    return folder


@pytest.fixture
def owner(owned):
    return Browser(owned)


def over(browser, kind):
    """Wait for the last run of a kind, and return it."""
    deadline = time.monotonic() + 120
    run = browser.runs.all(kind)[0]
    while run.is_running and time.monotonic() < deadline:
        time.sleep(0.1)
        run = browser.runs.get(run.id)
    assert run.state == "done", (run.answer, run.stderr)
    return run


def test_owner_pages_say_so_and_others_do_not(owner):
    for page in ("compare", "disclose"):
        assert 'class="owner"' in owner.show(f"/{page}?plan=plan.yaml")
    for page in ("release", "ledger"):
        assert 'class="owner"' not in owner.show(f"/{page}?plan=plan.yaml")


@pytest.mark.audit
def test_plans_are_tried_on_a_made_up_table_through_the_page(owner, owned):
    owner.show("/compare?plan=plan.yaml")
    before = (owned / "ledger.sqlite").read_bytes()
    (owned / "other.yaml").write_text(
        (owned / "plan.yaml").read_text().replace("epsilon: 2", "epsilon: 1")
    )
    sent = {"kind": "simulate", "chosen": ["plan.yaml", "other.yaml"], "records": "500"}
    answer = owner.send("/compare/start?plan=plan.yaml", sent)
    (owned / "patients.csv").rename(owned / "away.csv")  # no record of it is read
    try:
        run = over(owner, "compare")
    finally:
        (owned / "away.csv").rename(owned / "patients.csv")
        (owned / "other.yaml").unlink()
    assert "--simulate" in run.command
    text = owner.show(answer.headers["HX-Redirect"])
    names = [each["name"] for each in run.answer["releases"]]
    assert len(set(names)) == 2
    assert all(name in html.unescape(text) for name in names)
    assert text.count('<figure class="heat">') == 5  # the original, and two for each plan
    assert (owned / "ledger.sqlite").read_bytes() == before


@pytest.mark.audit
def test_releases_are_compared_by_a_command_and_heat_maps_follow(owner):
    owner.show("/compare?plan=plan.yaml")
    sent = {"kind": "releases", "chosen": ["release"], "data": "patients.csv"}
    answer = owner.send("/compare/start?plan=plan.yaml", sent)
    assert answer.status_code == 204, answer.text
    run = over(owner, "compare")
    text = owner.show(answer.headers["HX-Redirect"])
    assert "release (hedge)" in text
    assert text.count('<figure class="heat">') == 3
    heat = owner.show(f"/compare/heat?run={run.id}&down=ward&across=sick")
    assert "ward downwards, sick across" in heat
    refused = owner.client.get(f"/compare/heat?run={run.id}&down=no&across=sick")
    assert refused.status_code == 422
    place = owner.app.state.studio.folder.root / run.about["out"]
    assert (place.stat().st_mode & 0o077) == 0


def test_what_is_not_there_or_looks_like_an_option_is_not_compared(owner):
    owner.show("/compare?plan=plan.yaml")
    for sent in (
        {"kind": "releases", "chosen": [], "data": "patients.csv"},
        {"kind": "releases", "chosen": ["../x"], "data": "patients.csv"},
        {"kind": "releases", "chosen": ["release"], "data": "--public=x"},
        {"kind": "simulate", "chosen": ["--data"]},
        {"kind": "other", "chosen": ["release"]},
    ):
        assert owner.send("/compare/start?plan=plan.yaml", sent).status_code == 422, sent


def test_the_plane_of_a_plan_moves_without_reading_the_data_again(owner, owned):
    owner.show("/disclose?plan=plan.yaml")
    assert owner.send("/disclose/explain?plan=plan.yaml").status_code == 200
    run = over(owner, "plane")
    shown = owner.show(f"/disclose/plane?plan=plan.yaml&run={run.id}")
    assert 'type="range"' in shown
    for goal in ("goal=utility&share=30", "goal=risk&risk=-2", "goal=aggregate&lambda=9&kappa=2"):
        part = owner.show(f"/disclose/plane?run={run.id}&{goal}")
        assert 'class="after"' in part
    assert owner.client.get(f"/disclose/plane?run={run.id}&goal=risk&risk=x").status_code == 422
    assert owner.client.get(f"/compare/plane?run={run.id}&goal=utility").status_code == 200


def test_one_record_is_explained_with_its_lattice(owner):
    owner.show("/disclose?plan=plan.yaml")
    answer = owner.send("/disclose/record?plan=plan.yaml", {"number": "17"})
    assert answer.status_code == 200
    over(owner, "record")
    text = html.unescape(owner.show("/disclose?plan=plan.yaml"))
    assert "Among them, this one has the lowest risk" in text
    assert text.count('class="form') == 24  # 4 levels of age, 3 of the ward, 2 of the sex
    assert "SECRET" not in text
    for number in ("0", "x", "--out", "1 2"):
        refused = owner.send("/disclose/record?plan=plan.yaml", {"number": number})
        assert refused.status_code == 422


def test_settings_are_saved_in_the_plan_and_comments_stay(owner, owned):
    before = (owned / "plan.yaml").read_text()
    text = owner.show("/disclose?plan=plan.yaml")
    version = re.search(r'name="version" value="(\w+)"', text)[1]
    sent = {
        "version": version,
        "method": "aruba",
        "goal": "utility",
        "at-least": "60%",
        "measure": "log",
        "model": "1",
        "column": ["age", "ward", "sex"],
        "weight:age": "0.5",
        "values:ward": "A: 3\nsurgery: 2",
        "person:sex": "",
    }
    answer = owner.send("/disclose/save?plan=plan.yaml", sent)
    assert answer.status_code == 204, answer.text
    saved = (owned / "plan.yaml").read_text()
    assert saved.startswith("# kept\n")
    made = load_plan(owned / "plan.yaml").disclose
    assert str(made.utility.at_least) == "60%"
    assert made.utility.measure == "log"
    assert made.risk.severities["ward"] == {"A": 3, "surgery": 2}
    stale = owner.send("/disclose/save?plan=plan.yaml", sent)
    assert stale.status_code == 422  # of a plan as it was
    text = owner.show("/disclose?plan=plan.yaml")
    assert 'value="60%"' in text
    bad = {**sent, "version": re.search(r'name="version" value="(\w+)"', text)[1]}
    assert (
        owner.send("/disclose/save?plan=plan.yaml", {**bad, "weight:age": "x"}).status_code == 422
    )
    assert (owned / "plan.yaml").read_text() == saved
    (owned / "plan.yaml").write_text(before)


def test_a_threshold_gives_what_the_frontiers_give():
    told = explain_plane(plan(), data=patients(), most_records=40)
    half = threshold_moved(told, "utility", 0.5)
    all_of_it = threshold_moved(told, "utility", 1.0)
    assert all_of_it.risk == pytest.approx(all_of_it.risk_before)
    assert half.risk <= all_of_it.risk
    assert half.utility >= 0.5 * half.utility_before - 1e-9
    strict = threshold_moved(told, "risk", 1e-9)
    assert strict.n_withheld + len(strict.risks) == told["records"]
    assert (strict.risks <= 1e-9).all()
    safest = threshold_moved(told, "aggregate", 1e6)
    assert safest.risk <= threshold_moved(told, "aggregate", 0.0).risk
    drawn = plane_drawing(told, half)
    assert len(drawn.cloud) == 40
    assert goal_in({"goal": "risk", "risk": "-1"})[1] == pytest.approx(0.1)


def test_the_drawn_lattice_has_every_form_and_every_step():
    told = explain_record(plan(), 5, data=patients())
    drawn = hasse_of(told)
    assert len(drawn.nodes) == told["forms"]
    heights = [len(attribute["levels"]) for attribute in told["attributes"]]
    steps = sum(np.prod(heights) // n * (n - 1) for n in heights)
    assert drawn.edges.count("M") == steps
    assert sum(node.is_chosen for node in drawn.nodes) == 1
    assert sum(node.reaches for node in drawn.nodes) == told["reaching"]
    assert record_plane(told).threshold_x is not None
    assert hasse_of({**told, "forms": 10**6}) is None


def test_heat_maps_colour_what_differs():
    told = {
        "columns": [{"name": EVIL, "cells": ["a", EVIL + "2"]}, {"name": "b", "cells": ["x", "y"]}],
        "pairs": [
            {
                "columns": [0, 1],
                "records": [[0.5, 0.0], [0.3, 0.2]],
                "releases": {"r": {"shares": [[0.1, 0.4], [0.3, 0.2]], "error": 0.4}},
            }
        ],
    }
    maps = heat_maps(told, (0, 1), original="o", differs="d {name}")
    assert [each.title for each in maps.maps] == ["o", "r", "d r"]
    assert all(len(each.cells) == 4 for each in maps.maps)
    kinds = [cell.colour for cell in maps.maps[2].cells]
    assert kinds[0].startswith("less")
    assert kinds[1].startswith("more")
    assert kinds[2] == kinds[3] == "same"
