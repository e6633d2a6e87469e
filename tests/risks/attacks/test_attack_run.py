"""attack(): what is run, what is not and why, and that no record ever shows."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.errors import DataError, ReleaseError, SettingError
from hedgerow.report.attack import board_answers, rate_text, summary_of
from support.attacked import REGIONS, people_plan, population, write_lists
from support.engine_plans import basket_plan, sequence_plan

EVERYBODY = population(500)
DATA, OTHERS = EVERYBODY[:250], EVERYBODY[250:]


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_LEDGER", str(tmp_path / "ledger.sqlite"))
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def release():
    return hedgerow.publish(people_plan("hedge", epsilon=1), data=DATA, seed=1)


def without_time(facts):
    return {key: value for key, value in facts.items() if key != "seconds"}


def test_the_same_seed_gives_the_same_figures_and_another_seed_others(release):
    one, two = (hedgerow.attack(release, DATA, holdout=OTHERS, seed=4).facts for _ in range(2))
    assert without_time(one) == without_time(two)
    other = hedgerow.attack(release, DATA, holdout=OTHERS, seed=5).facts
    assert without_time(one) != without_time(other)


def test_without_held_out_records_membership_and_controls_are_not_run(release):
    facts = hedgerow.attack(release, DATA).facts
    assert "--holdout" in facts["membership"]["not-run"]
    assert any("were not run" in note for note in facts["notes"])
    for name in ("singling-out", "linkability"):
        assert facts[name]["control"] is None
        assert facts[name]["bound"] is None
        assert facts[name]["beyond-control"] is None
        assert facts[name]["attack"]["of"] == len(DATA)
    page = hedgerow.attack(release, DATA).html()
    assert "Not run: membership." in page
    assert summary_of(facts)[1] == "fair"


def test_every_attack_is_run_or_says_why_not(release):
    facts = hedgerow.attack(release, DATA, holdout=OTHERS).facts
    told = board_answers(facts)
    assert set(told) == {
        *("singling-out", "linkability", "inference"),
        *("membership", "differencing", "reconstruction"),
    }
    for name, each in told.items():
        assert each.found or each.omitted, name
        assert all(why for _, why in each.omitted), name


def test_the_number_of_attacked_records_is_bounded(release):
    facts = hedgerow.attack(release, DATA, holdout=OTHERS, most_records=40, shadows=0).facts
    assert facts["targets"]["pairs"] == 40
    assert facts["singling-out"]["pairs"] == 40
    assert facts["membership"]["attacks"]["distance"]["pairs"] == 20
    few = hedgerow.attack(release, DATA, holdout=OTHERS, most_records=10).facts
    assert "fewer than 20 pairs" in few["membership"]["not-run"]


def test_sensitive_columns_are_named_and_the_class_is_the_default(release):
    plain = hedgerow.attack(release, DATA).facts["inference"]["columns"]
    assert list(plain) == ["sick"]
    named = hedgerow.attack(release, DATA, sensitive=["age", "job"]).facts["inference"]["columns"]
    assert list(named) == ["age", "job"]
    with pytest.raises(SettingError, match="'salary' is not a column"):
        hedgerow.attack(release, DATA, sensitive=["salary"])


@pytest.mark.parametrize(
    "wrong",
    [{"most_records": 0}, {"shadows": -1}, {"seed": -1}, {"other_data": DATA}],
    ids=str,
)
def test_settings_out_of_range_are_refused(release, wrong):
    with pytest.raises(SettingError):
        hedgerow.attack(release, DATA, **wrong)


def test_the_data_cannot_be_the_held_out_records(release):
    with pytest.raises(SettingError, match="the data itself"):
        hedgerow.attack(release, DATA, holdout=DATA)


def test_held_out_records_that_are_in_the_data_are_noticed(release, tmp_path):
    def noted(report):
        return any("they are not a control" in note for note in report.facts["notes"])

    assert not noted(hedgerow.attack(release, DATA, holdout=OTHERS, shadows=0))
    mixed = pl.concat([OTHERS[:100], DATA[:150]])
    assert noted(hedgerow.attack(release, DATA, holdout=mixed, shadows=0))
    data = write_lists(tmp_path / "in.dat", 200, ordered=False, seed=1)
    others = write_lists(tmp_path / "out.dat", 200, ordered=False, seed=2)
    baskets = hedgerow.publish(basket_plan(("diffpart", {})), data=data, seed=1)
    assert not noted(hedgerow.attack(baskets, data, holdout=others))
    assert noted(hedgerow.attack(baskets, data, holdout=data))


def test_nothing_is_booked_and_the_release_does_not_change(tmp_path, own_ledger):
    folder = tmp_path / "release"
    hedgerow.publish(people_plan("hedge", epsilon=1), data=DATA, out=folder)

    def digests():
        files = [own_ledger, *sorted(path for path in folder.rglob("*") if path.is_file())]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = digests()
    hedgerow.attack(folder, DATA, holdout=OTHERS, out=tmp_path / "report", shadows=1)
    assert digests() == before


def test_a_report_is_for_its_owner_and_never_inside_the_release(tmp_path):
    folder = tmp_path / "release"
    release = hedgerow.publish(people_plan("hedge", epsilon=1), data=DATA, out=folder, seed=1)
    page, figures = hedgerow.attack(folder, DATA, out=tmp_path / "own").write(tmp_path / "two")
    assert page.stat().st_mode & 0o077 == 0
    assert figures.stat().st_mode & 0o077 == 0
    assert "For the data owner" in page.read_text()
    assert "owner only" in json.loads(figures.read_text())["for"]
    with pytest.raises(ReleaseError, match="the release, which others may see"):
        hedgerow.attack(folder, DATA, out=folder / "owner")
    with pytest.raises(ReleaseError, match="an attack report already"):
        hedgerow.attack(release, DATA, out=tmp_path / "own")
    hedgerow.attack(release, DATA, out=tmp_path / "own", force=True)
    assert repr(hedgerow.attack(release, DATA)) == "AttackReport('people', for the data owner)"


def test_two_releases_of_the_same_data_are_added_up(release):
    more = hedgerow.publish(people_plan("privbayes", epsilon=1), data=DATA, seed=2)
    facts = hedgerow.attack(release, DATA, holdout=OTHERS, other=more, shadows=0).facts
    found = facts["differencing"]
    assert found["of"] == "the same data"
    both = found["membership"]["attacks"]["density"]
    alone = facts["membership"]["attacks"]["density"]
    assert both["bound"] > alone["bound"]
    assert both["beyond-bound"] is False


def test_the_difference_of_two_exact_releases_gives_away_who_joined():
    before, after = DATA[:150], DATA
    plan = people_plan("basic-table", epsilon=50)
    one = hedgerow.publish(plan, data=after, seed=1)
    two = hedgerow.publish(plan, data=before, seed=2)
    given = {"holdout": OTHERS, "other": two, "other_data": before, "shadows": 0}
    found = hedgerow.attack(one, after, **given).facts["differencing"]
    assert found["joined"] == 100
    assert found["membership"]["attacks"]["density"]["accuracy"]["rate"] > 0.9
    assert found["inference"]["columns"]["sick"]["beyond-control"]
    nobody = hedgerow.attack(two, before, holdout=OTHERS, other=one, other_data=after, shadows=0)
    assert "no record" in nobody.facts["differencing"]["not-run"]


def test_two_releases_of_lists_are_compared(tmp_path):
    data = write_lists(tmp_path / "in.dat", 150, ordered=True, seed=1)
    lines = data.read_text().splitlines()
    (tmp_path / "before.dat").write_text("\n".join(lines[:90]) + "\n")
    others = write_lists(tmp_path / "out.dat", 150, ordered=True, seed=2)
    plan = sequence_plan(("chain", {}))
    release = hedgerow.publish(plan, data=data, seed=3)
    earlier = hedgerow.publish(plan, data=tmp_path / "before.dat", seed=4)
    given = {"holdout": others, "other": earlier}
    assert hedgerow.attack(release, data, **given).facts["differencing"]["of"] == "the same data"
    found = hedgerow.attack(release, data, **given, other_data=tmp_path / "before.dat").facts
    assert found["differencing"]["joined"] == 60
    assert hedgerow.attack(release, data, other=earlier).facts["differencing"]["not-run"]
    table = hedgerow.publish(people_plan("hedge", epsilon=1), data=DATA, seed=1)
    with pytest.raises(SettingError, match="different kinds of data"):
        hedgerow.attack(release, data, other=table, other_data=DATA)
    with pytest.raises(SettingError, match="Items cannot be marked"):
        hedgerow.attack(release, data, sensitive=["3"])


def test_people_are_attacked_with_one_record_each_and_must_be_named():
    plan = people_plan("hedge", epsilon=1) | {"person": "id", "records-per-person": 3}
    del plan["protects"]
    data = DATA.with_columns(id=pl.Series(np.arange(250) // 2))
    others = OTHERS.with_columns(id=pl.Series(1000 + np.arange(250) // 2))
    release = hedgerow.publish(plan, data=data, seed=1)
    facts = hedgerow.attack(release, data, holdout=others, shadows=1).facts
    assert facts["targets"]["unit"] == "people"
    assert facts["targets"]["pairs"] == 125 - 125 // 3
    with pytest.raises(DataError, match="does not name them by 'id'"):
        hedgerow.attack(release, data, holdout=OTHERS)


def receipts(seed: int) -> pl.DataFrame:
    """Rows of customer, receipt and product; each receipt is one customer's."""
    rng = np.random.default_rng(seed)
    receipt = rng.integers(0, 300, 900)
    product = np.minimum(rng.geometric(0.2, 900), 30)
    return pl.DataFrame({"customer": receipt % 100, "receipt": receipt, "product": product})


