"""The words beside figures: never good where no release would do as well."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.report.headlines import error_verdict, gain_text, gain_verdict, headlines, worst

TABLE = {"release": {"kind": "table"}}


def ranges(**changes):
    each = {
        "attributes": 2,
        "median": 0.05,
        "relative": 0.2,
        "answering-zero": 0.9,
        "zero-median": 1.0,
    }
    return {**TABLE, "counting": {"ranges": [{**each, **changes}], "marginals": []}}


def word(facts) -> str | None:
    (line,) = headlines(facts)
    return line.verdict


def test_range_queries_that_err_more_than_answering_0_are_poor():
    assert word(ranges()) == "good"
    # Seen on a census table: the middle error is small, the mean is twice that of answering 0.
    assert word(ranges(relative=0.939, **{"answering-zero": 0.473})) == "poor"
    assert word(ranges(relative=0.3, **{"answering-zero": 0.473})) == "fair"
    assert word(ranges(median=0.05, **{"zero-median": 0.04})) == "poor"
    line = headlines(ranges(relative=0.939, **{"answering-zero": 0.473}))[0]
    assert "93.9 %" in line.value
    assert "answering 0: 47.3 %" in line.value


@given(st.floats(0, 2), st.floats(0, 2))
def test_no_error_above_the_trivial_one_is_called_good_or_fair(error, trivial):
    found = error_verdict(error, trivial=trivial, good=0.1, fair=0.3)
    if error > trivial:
        assert found == "poor"
    if found == "good":
        assert error <= 0.1
        assert 2 * error <= trivial


def test_no_gain_is_no_word_and_a_loss_is_poor():
    assert gain_verdict(0.9, 0.84, 0.75) == "good"
    assert gain_verdict(-0.2, 0.7, 0.75) == "poor"
    assert gain_verdict(None, 0.8, 0.75) is None  # raw data teach nothing beyond the floor
    assert gain_verdict(None, 0.7, 0.75) == "poor"
    assert gain_verdict(None, None, None) is None


def classification(release: float, auc: float, balanced: float):
    def column(value):
        return {"tree": value, "boosting": value}

    def measure(value, floor, ceiling):
        return {
            "floor": floor,
            "judged": "records",
            "release": {"boxes": None, "records": column(value)},
            "ceiling": column(ceiling),
            "kept": column((value - floor) / (ceiling - floor)),
        }

    return {
        **TABLE,
        "classification": {
            "floor": 0.938,
            "judged": "records",
            "release": {"boxes": None, "records": column(release)},
            "ceiling": column(0.95),
            "kept": column((release - 0.938) / 0.012),
            "measures": {
                "auc": measure(auc, 0.5, 0.94),
                "balanced-accuracy": measure(balanced, 0.5, 0.7),
                "rare-recall": measure(0.1, 0.0, 0.4),
            },
        },
    }


def test_a_release_below_the_floor_is_poor_however_high_its_accuracy():
    lines = headlines(classification(0.923, 0.6, 0.52))
    assert [line.verdict for line in lines[:4]] == ["poor", "poor", "poor", None]
    assert "92.3 % correct (floor 93.8 %, raw data 95.0 %)" in lines[0].value
    assert "floor 50.0 %" in lines[1].value


def test_accuracy_near_the_floor_does_not_hide_that_rare_classes_are_ranked_well():
    lines = headlines(classification(0.949, 0.92, 0.69))
    assert [line.verdict for line in lines[:4]] == ["good", "good", "good", None]


@pytest.mark.parametrize(
    ("mean", "even", "expected"),
    [(0.002, 0.5, "good"), (0.04, 0.5, "fair"), (0.004, 0.005, "fair"), (0.02, 0.01, "poor")],
)
def test_impossible_combinations_stand_beside_records_that_are_spread_evenly(mean, even, expected):
    told = {"mean": mean, "even": even}
    facts = {"impossible": told, "correlations": None, "mean-errors": None}
    assert word({**TABLE, "relations": facts}) == expected


def test_correlations_and_means_stand_beside_answers_without_a_release():
    facts = {
        "impossible": None,
        "correlations": {"mean-error": 0.04, "answering-zero": 0.03},
        "mean-errors": {"mean-error": 0.005, "answering-middle": 0.2},
    }
    assert [line.verdict for line in headlines({**TABLE, "relations": facts})] == ["poor", "good"]


def test_baskets_that_err_more_than_answering_0_are_poor():
    classes = [{"relative": 0.04, "answering-zero": 0.03}]
    told = {"classes": classes, "kept": {"mass": 1.0}}
    lines = headlines({"release": {"kind": "baskets"}, "counting": told})
    assert lines[0].verdict == "poor"


def test_the_worst_word_counts():
    assert worst("good", "fair") == "fair"
    assert worst("good", "good") == "good"


def summary(mean: float, worst: float, **trivial: float):
    return {"mean": mean, "worst": {"attributes": ["age"], "value": worst, **trivial}, **trivial}


def fidelity(**changes):
    facts = {
        "against": "records",
        "1-way": summary(0.02, 0.05, even=0.5),
        "2-way": {**summary(0.04, 0.1, even=0.6), "n": 1},
        "top": summary(0.05, 0.2),
        "means": summary(0.01, 0.02, **{"answering-middle": 0.9}),
        "occurs": summary(0.999, 0.98),
    }
    return {**TABLE, "fidelity": {**facts, **changes}}


def test_errors_in_neutral_cells_name_the_worst_column():
    found = headlines(fidelity())
    assert [line.verdict for line in found] == ["good"] * 5
    assert found[0].value == "2.0 % on average; worst: age 5.0 % (spread evenly: 50.0 %)"
    assert found[3].value == "0.010 on average; worst: age 0.020 (answering the middle: 0.900)"
    assert found[4].value == "99.9 % on average; worst: age 98.0 %"


def test_one_bad_column_is_enough_for_a_lower_word():
    lost = headlines(fidelity(**{"1-way": summary(0.04, 0.675, even=0.7)}))[0]
    assert lost.verdict == "poor"
    assert headlines(fidelity(**{"1-way": summary(0.04, 0.3, even=0.9)}))[0].verdict == "fair"
    assert headlines(fidelity(**{"1-way": summary(0.04, 0.1, even=0.03)}))[0].verdict == "poor"
    assert "means" not in [line.what.split(",")[0] for line in headlines(fidelity(means=None))]


@given(st.one_of(st.none(), st.floats(-10, 10)), st.floats(0, 1), st.floats(0, 1))
def test_no_gain_is_shown_above_all_of_it_or_below_none(kept, floor, ceiling):
    text = gain_text(kept, floor, ceiling)
    if kept is None:
        assert text in ("raw data below the floor", "raw data at the floor")
    else:
        assert 0 <= float(text.partition(" ")[0]) <= 100


def test_a_raw_tree_below_the_floor_is_said_in_the_headline():
    facts = classification(0.8, 0.7, 0.6)
    facts["classification"]["ceiling"] = dict.fromkeys(("tree", "boosting"), 0.1)
    assert "raw data 10.0 %, which is below the floor" in headlines(facts)[0].value
