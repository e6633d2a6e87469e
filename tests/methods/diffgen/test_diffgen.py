from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.count.kernels import ClassHistograms
from hedgerow.count.memory.table import MemoryEngine
from hedgerow.errors import OverdraftError, SettingError
from hedgerow.methods.diffgen.diffgen import DiffGen, printed_sensitivity
from hedgerow.model.run import Run
from hedgerow.privacy import mechanisms
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.source import SeededSource, SystemSource
from hedgerow.trees import counts as counting
from hedgerow.trees.candidates import ScoredParts
from hedgerow.trees.cut import Cut
from hedgerow.trees.scores import GINI, INFOGAIN, INFORMATION_UNIT, MAX, SCORES
from support.tables import diffgen_table_1, encoded_tables, grid, schema_of, table_of, values

ONE = Fraction(1)


def run(table, *, h=3, score=MAX, faithful=False, epsilon=ONE, seed=1):
    method = DiffGen(specialisations=h, score=score, faithful=faithful)
    ledger = PathLedger(epsilon)
    engine = MemoryEngine(table=table)
    groups = method.publish(
        Run(engine=engine, epsilon=epsilon, ledger=ledger, source=SeededSource(seed))
    )
    return groups, ledger


class Forced:
    """A chooser that takes given specialisations, and none of its own."""

    def __init__(self, *choices):
        self.choices = list(choices)

    def begin(self, candidates):
        pass

    def choose(self, cut, candidates, step):
        attribute, position = self.choices.pop(0)
        return next(part for part in candidates if part.attribute == attribute), position

    def follow(self, children, step):
        pass


@pytest.fixture
def without_noise(monkeypatch):
    """The mechanisms without their noise: what the paper's examples print."""
    nothing = np.zeros(0, dtype=np.int64)
    monkeypatch.setattr(mechanisms, "discrete_laplace", lambda n, **_: np.zeros(n, dtype=np.int64))
    monkeypatch.setattr(mechanisms, "passing_empties", lambda n, **_: (nothing, nothing))


def listed(groups, schema):
    """The release as {labels: count}, classes added up."""
    rows = {}
    for row in range(len(groups)):
        labels = tuple(
            attribute.domain.label(int(ranges.first[index[row]]), int(ranges.stop[index[row]]))
            for attribute, ranges, index in zip(
                schema.attributes, groups.ranges, groups.index, strict=True
            )
        )
        rows[labels] = rows.get(labels, 0) + int(groups.counts[row])
    return rows


@pytest.mark.parametrize("faithful", [False, True])
def test_the_papers_example_3_gives_its_table_1d(without_noise, monkeypatch, faithful):
    table = diffgen_table_1()
    # First Any_Job -> {Professional, Artist}, then [18-65) -> {[18-40), [40-65)}.
    forced = Forced((0, None), (1, 40 - 18))
    monkeypatch.setattr(DiffGen, "_chooser", lambda *_: forced)
    groups, _ = run(table, h=2, faithful=faithful)
    assert listed(groups, table.schema) == {
        ("Professional", "[18, 40)"): 3,
        ("Professional", "[40, 64]"): 1,
        ("Artist", "[18, 40)"): 4,
        # Artist, [40-65) has the count 0 and is not listed
    }


def test_the_papers_contingency_table_1c_comes_out(without_noise, monkeypatch):
    table = diffgen_table_1()
    forced = Forced((0, None), (1, 40 - 18), (0, None), (0, None))
    monkeypatch.setattr(DiffGen, "_chooser", lambda *_: forced)
    groups, _ = run(table, h=4)
    assert listed(groups, table.schema) == {
        ("Engineer", "[18, 40)"): 2,
        ("Lawyer", "[18, 40)"): 1,
        ("Lawyer", "[40, 64]"): 1,
        ("Dancer", "[18, 40)"): 2,
        ("Writer", "[18, 40)"): 2,
    }


