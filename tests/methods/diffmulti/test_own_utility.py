"""A custodian's own utility function: where it runs, what is said of it, and its trial."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.errors import InputError, SettingError
from hedgerow.methods.diffmulti.own_utility import OwnUtility
from hedgerow.methods.diffmulti.scores import UNITS
from hedgerow.methods.diffmulti.try_utility import try_utility
from hedgerow.privacy.choice import choice_probabilities, rate_for
from hedgerow.trees.box_scores import Children

ONE = Fraction(1)


def largest_child(children):
    """Less the larger the largest child is: one record moves it by 1 at the most."""
    return -np.maximum.reduceat(children.sizes, children.starts[:-1])


def minority(children):
    """Records that a majority vote in each child gets wrong: by 1 at the most."""
    wrong = children.sizes - children.counts.max(axis=1)
    return -children.add(wrong)


def share_of_all(children):
    """Divided by the records of all candidates: every box reads every other."""
    return children.add(children.sizes) / max(int(children.counts.sum()), 1)


def cliff(children):
    """Leaps from its 60th record on, and moves by 1 everywhere else."""
    return children.add(children.sizes) + 5.0 * (children.add(children.sizes) >= 60)


HONEST = OwnUtility(name="largest child", function=largest_child, sensitivity=ONE)
LIARS = {
    "squares": OwnUtility(
        name="squares", function=lambda c: -c.add(c.sizes**2), sensitivity=Fraction(3)
    ),
    "half": OwnUtility(name="half", function=largest_child, sensitivity=Fraction(1, 2)),
    "all": OwnUtility(name="all", function=share_of_all, sensitivity=ONE),
    "cliff": OwnUtility(name="cliff", function=cliff, sensitivity=Fraction(2)),
    "not finite": OwnUtility(
        name="not finite",
        function=lambda c: np.where(c.add(c.sizes) > 3, 0.0, np.nan),
        sensitivity=ONE,
    ),
    "class": OwnUtility(
        name="class", function=minority, sensitivity=Fraction(1, 3), needs_class=True
    ),
}

ROWS = pd.DataFrame(
    {
        "age": [30, 50, 70, 90] * 50,
        "ward": ["a", "b", "c", "d"] * 50,
        "ill": ["no", "no", "yes", "yes"] * 50,
        "who": list(range(200)),
    }
)


def plan(tmp_path, *, publish=None, **rest):
    return {
        "attributes": {
            "age": {"numeric": [0, 127]},
            "ward": {"values": ["a", "b", "c", "d"]},
            "ill": {"role": "class", "values": ["no", "yes"]},
            "who": {"role": "identifier"},
        },
        "confirmed": True,
        "one-record-per-person": True,
        "publish": {"method": "diffmulti", "epsilon": 1, "h": 6, **(publish or {})},
        "ledger": {"dataset": "wards", "cap": 10, "file": str(tmp_path / "ledger.sqlite")},
        **rest,
    }


def test_an_honest_function_stands_its_trial():
    for utility in (
        HONEST,
        OwnUtility(name="votes", function=minority, sensitivity=ONE, needs_class=True),
    ):
        trial = try_utility(utility, n_classes=3)
        assert not trial.refuted
        assert trial.largest == 1
        assert trial.tried > 4000
        trial.check()


@pytest.mark.parametrize("utility", LIARS.values(), ids=list(LIARS))
def test_a_function_that_moves_further_than_is_stated_is_caught(utility):
    trial = try_utility(utility)
    assert trial.refuted
    assert trial.after.sum() - trial.before.sum() == 1
    with pytest.raises(SettingError) as caught:
        trial.check()
    assert ("other candidates" in str(caught.value)) == (utility.name == "all")


@pytest.mark.parametrize("utility", LIARS.values(), ids=list(LIARS))
def test_publishing_with_such_a_function_is_refused_before_anything_is_read(tmp_path, utility):
    with pytest.raises(SettingError):
        hedgerow.publish(plan(tmp_path), data="no such file", utility=utility)
    assert not (tmp_path / "ledger.sqlite").exists()


@settings(max_examples=60)
@given(
    counts=st.lists(st.integers(0, 10_000), min_size=4, max_size=12),
    joined=st.integers(0, 3),
    stated=st.sampled_from([ONE, Fraction(7, 2), Fraction(1000)]),
)
def test_whatever_the_units_a_choice_costs_its_share_at_the_most(counts, joined, stated):
    """Two children a candidate; the record joins one child of one candidate of each pair."""
    utility = OwnUtility(
        name="wide", sensitivity=stated, function=lambda c: largest_child(c) * float(stated)
    )
    counts = np.array(counts[: len(counts) // 2 * 2])
    more = counts.copy()
    more[joined::4] += 1
    score, laws = utility.score(), []
    for each in (counts, more):
        children = Children(
            counts=each[:, None],
            widths=np.ones(len(each), dtype=np.int64),
            starts=np.arange(0, len(each) + 1, 2),
            domain=9,
        )
        units = score.of(children, np.ones(len(each) // 2))
        assert units.dtype == np.int64
        rate = rate_for(ONE, sensitivity=score.span, monotone=True)
        laws.append(choice_probabilities(units, rate=rate, rule="exponential"))
    seen = (laws[0] > 1e-9) & (laws[1] > 1e-9)
    assert np.abs(np.log(laws[0][seen] / laws[1][seen])).max(initial=0) <= 1 + 1e-6
    assert score.span >= 2 * UNITS


def test_what_is_not_finite_counts_as_nothing_and_counts_cannot_be_changed():
    def spoil(children):
        children.counts[:] = 0
        return np.array([np.nan, np.inf])

    children = Children(
        counts=np.array([[1], [2], [3], [4]]),
        widths=np.ones(4, dtype=np.int64),
        starts=np.array([0, 2, 4]),
        domain=9,
    )
    units = (
        OwnUtility(name="spoils", function=spoil, sensitivity=ONE).score().of(children, np.ones(2))
    )
    assert units[0] == 0 < units[1]
    assert children.counts.sum() == 10


@pytest.mark.parametrize("faithful", [False, True])
def test_every_engine_gives_the_same_release_and_the_certificate_says_what_it_rests_on(
    tmp_path, faithful
):
    given = plan(tmp_path, publish={"faithful": faithful})
    made = [
        hedgerow.publish(given, data=ROWS, seed=4, utility=HONEST, engine=engine)
        for engine in ("memory", "stream")
    ]
    assert made[0].to_pandas().equals(made[1].to_pandas())
    certificate = made[0].certificate
    assert certificate.method.settings["score"] == "own: largest child"
    assert certificate.method.details["sensitivity"] == "1, as the custodian states"
    assert certificate.method.details["rate"] == "share / (2 sensitivity)"


@pytest.mark.parametrize(("n_children", "divided"), [(2, "age"), (4, "ward")])
def test_the_function_decides_what_is_specialised(tmp_path, n_children, divided):
    """Splits with so many children score as many as there are records, others nothing."""

    def favours(children):
        wanted = np.diff(children.starts) == n_children
        return children.add(children.sizes) * wanted

    utility = OwnUtility(name="favours", function=favours, sensitivity=ONE)
    many = pd.concat([ROWS] * 50)
    given = plan(tmp_path, publish={"h": 1})
    table = hedgerow.publish(given, data=many, seed=2, utility=utility).to_pandas()
    assert {name for name in ("age", "ward") if table[name].nunique() > 1} == {divided}


def test_certificate_statement_and_report_say_that_the_custodian_answers_for_it(tmp_path):
    release = hedgerow.publish(
        plan(tmp_path), data=ROWS, utility=HONEST, out=tmp_path / "release", even_if_noise=True
    )
    sentence = "rests on the sensitivity 1 that the custodian states for the utility function"
    assert sentence in release.certificate.guarantee.statement
    assert sentence in release.certificate.method.details["rests-on"]
    assert sentence in (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    # No release of a function answers a later run of the same plan.
    again = {"data": ROWS, "out": tmp_path / "release", "even_if_noise": True}
    with pytest.raises(InputError):
        hedgerow.publish(plan(tmp_path), **again)
    with pytest.raises(InputError):
        hedgerow.publish(plan(tmp_path), utility=HONEST, **again)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"publish": {"score": "ncp"}}, "exclude each other"),
        ({"publish": {"method": "hedge", "h": None}}, "Only the method diffmulti"),
        (
            {
                "person": "who",
                "records-per-person": 2,
                "count": "people",
                "one-record-per-person": False,
            },
            "weight of a record",
        ),
    ],
)
def test_where_nothing_is_shown_of_a_function_it_is_refused(tmp_path, changed, match):
    publish = {"publish": changed.pop("publish", {})}
    given = plan(tmp_path, **publish, **changed)
    given["publish"] = {k: v for k, v in given["publish"].items() if v is not None}
    with pytest.raises(InputError, match=match):
        hedgerow.check(given, utility=HONEST)


def test_people_with_several_records_are_protected_by_records_per_person(tmp_path):
    given = plan(
        tmp_path, person="who", **{"records-per-person": 2, "one-record-per-person": False}
    )
    release = hedgerow.publish(given, data=ROWS, seed=1, utility=HONEST)
    assert release.certificate.guarantee.person.records == 2


def test_no_plan_can_name_a_function(tmp_path):
    for key, value in {"utility": "os.system", "score": "own: largest child"}.items():
        with pytest.raises(InputError):
            hedgerow.check(plan(tmp_path, publish={key: value}))


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"name": "a\nb"}, {"sensitivity": 0}, {"sensitivity": -1}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(SettingError):
        OwnUtility(**{"name": "x", "function": largest_child, "sensitivity": 1, **wrong})


def test_a_function_of_another_shape_is_refused():
    with pytest.raises(SettingError, match="one number for each candidate"):
        try_utility(OwnUtility(name="flat", function=lambda c: 1.0, sensitivity=ONE))
