"""The budget of a tree: what boxes of a level pay, one path pays once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from pydantic import ValidationError

from hedgerow.model import certificate as parts
from hedgerow.privacy.budget import PathLedger
from hedgerow.release.certify import spent_by
from hedgerow.report import budget as budget_module
from hedgerow.report.budget import budget_picture, dearest_path, share_text


def budget(*lines: tuple[str, Fraction, int, int], total: int = 1) -> parts.Budget:
    return parts.Budget(
        spends=tuple(
            parts.Spend(on=on, share=share, times=times, level=level, of_epsilon=share)
            for on, share, times, level in lines
        ),
        total=Fraction(total),
    )


@pytest.fixture
def grown() -> PathLedger:
    """A tree of which every level divides its first box and counts the others."""
    ledger = PathLedger(Fraction(1))
    ledger.spend(Fraction(1, 10), on="size")
    level = np.zeros(1, dtype=np.int64)
    for depth in range(3):
        if depth:
            ledger.spend(Fraction(1, 20), on="sizes of boxes", nodes=level)
            ledger.spend_rest(on="counts", nodes=level[1:])
        ledger.spend(Fraction(1, 5), on="choice", nodes=level[:1])
        level = ledger.branch(level[:1], 4)
    ledger.spend_rest(on="counts", nodes=level)
    assert ledger.settled()
    return ledger


def test_a_line_of_boxes_costs_a_path_its_share_once(grown):
    found = spent_by(grown)
    assert found.total == 1
    lines = {(line.on, line.level): line for line in found.spends}
    assert lines["size", 0].of_epsilon == Fraction(1, 10)
    assert lines["choice", 2].of_epsilon == Fraction(1, 5)
    assert (lines["sizes of boxes", 1].times, lines["sizes of boxes", 1].of_epsilon) == (
        4,
        Fraction(1, 20),
    )
    # Boxes that stop on level 1 have paid 1/10, 1/5 and 1/20 before.
    assert (lines["counts", 1].times, lines["counts", 1].of_epsilon) == (3, Fraction(13, 20))
    assert (lines["counts", 3].times, lines["counts", 3].of_epsilon) == (4, Fraction(1, 5))


def test_the_lines_of_the_dearest_path_add_up_and_go_to_the_deepest_boxes(grown):
    found = spent_by(grown)
    path = dearest_path(found)
    assert sum(line.of_epsilon for line in path) == 1
    assert [(line.on, line.level) for line in path] == [
        ("size", 0),
        ("choice", 0),
        ("sizes of boxes", 1),
        ("choice", 1),
        ("sizes of boxes", 2),
        ("choice", 2),
        ("counts", 3),
    ]


def test_a_path_pays_numbered_steps_once_and_in_their_order():
    tenth = Fraction(1, 10)
    lines = [
        ("step 1", tenth, 1, 0),
        ("step 2", tenth, 1, 1),
        ("step 3", tenth, 1, 1),  # a box that step 2 left whole
        ("step 2", tenth, 1, 2),  # not after step 2 or 3 on level 1
        ("counts", 7 * tenth, 2, 2),
        ("counts", 8 * tenth, 2, 2),
    ]
    path = dearest_path(budget(*lines))
    assert [(line.on, line.level, line.share) for line in path] == [
        ("step 1", 0, tenth),
        ("step 2", 1, tenth),
        ("step 3", 1, tenth),
        ("counts", 2, 7 * tenth),
    ]


def test_payments_of_the_whole_table_count_as_often_as_they_were_made():
    ledger = PathLedger(Fraction(1))
    for _ in range(3):
        ledger.spend(Fraction(1, 4), on="choice")
    ledger.spend_rest(on="counts")
    found = spent_by(ledger)
    assert [line.of_epsilon for line in found.spends] == [Fraction(3, 4), Fraction(1, 4)]
    assert dearest_path(found) == found.spends


def test_a_budget_that_no_path_makes_up_has_no_path():
    third = Fraction(1, 3)
    odd = budget(("choice", third, 1, 0), ("counts", third / 2, 4, 1))
    assert dearest_path(odd) == ()
    assert budget_picture(odd).parts == ()


def test_many_different_shares_are_searched_in_bounded_time(monkeypatch):
    monkeypatch.setattr(budget_module, "_MOST_STATES", 500)
    shares = [Fraction(1, 1000 + at) for at in range(300)]
    lines = [("choice", share, 1, 1 + at % 30) for at, share in enumerate(shares)]
    assert dearest_path(budget(*lines)) == ()


def test_a_path_that_pays_more_than_the_total_is_refused():
    half = Fraction(1, 2)
    assert budget(("choice", half, 1, 0), ("counts", half, 9, 2))
    with pytest.raises(ValidationError, match="more than the total"):
        budget(("choice", half, 1, 0), ("counts", Fraction(2, 3), 9, 2))


def test_steps_of_one_kind_are_one_slice_of_the_budget():
    quarter = Fraction(1, 4)
    found = budget_picture(
        budget(("step 1", quarter, 1, 0), ("step 2", quarter, 1, 0), ("counts", 2 * quarter, 1, 0))
    )
    assert [(each.name, each.times, each.share, each.cost) for each in found.slices] == [
        ("step", 2, "1/4", "1/2"),
        ("counts", 1, "1/2", "1/2"),
    ]
    assert [(part.name, part.cost, part.n, part.percent) for part in found.parts] == [
        ("step", "1/2", 2, 50.0),
        ("counts", "1/2", 1, 50.0),
    ]
    assert [each.colour for each in found.slices] == [0, 1]
    assert found.levels == ()


def test_a_tree_has_a_row_per_level_and_a_column_per_kind(grown):
    found = budget_picture(spent_by(grown))
    assert [name for name, _ in found.kinds] == ["size", "choice", "sizes of boxes", "counts"]
    assert [level for level, _ in found.levels] == [0, 1, 2, 3]
    size, choice, sizes, counts = found.levels[1][1]
    assert size is None
    assert (choice.share, choice.times) == ("1/5", 1)
    assert (sizes.share, sizes.times) == ("1/20", 4)
    assert (counts.share, counts.times) == ("13/20", 3)
    assert [(part.name, part.cost, part.n) for part in found.parts] == [
        ("size", "1/10", 1),
        ("choice", "3/5", 3),
        ("sizes of boxes", "1/10", 2),
        ("counts", "1/5", 1),
    ]
    assert sum(part.percent for part in found.parts) == pytest.approx(100)


def test_shares_of_one_level_that_differ_are_given_as_a_span():
    lines = [("counts", Fraction(1, 4), 3, 1), ("counts", Fraction(1, 2), 5, 1)]
    picture = budget_picture(budget(("choice", Fraction(1, 2), 1, 0), *lines))
    cell = picture.levels[1][1][1]
    assert (cell.share, cell.times) == ("1/4 to 1/2", 8)


def test_long_fractions_are_rounded_for_reading():
    assert share_text(Fraction(1, 20)) == "1/20"
    assert share_text(Fraction(123456, 7890123)) == "≈ 0.01565"