def test_going_to_the_leaves_is_the_contingency_table(without_noise):
    table = diffgen_table_1()
    groups, ledger = run(table, h=None)
    assert groups.counts.tolist() == [1] * 8
    assert [len(ranges) for ranges in groups.ranges] == [4, 47]
    assert [line.on for line in ledger.bookings] == ["counts"]


def test_scores_of_the_papers_example():
    table = diffgen_table_1()
    kernel = ClassHistograms(sizes=(4, 47), n_classes=2)
    histograms = kernel.split(MemoryEngine(table=table).sum(kernel))
    cut = Cut.topmost(table.schema)
    job, age = cut.parts
    by_max, by_gain = ScoredParts(histograms, MAX), ScoredParts(histograms, INFOGAIN)
    # Two Y and two N in either child: a majority vote gets 2 + 2 right, nothing is learnt.
    assert by_max.blocks(cut, job).scores.tolist() == [4]
    assert by_gain.blocks(cut, job).scores.tolist() == [0]
    # [18-40) holds 4 Y and 3 N, [40-65) holds one N.
    assert by_max.split_at(age, 40 - 18).scores.tolist() == [5]
    gain = 1 - 7 / 8 * -(4 / 7 * np.log2(4 / 7) + 3 / 7 * np.log2(3 / 7))
    unit = float(INFORMATION_UNIT)
    assert by_gain.split_at(age, 40 - 18).scores[0] * unit == pytest.approx(gain, abs=1e-8)


def test_split_positions_fall_into_blocks_of_equal_score():
    table = diffgen_table_1()
    kernel = ClassHistograms(sizes=(4, 47), n_classes=2)
    scored = ScoredParts(kernel.split(MemoryEngine(table=table).sum(kernel)), MAX)
    cut = Cut.topmost(table.schema)
    age = cut.parts[1]
    blocks = scored.blocks(cut, age)
    assert blocks.lengths.sum() == 46  # every position of the public grid
    every = [int(scored.split_at(age, position).scores[0]) for position in range(1, 47)]
    assert np.repeat(blocks.scores, blocks.lengths).tolist() == every
    assert blocks.positions.tolist() == (1 + np.cumsum([0, *blocks.lengths[:-1]])).tolist()


def test_the_printed_budget_is_that_of_the_paper():
    table = diffgen_table_1()
    _, ledger = run(table, h=5, faithful=True)
    share = ONE / (2 * (1 + 2 * 5))
    by_name = {line.on: line for line in ledger.bookings}
    assert {line.share for line in ledger.bookings if line.on.startswith("specialisation")} == {
        share
    }
    assert by_name["first split of Age"].share == share
    assert by_name["counts"].share == Fraction(1, 2)


def test_the_improved_budget_gives_choices_half_and_counts_the_rest():
    _, ledger = run(diffgen_table_1(), h=2)
    assert [(line.on, line.share) for line in ledger.bookings] == [
        ("specialisation 1", Fraction(1, 4)),
        ("specialisation 2", Fraction(1, 4)),
        ("counts", Fraction(1, 2)),
    ]


def test_budget_of_choices_that_cannot_be_made_goes_to_the_counts():
    table = table_of(schema_of(values(2)), [(0, 0), (1, 1)])
    _, ledger = run(table, h=10)
    assert [(line.on, line.share) for line in ledger.bookings] == [
        ("specialisation 1", Fraction(1, 20)),
        ("counts", Fraction(19, 20)),
    ]


def test_a_large_cut_buys_a_noisy_total():
    schema = schema_of(*[grid(30)] * 3)
    table = table_of(schema, [(i % 30, i % 7, i % 11, i % 2) for i in range(500)])
    groups, ledger = run(table, h=None)
    assert [(line.on, line.share) for line in ledger.bookings] == [
        ("total", Fraction(1, 50)),
        ("counts", Fraction(49, 50)),
    ]
    assert abs(int(groups.counts.sum()) - 500) < 50 * 30