@pytest.mark.parametrize(
    ("people", "is_shown"),
    [({"join": "union"}, True), ({"records-per-person": 3}, False)],
    ids=["joined", "not joined"],
)
def test_the_bound_for_people_is_shown_where_their_baskets_are_joined(people, is_shown):
    plan = basket_plan(("diffpart", {})) | {"person": "customer", **people}
    del plan["protects"]
    plan["items"] |= {"column": "product", "record": "receipt"}
    data = receipts(1)
    release = hedgerow.publish(plan, data=data, seed=1)
    facts = hedgerow.attack(release, data, holdout=receipts(2), plan=plan).facts
    assert facts["targets"]["unit"] == ("people" if is_shown else "records")
    assert (facts["pair-bound"] is not None) == is_shown
    assert any("is not shown" in note for note in facts["notes"]) != is_shown
    assert "no marginals" in facts["reconstruction"]["not-run"]


MARKED = "Zzyzx-7731"


@settings(max_examples=4, deadline=None)
@given(method=st.sampled_from(["hedge", "privbayes", "mondrian"]), at=st.integers(0, 249))
def test_no_value_of_a_record_is_in_any_output(method, at, tmp_path_factory):
    """One member and one outsider have values that nothing else in the report could have."""
    folder = tmp_path_factory.mktemp("marked")
    plan = people_plan(method, **({"k": 3} if method == "mondrian" else {"epsilon": 4}))
    plan["attributes"]["region"] = {"values": [*REGIONS, MARKED]}
    plan["attributes"]["age"] = {"numeric": [0, 7731]}
    frames = []
    for each in (DATA, OTHERS):
        rows = each.to_dicts()
        rows[at] |= {"region": MARKED, "age": 7731}
        frames.append(pl.DataFrame(rows))
    release = hedgerow.publish(plan, data=frames[0], seed=1)
    steps: list[str] = []
    report = hedgerow.attack(
        release,
        frames[0],
        holdout=frames[1],
        other=release,
        sensitive=["region", "age", "sick"],
        shadows=1,
        out=folder / "own",
        progress=lambda step, part: steps.append(step),
    )
    written = [path.read_text() for path in Path(folder / "own").iterdir()]
    for text in [*written, repr(report), *steps]:
        assert MARKED not in text
        assert not re.search(r"(?<![\d.])7731(?!\d)", text)
        for label in (*REGIONS, "job 1"):
            assert not re.search(rf"\b{label}\b", text)


def test_shares_are_never_rounded_to_certainty():
    assert rate_text(0.99999) == "over 99.9 %"
    assert rate_text(0.00001) == "under 0.1 %"
