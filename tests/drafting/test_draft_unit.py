"""The privacy unit of a draft: keys that repeat are asked about, whatever they are called."""

from __future__ import annotations

import gzip
import re
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.drafting.candidates import UnitCandidate
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.drafting.distinct import DistinctSample
from hedgerow.drafting.profile import profiles_of
from hedgerow.drafting.text import question_lines
from hedgerow.drafting.unit import UnitFound
from hedgerow.errors import DataError, PlanError, visible
from hedgerow.plan.load import load_plan, plan_of
from hedgerow.plan.parse import parse_text
from hedgerow.read.open import open_table
from support.event_logs import LOGS, letters

NAMES = (
    *("id", "uid", "pid", "case_id", "pat_nr", "imei", "plate", "device", "caseid", "subject"),
    *("patient", "customer_no", "Kundennummer", "Fall-Nr.", "case:concept:name", "proband"),
    *("user_id", "username", "account", "card_no", "member", "household", "hh_id", "session"),
    *("vin", "mrn", "numero_dossier", "expediente", "Kennzeichen", "folio", "who", "code"),
    *("ref", "key", "token", "x", "column-1", "V1", "org:resource", "Nr sprawy"),
)
FORMS: dict[str, Callable[[int], object]] = {
    "text": lambda place: f"p{place + 1}",
    "letters": letters,
    "number": lambda place: place + 1,
    "long number": lambda place: 4_000_037 + place * 7919 % 100_003,
    "hex": lambda place: f"{(place + 1) * 0x9E3779B97F4A7C15 % 2**64:016x}",
    "UUID": lambda place: str(
        uuid.UUID(int=(place + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128)
    ),
    "leading zeros": lambda place: f"{place + 1:05d}",
}
ATTRIBUTES = {"age": {"numeric": [0, 100]}}
N_KEYS = {3: 60, 40: 30, 400: 27}


def keyed(form: str, mean: int, *, equal: bool) -> tuple[list[object], list[int]]:
    """Return keys, each in ``mean`` records or about so, shuffled, and ages."""
    rng = np.random.default_rng(mean)
    n_keys = N_KEYS[mean]
    drawn = rng.lognormal(np.log(mean), 0.6, n_keys).astype(int)
    sizes = np.full(n_keys, mean) if equal else np.maximum(drawn, 2)
    owners = rng.permutation(np.repeat(np.arange(n_keys), sizes))
    made = [FORMS[form](place) for place in range(n_keys)]
    ages = np.clip(rng.normal(45, 16, len(owners)), 0, 99).astype(int)
    return [made[owner] for owner in owners], ages.tolist()


@pytest.mark.parametrize("equal", [True, False], ids=["equally many", "varied"])
@pytest.mark.parametrize("mean", N_KEYS)
@pytest.mark.parametrize("form", FORMS)
def test_a_key_that_repeats_is_asked_about_and_not_released(form, mean, equal):
    keys, ages = keyed(form, mean, equal=equal)
    missed = []
    for name in NAMES:
        plan = draft_plan(pa.table({name: keys, "age": ages})).plan
        asked = len(plan.to_do) == 1 and f"{name!r}" in plan.to_do[0]
        if not asked or plan.attributes[name].role != "identifier" or plan.one_record_per_person:
            missed.append(name)
        assert plan.attributes["age"].numeric is not None
    assert len(NAMES) == 40
    assert missed == []


@pytest.mark.parametrize("name", LOGS)
def test_the_case_of_an_event_log_is_asked_about_and_not_released(name, tmp_path):
    log = LOGS[name]
    path = log.write(tmp_path / "log.csv", seed=len(name))
    drafted = draft_plan(path, base=tmp_path)
    assert repr(log.case) in drafted.plan.to_do[0]
    assert drafted.plan.attributes[log.case].role == "identifier"
    assert drafted.plan.attributes[log.activity].is_read
    file = tmp_path / "plan.yaml"
    file.write_text(drafted.text.replace("confirmed: false", "confirmed: true"), encoding="utf-8")
    with pytest.raises(PlanError, match="a question is open"):
        load_plan(file)
    stated = draft_plan(path, base=tmp_path, person=log.case, records_per_person=16)
    assert (stated.plan.to_do, stated.plan.person) == ((), (log.case,))
    file.write_text(stated.text.replace("confirmed: false", "confirmed: true"), encoding="utf-8")
    assert load_plan(file).privacy_unit == "person"


def households(n: int = 120) -> pa.Table:
    """Return people of households, with a number within each, seen in two waves."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 5, n)
    owners = np.tile(np.repeat(np.arange(n), sizes), 2)
    members = np.tile(np.concatenate([np.arange(1, size + 1) for size in sizes]), 2)
    return pa.table(
        {
            "hhnr": [f"H{owner:04d}" for owner in owners],
            "pno": members,
            "age": np.clip(rng.normal(40, 20, len(owners)), 0, 99).astype(int),
        }
    )


def test_a_household_and_the_number_within_it_are_asked_about_together():
    plan = draft_plan(households()).plan
    assert "Values repeat in 'hhnr'" in plan.to_do[0]
    assert "'person: [hhnr, pno]' protects one member" in plan.to_do[0]
    assert {plan.attributes[name].role for name in ("hhnr", "pno")} == {"identifier"}


def test_a_person_of_two_columns_is_stated_with_the_bound_of_both():
    drafted = draft_plan(households(), person=["hhnr", "pno"])
    assert drafted.plan.person == ("hhnr", "pno")
    assert drafted.plan.records_per_person == 2  # two waves
    assert drafted.plan.to_do == ()


def test_a_table_without_keys_is_asked_about_too():
    rng = np.random.default_rng(1)
    plan = draft_plan(
        pa.table({"age": rng.integers(0, 99, 300), "sex": rng.choice(["f", "m"], 300)})
    )
    assert plan.plan.to_do[0].startswith("Can one person have several records? No column shows")
    assert plan.plan.privacy_unit is None
    assert "\n# person: COLUMN\n" in plan.text


VISITS = pa.table(
    {
        "patient": [f"P{i // 3}" for i in range(600)],
        "age": [i % 90 for i in range(600)],
        "band": ["low", "high"] * 300,
    }
)


@pytest.mark.parametrize(
    ("stated", "unit"),
    [
        ({"person": "patient"}, "person"),
        ({"person": ["patient"], "records_per_person": "auto"}, "person"),
        ({"one_record_per_person": True}, "one record per person"),
        ({"protects_records": True}, "records"),
    ],
)
def test_a_stated_unit_leaves_no_question(stated, unit):
    drafted = draft_plan(VISITS, **stated)
    assert (drafted.plan.privacy_unit, drafted.plan.to_do) == (unit, ())
    assert drafted.plan.attributes["patient"].role == "identifier"
    warned = any("would then promise too much" in note for note in drafted.notes)
    assert warned is (unit == "one record per person")


@pytest.mark.parametrize(
    ("stated", "error", "match"),
    [
        ({"person": "patient", "protects_records": True}, PlanError, "Two privacy units"),
        ({"records_per_person": 4}, PlanError, "No column names the person"),
        ({"person": "patient", "records_per_person": "many"}, PlanError, "not a number"),
        ({"person": "nobody"}, DataError, "no column 'nobody'"),
        ({"person": "patient", "records_per_person": 0}, PlanError, "not from 1 to"),
        ({"person": ["patient", "patient"]}, PlanError, "twice"),
        ({"person": "band", "class_name": "band"}, DataError, "is also the class"),
    ],
)
def test_a_unit_that_cannot_be_is_refused(stated, error, match):
    with pytest.raises(error, match=match):
        draft_plan(VISITS, **stated)


def test_a_column_of_people_is_proposed_and_still_asked_about():
    drafted = draft_plan(VISITS)
    assert drafted.plan.person == ("patient",)
    assert drafted.plan.to_do[0].startswith(
        "Does 'patient' identify the person of each of these records?"
    )


def test_many_keys_are_counted_to_the_end_of_the_table(monkeypatch):
    """Keys that all differ for thousands of rows, and then come again."""
    monkeypatch.setattr("hedgerow.drafting.profile._MOST_DISTINCT", 500)
    monkeypatch.setattr("hedgerow.drafting.distinct.MOST_KEPT", 500)
    keys = [f"{i * 7919 % 1_000_003:x}" for i in range(6_000)]
    batches = [pa.record_batch({"tag": keys, "age": [i % 80 for i in range(6_000)]})] * 3
    (profile, _) = profiles_of(open_table(pa.Table.from_batches(batches)), ["tag", "age"]).values()
    assert len(profile.distinct.words) <= 500
    assert set(profile.distinct.counts.tolist()) == {3}
    # A sample of 250 or more: five standard deviations are within a third.
    assert 4_000 <= profile.distinct.n_values <= 8_000
    assert "Values repeat in 'tag'" in draft_plan(pa.Table.from_batches(batches)).plan.to_do[0]


RNG = np.random.default_rng(9)
N = 4_000
PLACES = [f"{a}{b}" for a in ("Ober", "Unter", "Neu", "Alt") for b in ("bach", "dorf", "au")]
ORDINARY: dict[str, list[object]] = {
    "age": np.clip(RNG.normal(45, 17, N), 0, 99).astype(int).tolist(),
    "hours": np.where(RNG.random(N) < 0.5, 40, RNG.integers(1, 80, N)).tolist(),
    "capital": np.where(RNG.random(N) < 0.9, 0, RNG.integers(100, 99_999, N)).tolist(),
    "income": (RNG.lognormal(7.6, 0.5, N) // 10 * 10).astype(int).tolist(),
    "height": RNG.normal(171, 9, N).round(1).tolist(),
    "q7": RNG.poisson(30, N).tolist(),
    "amt": np.round(RNG.lognormal(6, 1, N)).astype(int).tolist(),
    "born in": RNG.integers(1930, 2005, N).tolist(),
    "plz": RNG.choice([f"{p:05d}" for p in range(1067, 1367)], N).tolist(),
    "diag": RNG.choice([f"{a}{b:02d}" for a in "CEIJ" for b in range(60)], N).tolist(),
    "ort": RNG.choice(PLACES, N).tolist(),
    "education": RNG.choice([f"level {i}" for i in range(9)], N).tolist(),
    "visits": RNG.poisson(2, N).tolist(),
    "product": RNG.choice([f"Art-{i}" for i in range(90)], N).tolist(),
    "seen": [f"2024-{i % 12 + 1:02d}-{i % 27 + 1:02d}" for i in range(N)],
    "clock": [f"{i % 24:02d}:{i % 60:02d}" for i in range(N)],
    "remark": [f"came back after {i % 150} days" for i in range(N)],
    "smoker": RNG.choice(["no", "yes"], N).tolist(),
    "type_id": RNG.integers(1, 26, N).tolist(),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_column_is_not_taken_for_a_key(name):
    question = draft_plan(
        pa.table({name: ORDINARY[name], "flag": ["a", "b"] * (N // 2)})
    ).plan.to_do
    assert repr(name) not in question[0]


REAL = {
    "adult": set(),
    "diabetes-130/diabetic_data.csv.gz": {"patient_nbr"},
    "nist/ma2019.csv.gz": set(),
    "nist/tx2019.csv.gz": set(),
}


@pytest.mark.parametrize("table", REAL)
def test_ordinary_columns_of_real_tables_are_not_taken_for_keys(table, shared_data, tmp_path):
    path = shared_data / table
    if path.is_dir():
        names = re.findall(r"^([a-z-]+): ", (path / "adult.names").read_text("utf-8"), re.MULTILINE)
        lines = gzip.decompress((path / "adult.data.gz").read_bytes()).decode("ascii")
        path = tmp_path / "adult.csv"
        path.write_text(",".join([*names, "income"]) + "\n" + lines.rstrip(), "ascii")
    drafted = draft_plan(path)
    named = drafted.plan.to_do[0]
    found = {name for name in drafted.plan.attributes if repr(name) in named}
    assert found - {"encounter_id"} == REAL[table]  # which differs in every record


@given(
    names=st.lists(
        st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=300),
        min_size=1,
        max_size=30,
        unique=True,
    ),
    within=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_a_question_about_any_columns_is_read_back_as_it_is(names, within):
    found = [UnitCandidate(column=name, why="x", sizes=np.array([2]), n_values=1) for name in names]
    if within:
        found.append(replace(found[0], column="pno", within=names[0]))
    questions = UnitFound(candidates=found).questions()
    text = "\n".join(question_lines(questions))
    plan = plan_of({**parse_text(text, kind="YAML", where="x").data, "attributes": ATTRIBUTES})
    assert [visible(question) for question in questions] == [visible(q) for q in plan.to_do]
    assert len(questions) == 1


@given(
    values=st.lists(st.sampled_from([f"key {i}" for i in range(400)]), min_size=1, max_size=2_000),
    cut=st.integers(0, 2_000),
)
@settings(max_examples=50, deadline=None)
def test_a_sample_of_distinct_values_has_their_exact_counts_however_they_come(values, cut):
    samples = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("hedgerow.drafting.distinct.MOST_KEPT", 64)
        for parts in ([values], [values[:cut], values[cut:]], [values[cut:][::-1], values[:cut]]):
            sample = DistinctSample()
            for part in parts:
                counted = Counter(part)
                sample.add(pa.array(list(counted), pa.string()), np.array(list(counted.values())))
            samples.append(dict(zip(sample.words.to_pylist(), sample.counts.tolist(), strict=True)))
            assert len(sample.counts) <= 64
    true = Counter(values)
    assert samples[0] == samples[1] == samples[2]
    assert all(true[word] == n for word, n in samples[0].items())
    assert len(samples[0]) == len(true) or len(true) > 64