@settings(max_examples=200)
@given(
    table=encoded_tables(),
    h=st.one_of(st.none(), st.integers(0, 12)),
    score=st.sampled_from(sorted(SCORES)),
    faithful=st.booleans(),
    epsilon=st.sampled_from([Fraction(1, 10), ONE, Fraction(7, 3)]),
    seed=st.integers(0, 2**32),
)
def test_no_path_exceeds_epsilon_and_all_of_it_is_booked(table, h, score, faithful, epsilon, seed):
    groups, ledger = run(
        table, h=h, score=SCORES[score], faithful=faithful, epsilon=epsilon, seed=seed
    )
    assert ledger.worst_path() == epsilon
    assert sum(line.share * line.times for line in ledger.bookings) == epsilon
    assert ledger.settled()
    assert (groups.counts > 0).all()


@given(table=encoded_tables(), seed=st.integers(0, 2**32), faithful=st.booleans())
def test_releases_are_sorted_and_have_no_group_twice(table, seed, faithful):
    groups, _ = run(table, seed=seed, faithful=faithful)
    rows = list(zip(*(index.tolist() for index in (*groups.index, groups.classes)), strict=True))
    assert rows == sorted(set(rows))


@given(table=encoded_tables(min_records=2), seed=st.integers(0, 2**32), data=st.data())
def test_the_order_of_records_does_not_show(table, seed, data):
    order = data.draw(st.permutations(range(len(table))))
    shuffled = type(table)(
        schema=table.schema,
        codes=tuple(codes[order] for codes in table.codes),
        classes=table.classes[order],
    )
    first, second = run(table, seed=seed)[0], run(shuffled, seed=seed)[0]
    assert first.counts.tolist() == second.counts.tolist()
    assert [index.tolist() for index in first.index] == [index.tolist() for index in second.index]


def test_the_same_seed_gives_the_same_release_and_another_another():
    table = diffgen_table_1()
    counts = [run(table, seed=seed)[0].counts.tolist() for seed in (1, 1, 2, 3, 4)]
    assert counts[0] == counts[1]
    assert any(other != counts[0] for other in counts[2:])


class TwoPasses(MemoryEngine):
    """An engine that counts how often it is asked."""

    passes = 0

    def sum(self, kernel):
        type(self).passes += 1
        return super().sum(kernel)

    def tally(self, kernel):
        type(self).passes += 1
        return super().tally(kernel)


@pytest.mark.parametrize("h", [1, 5, 40, "auto"])
def test_the_data_are_passed_over_twice_whatever_h_is(h):
    TwoPasses.passes = 0
    method = DiffGen(specialisations=h, score=GINI, faithful=False)
    method.publish(
        Run.start(TwoPasses(table=diffgen_table_1()), epsilon=ONE, source=SystemSource())
    )
    assert TwoPasses.passes == 2


def test_a_ledger_too_small_refuses_before_the_counts_are_drawn():
    method = DiffGen(specialisations=2, score=MAX, faithful=True)
    with pytest.raises(OverdraftError):
        method.publish(
            Run(
                engine=MemoryEngine(table=diffgen_table_1()),
                epsilon=ONE,
                ledger=PathLedger(Fraction(2, 3)),
                source=SystemSource(),
            )
        )


def test_a_contingency_table_beyond_all_bounds_is_refused_before_anything_is_spent():
    schema = schema_of(*[grid(100_000)] * 5)
    method = DiffGen(specialisations=None, score=MAX, faithful=False)
    with pytest.raises(SettingError, match="too many to publish"):
        method.validate(schema, ONE)


def test_specialising_stops_where_the_release_would_not_fit(monkeypatch):
    monkeypatch.setattr(counting, "MOST_GROUPS", 64)
    table = table_of(schema_of(*[grid(1000)] * 3), [(1, 2, 3, 0)])
    groups, ledger = run(table, h=200)
    assert np.prod([len(ranges) for ranges in groups.ranges]) * 2 <= 64
    assert ledger.settled()
    made = sum(line.times for line in ledger.bookings if line.on.startswith("specialisation"))
    assert 0 < made < 200
    assert groups.course["specialisations"].startswith(f"{made} of 200; every further one")


def test_a_run_that_makes_all_its_specialisations_says_so():
    groups, _ = run(diffgen_table_1(), h=2)
    assert groups.course == {"specialisations": "2 of 2"}


