"""What coterie keeps, on universes of every size, and its parts against plain loops."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import hedgerow
from hedgerow.count.memory.baskets import BasketMemory
from hedgerow.draw.bars import item_totals
from hedgerow.errors import SettingError
from hedgerow.methods.coterie import items as coterie_items
from hedgerow.methods.coterie.bins import Bins
from hedgerow.methods.coterie.caps import best_cap
from hedgerow.methods.coterie.coterie import Coterie
from hedgerow.methods.coterie.items import posterior_medians
from hedgerow.methods.coterie.lengths import whole_numbers, with_places
from hedgerow.methods.coterie.lots import Lots
from hedgerow.methods.coterie.place import combinations_in, dealt, swap
from hedgerow.methods.coterie.planting import expected_by_lot, plants_for
from hedgerow.methods.coterie.sets import CandidateSet, goal_support
from hedgerow.methods.coterie.shares import FEW, FEW_PARTS, LARGE, PARTS
from hedgerow.methods.coterie.targets import Targets
from hedgerow.methods.diffpart.diffpart import DiffPart
from hedgerow.model import run as model_run
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.privacy.source import SeededSource
from hedgerow.report.baskets import _frequent_pairs
from hedgerow.taxonomy.tree import Taxonomy
from support.basket_sets import ONE, listed, published, universe


def shop(n_items, n_records=4000, *, pair=(3, 7), seed=5):
    """Records of a few items each, of which two come together in every fifth."""
    rng = np.random.default_rng(seed)
    sets = [{int(i) % n_items for i in rng.zipf(1.6, 3)} for _ in range(n_records)]
    for record in sets[::5]:
        record.update(pair)
    return sets


def holding(noisy, wanted):
    return sum(n for items, n in listed(noisy).items() if set(wanted) <= set(items))


def test_the_shares_add_up_to_one():
    for parts in (PARTS, FEW_PARTS):
        assert sum(parts.values()) == 1
        assert list(parts) == list(PARTS)
    # It is by them that the noisy number of records is known.
    assert PARTS["lengths"] == FEW_PARTS["lengths"]


@pytest.mark.parametrize(
    ("n_records", "n_items", "parts"),
    [(10, LARGE + 1, FEW_PARTS), (FEW, LARGE + 1, PARTS), (10, LARGE, PARTS)],
)
def test_the_noisy_number_of_records_chooses_the_shares_that_are_booked(
    n_records, n_items, parts, monkeypatch
):
    """Whatever the data: the answer decides, not the number of records."""
    whole = model_run.noisy_counts

    def answered(counts, *, spending, per_record=1):
        noisy = whole(counts, spending=spending, per_record=per_record)
        if spending.on == "lengths":
            noisy[:] = 0
            noisy[2] = n_records
        return noisy

    monkeypatch.setattr(model_run, "noisy_counts", answered)
    baskets = EncodedBaskets.from_sets(universe(n_items), shop(n_items, 50))
    _, ledger = published(Coterie(), baskets, epsilon=ONE)
    assert {line.on: line.share for line in ledger.bookings} == parts
    outline = Coterie().outline(baskets.taxonomy, ONE)
    assert (outline.instead is None) == (n_items <= LARGE)
    told = outline.instead.steps if parts is FEW_PARTS else outline.steps
    assert {step.on: step.share for step in told} == parts


@pytest.mark.parametrize("n_items", [19, 400, 100_000])
def test_frequent_items_and_pairs_are_kept_in_universes_of_every_size(n_items):
    names = [str(i) for i in range(n_items)]
    sets = shop(n_items)
    baskets = EncodedBaskets.from_sets(Taxonomy.flat(names), sets)
    noisy, ledger = published(Coterie(), baskets, epsilon=Fraction(2))
    assert ledger.settled()
    for wanted in ((3,), (1,), (3, 7)):
        true = sum(set(wanted) <= each for each in sets)
        assert abs(holding(noisy, wanted) - true) < 0.15 * true
    assert abs(int(noisy.counts.sum()) - len(sets)) < 0.1 * len(sets)


def test_dense_records_of_a_middling_universe_keep_their_items():
    rng = np.random.default_rng(8)
    sets = [set(np.flatnonzero(rng.random(40) < 0.4).tolist()) for _ in range(3000)]
    baskets = EncodedBaskets.from_sets(universe(40), sets)
    noisy, _ = published(Coterie(), baskets, epsilon=Fraction(4))
    totals = item_totals(noisy)
    true = np.bincount(baskets.items, minlength=40)
    assert np.abs(totals - true).mean() < 0.25 * true.mean()


def test_a_small_universe_is_counted_whole_as_diffpart_does_it():
    baskets = EncodedBaskets.from_sets(universe(12), shop(12, 500))
    assert listed(published(Coterie(), baskets)[0]) == listed(published(DiffPart(), baskets)[0])
    assert len(Coterie().outline(baskets.taxonomy, ONE).steps) == 1
    assert len(Coterie(frequent=5).outline(baskets.taxonomy, ONE).steps) == len(PARTS)


@pytest.mark.parametrize("frequent", [0, 1, 401])
def test_a_number_of_frequent_items_out_of_range_is_refused(frequent):
    with pytest.raises(SettingError, match="frequent"):
        Coterie(frequent=frequent)


def test_no_more_items_are_frequent_than_the_plan_says(monkeypatch):
    asked = []
    whole = BasketMemory.features

    def noted(self, kernel):
        asked.append(kernel)
        return whole(self, kernel)

    monkeypatch.setattr(BasketMemory, "features", noted)
    published(Coterie(frequent=3), EncodedBaskets.from_sets(universe(60), shop(60)))
    assert [each.n_top for each in asked if hasattr(each, "n_top")] == [3, 3, 3]


# The parts.


def test_bins_cover_every_number_once():
    for most in (1, 2, 9, 10, 19, 64, 65, 70, 500):
        for zero in (False, True):
            bins = Bins.up_to(most, zero=zero)
            covered = [n for n, _ in bins.laws(np.ones(len(bins.edges)))]
            numbers = np.concatenate(covered).tolist()
            assert numbers == list(range(0 if zero else 1, min(most, 124) + 1))


def test_smoothed_counts_fall_after_their_mode_and_noise_has_no_tail():
    bins = Bins.up_to(1000, zero=False)
    noisy = np.array([900, 1000, 400, 500, 100, 20, -3, 8, -6, 5, 4, -7, 6, 2, 9, 8])
    smooth = bins.smoothed(noisy, scale=10.0)
    density = smooth / bins.widths
    assert (np.diff(density[1:]) <= 1e-9).all()
    assert smooth[6:].sum() == 0
    assert smooth[2] == smooth[3] == 450


def test_the_factor_brings_lots_up_to_all_features():
    held, records = np.array([1.0, 4.0, 10.0]), np.array([50.0, 30.0, 20.0])
    cap = best_cap(held, records, share=1.0, support=100.0, options=[2], slack=1.5)
    assert cap.most == 2
    assert cap.factor == pytest.approx((30 * 4 + 20 * 10) / (2 * 50))
    everything = best_cap(held, records, share=1.0, support=100.0, options=[10], slack=1.5)
    assert (everything.factor, everything.above) == (1.0, 0.0)


def test_supports_of_items_that_do_not_occur_are_nought_and_large_ones_stay():
    rng = np.random.default_rng(2)
    noise = rng.laplace(0, 10, 5000) + 1.5 * rng.laplace(0, 10, 5000)
    true = np.zeros(5000)
    true[:40] = np.linspace(300, 5000, 40)
    found = posterior_medians(true + noise, scale=10.0, factor=1.5)
    assert np.count_nonzero(found[40:]) <= 3
    assert np.abs(found[:40] - true[:40]).max() < 200
    assert coterie_items.posterior_medians(np.zeros(0), scale=1.0, factor=1.0).size == 0


def targets_of(supports, pairs, triples=(), triple_supports=()):
    return Targets(
        items=np.asarray(supports),
        pairs=pairs,
        pair_weights=np.where(pairs > 0, 1.0, 0.001),
        measured=pairs > 0,
        triples=np.array(triples, dtype=np.int64).reshape(-1, 3),
        triple_supports=np.array(triple_supports, dtype=float),
        triple_weights=np.ones(len(triple_supports)),
    )


def square(n, **known):
    pairs = np.zeros((n, n))
    for name, support in known.items():
        i, j = map(int, name[1:].split("_"))
        pairs[i, j] = pairs[j, i] = support
    return pairs


def rows_of(baskets):
    bounds = pairwise(baskets.offsets.tolist())
    return [baskets.items[a:b].tolist() for a, b in bounds]


def placed(targets, lengths):
    """Baskets before and after swaps, as lists."""
    lots = Lots(source=SeededSource(3))
    plants = plants_for(targets, expected_by_lot(targets, lengths))
    baskets = dealt(targets, lengths, plants, lots)
    before = rows_of(baskets)
    swap(baskets, targets, lots)
    return before, rows_of(baskets), baskets


def test_placing_meets_supports_exactly_and_pairs_nearly():
    supports = [100, 100, 60, 60]
    targets = targets_of(supports, square(4, p0_1=90, p2_3=5))
    for rows in placed(targets, np.repeat([2, 1], [120, 80]))[:2]:
        assert np.bincount(np.concatenate(rows), minlength=4).tolist() == supports
        assert all(len(set(row)) == len(row) for row in rows)
    assert abs(sum({0, 1} <= set(row) for row in rows) - 90) <= 6
    assert abs(sum({2, 3} <= set(row) for row in rows) - 5) <= 6


def test_placing_meets_a_triple_that_pairs_alone_would_not_give():
    n, triple = 70, (1, 65, 69)
    supports = np.full(n, 20)
    supports[list(triple)] = 150
    pairs = square(n, p1_65=60, p1_69=60, p65_69=60)
    targets = targets_of(supports, pairs, [triple], [55.0])
    _, rows, _ = placed(targets, np.repeat([4, 1], [447, 2]))
    assert np.bincount(np.concatenate(rows), minlength=n).tolist() == supports.tolist()
    assert abs(sum(set(triple) <= set(row) for row in rows) - 55) <= 4
    for i, j in ((1, 65), (1, 69), (65, 69)):
        assert abs(sum({i, j} <= set(row) for row in rows) - 60) <= 4


def test_what_is_dealt_is_near_its_targets_before_any_swap():
    """Sets above what lots give are planted, and items that avoid each other are kept apart."""
    pairs = square(40, p0_1=900, p0_2=50, p3_4=300)
    supports = np.full(40, 500)
    supports[:3] = 1500
    before, _, _ = placed(targets_of(supports, pairs), np.full(int(supports.sum()) // 5, 5))
    for (i, j), wanted in {(0, 1): 900, (0, 2): 50, (3, 4): 300}.items():
        found = sum({i, j} <= set(row) for row in before)
        by_lot = supports[i] * supports[j] * 4 / supports.sum()
        assert abs(found - wanted) < 0.4 * abs(by_lot - wanted)


def test_combinations_are_counted_as_a_plain_loop_counts_them():
    rng = np.random.default_rng(4)
    supports = rng.integers(5, 90, 12)
    lengths = -np.sort(-np.minimum(rng.poisson(2.2, 400), 12))
    lengths = lengths[np.cumsum(lengths) <= supports.sum()]
    targets = targets_of(supports, square(12, p0_1=30), [(0, 1, 2), (3, 7, 11)], [9, 4])
    _, rows, baskets = placed(targets, lengths)
    counts, held = combinations_in(baskets, targets)
    for i in range(12):
        for j in range(12):
            assert counts[i, j] == (i != j) * sum({i, j} <= set(row) for row in rows)
    assert held.tolist() == [
        sum(set(triple) <= set(row) for row in rows) for triple in targets.triples.tolist()
    ]


def test_more_of_an_item_than_baskets_have_room_for_does_not_stop_dealing():
    targets = targets_of([50, 50, 1], square(3, p0_1=50))
    _, rows, _ = placed(targets, np.full(30, 2))
    assert all(len(row) == 2 for row in rows)


def test_lengths_give_way_until_every_token_has_a_place():
    lots = Lots(source=SeededSource(1))
    table = np.zeros((6, 3), dtype=np.int64)
    table[1, 1], table[2, 0], table[5, 2] = 40, 30, 10
    for n_tokens, most in ((150, 9), (151, 9), (90, 9), (400, 9), (81, 4), (0, 4)):
        made = with_places(table, n_tokens, most, lots)
        assert made.sum() == table.sum()
        assert (made.sum(axis=0) == table.sum(axis=0)).all()
        assert len(made) <= most + 1
        assert np.arange(len(made)) @ made.sum(axis=1) == n_tokens
    full = with_places(table, 10_000, 4, lots)
    assert full[4].sum() == table.sum()


def test_whole_numbers_are_near_and_add_up():
    lots = Lots(source=SeededSource(2))
    expected = np.random.default_rng(3).random((40, 7)) * 3
    whole = whole_numbers(expected, lots)
    assert whole.shape == expected.shape
    assert np.abs(whole - expected).max() < 1 + 1e-6
    assert abs(whole.sum() - expected.sum()) < 1 + 1e-6


# Plans.


def plan_of_shop(**keys):
    return {
        "items": {"universe": [0, 59]},
        "protects": "records",
        "confirmed": True,
        "publish": {"epsilon": 2},
        "ledger": {"dataset": "shop", "cap": 9},
        **keys,
    }


def test_a_plan_without_a_method_is_published_and_its_report_tells_of_pairs(tmp_path):
    lines = [" ".join(map(str, each)) for each in shop(60, 1500)]
    (tmp_path / "shop.dat").write_text("\n".join(lines))
    out = tmp_path / "out"
    release = hedgerow.publish(plan_of_shop(), data=tmp_path / "shop.dat", out=out, seed=1)
    told = json.loads((out / "certificate.json").read_text(encoding="utf-8"))
    assert told["method"]["name"] == "coterie"
    assert [line["on"] for line in told["budget"]["spends"]] == list(PARTS)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "The most frequent pairs" in page
    assert "Every basket is synthetic" in page
    best = _frequent_pairs(release.baskets, item_totals(release.baskets))
    assert all(bar.count == release.count(bar.label.split(", ")).estimate for bar in best)
    assert "3, 7" in [bar.label for bar in best[:5]]


@pytest.mark.parametrize("people", [{"join": "union"}, {"records-per-person": 2}])
def test_baskets_of_people_are_published_with_it(people, tmp_path):
    import pyarrow as pa

    sets = shop(60, 300)
    table = pa.table(
        {
            "who": [str(i // 3) for i in range(len(sets))],
            "bought": [[str(i) for i in sorted(each)] for each in sets],
        }
    )
    plan = plan_of_shop(protects=None, person="who", **people)
    plan["items"] = {"universe": [0, 59], "column": "bought"}
    release = hedgerow.publish(plan, data=table, seed=3)
    assert release.certificate.method.name == "coterie"
    streamed = hedgerow.publish(plan, data=table, seed=3, engine="stream")
    assert streamed.digest == release.digest


def test_check_tells_what_to_expect():
    told = hedgerow.check(plan_of_shop())
    assert [step.on for step in told.outline.steps] == list(PARTS)
    assert "single items and of frequent pairs are off by up to about" in told.outline.notes[0]


def test_lots_are_drawn_apart_from_each_other():
    drawn = Lots(source=SeededSource(4)).uniform(50)
    assert len(set(drawn.tolist())) == 50
    assert 0 <= drawn.min() <= drawn.max() < 1


def test_the_support_that_matters_is_that_of_the_hundredth_candidate_or_the_last():
    listed_sets = [CandidateSet(items=(n,), support=1000.0 - n) for n in range(150)]
    assert goal_support(listed_sets) == 1000 - 99
    assert goal_support(listed_sets[:3]) == 998
    assert goal_support([]) == 0
