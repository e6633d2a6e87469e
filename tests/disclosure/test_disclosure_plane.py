"""The risk-utility plane: frontiers, k-anonymous tables, and that no form beats the frontier."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from hedgerow.disclosure import plane as planes
from hedgerow.disclosure import uniform as uniforms
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.plane import Frontier, frontier_of, plane_of
from hedgerow.disclosure.uniform import Form, UniformForms
from hedgerow.model.groups import Ranges
from hedgerow.report.owner import _bins, _drawing
from support.disclosure_tables import METHODS, patients, plan


def parts(disclosed):
    owner = disclosed.owner
    return owner.ready, owner.confidential, owner.problems


@pytest.fixture(scope="module")
def disclosed():
    return disclose(plan(**METHODS["aruba"]), data=patients())


def test_a_frontier_has_the_least_risk_at_any_utility():
    rng = np.random.default_rng(3)
    risks, utilities = rng.integers(0, 9, (4, 5)) / 8, rng.integers(0, 6, (4, 5)) * 1.0
    thresholds = np.arange(utilities.max() + 1)
    risk, utility = Frontier(risks, utilities).at(thresholds)
    for t, r, u in zip(thresholds, risk, utility, strict=True):
        assert r == risks[utilities >= t].min()
        assert u == utilities[(utilities >= t) & (risks == r)].max()


def test_the_frontier_at_half_the_utility_is_what_is_disclosed(disclosed):
    owner = disclosed.owner
    for job in range(0, len(owner.problems), 6):
        frontier = frontier_of(*parts(disclosed), job)
        risk, _ = frontier.at(owner.before.utility[job : job + 1] / 2)
        assert risk[0] == pytest.approx(owner.found.risk[job])


def test_forms_of_one_depth_count_records_as_groups_do(disclosed):
    forms = UniformForms(
        ready=disclosed.owner.ready,
        confidential=disclosed.owner.confidential,
        problems=disclosed.owner.problems,
    )
    table = pl.DataFrame(patients().drop_columns(["name"]))
    tops = [chain.heights.astype(int) for chain in forms.ready.chains]
    at_wards = Form(levels=(tops[0], np.zeros(5, dtype=int), tops[2]))
    assert forms.smallest_group(at_wards) == table.group_by("ward").len()["len"].min()
    top = Form(levels=tuple(tops))
    assert forms.smallest_group(top) == len(table)
    whole = table.group_by("age", "ward", "sex").len()["len"]
    assert forms.smallest_group(forms.as_they_are()) == whole.min()
    nothing = forms.valued(top)
    assert (nothing.utility == 0).all()
    assert (nothing.risk == 0).all()


def test_tables_are_as_anonymous_as_they_say(disclosed):
    forms = UniformForms(
        ready=disclosed.owner.ready,
        confidential=disclosed.owner.confidential,
        problems=disclosed.owner.problems,
    )
    found = forms.anonymous([2, 5, 20, 10**6])
    assert set(found) == {2, 5, 20}
    for k, form in found.items():
        assert forms.smallest_group(form) >= k
    assert forms.anonymous([10**6]) == {}


def test_ranges_that_are_no_nodes_count_as_suppressed(disclosed):
    forms = UniformForms(
        ready=disclosed.owner.ready,
        confidential=disclosed.owner.confidential,
        problems=disclosed.owner.problems,
    )
    wards = Ranges(first=np.array([0, 1]), stop=np.array([1, 5]))
    ages = Ranges(first=np.arange(0, 64, 16), stop=np.arange(16, 80, 16))
    sexes = Ranges(first=np.array([0]), stop=np.array([2]))
    form = forms.of_ranges([ages, wards, sexes])
    assert form.levels[0].tolist() == [2] * 64
    assert form.levels[1].tolist() == [2] * 5
    assert form.levels[2].tolist() == [1, 1]


@pytest.mark.parametrize("model", [1, 2, 3])
def test_no_anonymous_table_has_less_risk_than_the_best_forms_of_the_same_utility(model):
    section = METHODS["aruba"] if model != 2 else {}
    risk = {**section.get("risk", {}), "model": model}
    disclosed = disclose(plan(risk=risk), data=patients())
    owner = disclosed.owner
    anonymous = plane_of(*parts(disclosed), owner.found, anonymities=range(1, 101)).anonymous
    assert len(anonymous) == 100
    assert any(table.best.risk < table.anonymous.risk for table in anonymous)
    for table in anonymous:
        assert table.best.risk <= table.anonymous.risk * (1 + 1e-12)
        assert table.best.utility >= table.anonymous.utility * (1 - 1e-12)


def test_this_disclosure_lies_on_its_frontier(disclosed):
    plane = plane_of(*parts(disclosed), disclosed.owner.found)
    half = plane.frontier[10]
    assert plane.after.risk == pytest.approx(half.risk)
    assert plane.before.risk == pytest.approx(plane.frontier[-1].risk)
    risks = [point.risk for point in plane.frontier]
    assert risks == sorted(risks)


def test_a_plane_of_many_records_is_drawn_from_some(disclosed):
    plane = plane_of(*parts(disclosed), disclosed.owner.found, most_records=20)
    again = plane_of(*parts(disclosed), disclosed.owner.found, most_records=20)
    assert plane == again
    assert plane.n_records == 20


def test_lattices_too_large_to_look_at_have_no_frontier(disclosed, monkeypatch):
    monkeypatch.setattr(planes, "CUBE_UP_TO", 3)
    plane = plane_of(*parts(disclosed), disclosed.owner.found)
    assert plane.frontier == ()
    assert all(table.best is None for table in plane.anonymous)
    assert "the frontier is not drawn" in disclosed.owner_report()


def test_a_plane_is_drawn_from_fewer_records_where_lattices_are_large(disclosed, monkeypatch):
    monkeypatch.setattr(planes, "MOST_NODES", 1)
    assert plane_of(*parts(disclosed), disclosed.owner.found).n_records == 20


def test_tables_with_too_many_forms_are_drawn_without_anonymous_ones(disclosed, monkeypatch):
    monkeypatch.setattr(uniforms, "MOST_VECTORS", 1)
    assert plane_of(*parts(disclosed), disclosed.owner.found).anonymous
    monkeypatch.setattr(uniforms, "MOST_CELLS", 1)
    assert plane_of(*parts(disclosed), disclosed.owner.found).anonymous == ()
    assert "k-anonymous tables are not shown" in disclosed.owner_report()


def test_every_record_is_in_the_histogram():
    before = np.array([0.0, 1.0, 0.5, 1e-6])
    after = np.array([0.0, 0.0, 1e-6])
    bins = _bins(before, after)
    assert sum(each.before for each in bins) == 4
    assert sum(each.after for each in bins) == 3
    assert (bins[0].label, bins[0].after) == ("0", 2)
    assert _bins(np.zeros(3), np.zeros(3)) == ()
    assert sum(each.before for each in _bins(np.ones(3), np.ones(3))) == 3


def test_points_lie_inside_the_drawing(disclosed):
    drawing = _drawing(plane_of(*parts(disclosed), disclosed.owner.found))
    marks = (drawing.before, drawing.after, *drawing.anonymous, *drawing.best)
    assert all(0 < mark.x < 680 and 0 < mark.y < 400 for mark in marks)
    assert "risk" in drawing.after.text