def test_an_outline_foretells_that_faithful_runs_stop_early():
    """Of 90 specialisations of wide grids a faithful cut can take in about half."""
    schema = schema_of(*[grid(1000)] * 14)
    early = DiffGen(specialisations=90, score=MAX, faithful=True).outline(schema, ONE)
    (note,) = early.notes
    assert re.match(r"From about \d\d to 90 specialisations", note)
    assert DiffGen(specialisations=4, score=MAX, faithful=True).outline(schema, ONE).notes == ()


@pytest.mark.parametrize("faithful", [False, True])
def test_an_adaptive_run_makes_more_specialisations_of_more_records(faithful):
    schema = schema_of(*[grid(64)] * 3)
    rng = np.random.default_rng(5)
    made = []
    for n in (20, 2_000, 20_000):
        rows = rng.integers(0, 64, (n, 3))
        table = table_of(schema, np.column_stack([rows, rows[:, 0] > 30]).tolist())
        groups, ledger = run(table, h="auto", faithful=faithful)
        assert ledger.settled()
        assert ledger.bookings[0].on == "number of records"
        assert ledger.bookings[0].share == Fraction(1, 50)
        boxes = np.prod([len(ranges) for ranges in groups.ranges])
        made.append((int(groups.course["specialisations"].split()[0]), boxes))
        assert "by a noisy number of records" in groups.course["specialisations"]
        assert boxes <= max(2, n / 13 + 20)  # 6.6 / 0.48, and the noise on n
    assert made == sorted(made)
    assert made[0][0] < made[-1][0]


@pytest.mark.parametrize("h", ["auto", 3])
def test_outlines_of_adaptive_runs_follow_the_public_number_of_records(h):
    schema = schema_of(*[grid(64)] * 6)
    method = DiffGen(specialisations=h, score=MAX, faithful=False)
    small, large = (method.outline_of(schema, ONE, n) for n in (500, 50_000))
    assert sum(step.share * step.times for step in large.steps) == 1
    assert (small.n_groups < large.n_groups) == (h == "auto")


@pytest.mark.parametrize(("rows", "ranges"), [(1.4, 1), (1.6, 2)])
def test_printed_specialising_stops_where_the_counts_share_would_list_too_many(
    monkeypatch, rows, ranges
):
    """Of four groups 1.51 are listed by noise alone at the counts' share, which is a half."""
    monkeypatch.setattr(counting, "MOST_ROWS", rows)
    table = table_of(schema_of(values(2)), [(1, 0)] * 3)
    groups, _ = run(table, h=1, faithful=True)
    assert len(groups.ranges[0]) == ranges


def test_a_thresholded_release_lists_no_count_below_its_public_threshold(monkeypatch):
    monkeypatch.setattr(counting, "SPURIOUS_ROWS", 10)
    monkeypatch.setattr(counting, "DENSE_GROUPS", 0)
    schema = schema_of(*[grid(200)] * 2)
    table = table_of(schema, [(5, 5, 0)] * 400)
    groups, _ = run(table, h=None)
    assert groups.origin.threshold > 5
    assert groups.origin.lowered_by >= 0
    assert groups.counts.tolist() == [groups.counts.max()]  # no phantom survives


def test_the_sensitivity_that_the_paper_states_is_never_below_the_true_one():
    assert printed_sensitivity(MAX, 5) == 1
    assert printed_sensitivity(INFOGAIN, 2) == INFOGAIN.sensitivity
    assert float(printed_sensitivity(INFOGAIN, 8) * INFORMATION_UNIT) == pytest.approx(3)


def test_the_outline_adds_up_without_any_data():
    schema = schema_of(values(6, 2), grid(12))
    for h in (None, 0, 3, "auto"):
        for faithful in (False, True):
            method = DiffGen(specialisations=h, score=MAX, faithful=faithful)
            outline = method.outline(schema, Fraction(3))
            assert sum(step.share * step.times for step in outline.steps) == 3
            assert outline.n_groups >= 2
