"""Disclosing again to the same recipient: what they have counts, and is remembered safely."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.disclosure import result as results
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.forms import DisclosedBoxes, known_forms
from hedgerow.disclosure.lattice.lattice import chains_of
from hedgerow.disclosure.memory_file import MemoryFile
from hedgerow.disclosure.recipient import (
    OtherRecordsError,
    UnknownRecipientError,
    everything_given,
    withdraw_given,
)
from hedgerow.errors import DataError, PlanError, RefusedError, ReleaseError, SettingError
from support.disclosure_tables import METHODS, patients, plan
from support.tables import grid, schema_of, values

SECRET = "SECRET"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def give(table, *, first=False, key="name", name="Registry", out=None, **asked):
    """One disclosure to a recipient; whatever risk is left is accepted."""
    asked = {"utility": {"at-least": "half"}} | asked
    section = {"recipient": name, "first": first, **({"key": key} if key else {}), **asked}
    return disclose(plan(**section), data=table, out=out, accept_risk=True)


def boxes(disclosed) -> np.ndarray:
    """What each record shows of each attribute: first code and the one after the last."""
    owner = disclosed.owner
    return np.stack(
        [
            np.stack([chain.taxonomy.first[node], chain.taxonomy.stop[node]], axis=1)
            for chain, node in zip(owner.ready.chains, owner.nodes, strict=True)
        ],
        axis=1,
    )


def risks_by_hand(disclosed, *given_boxes) -> np.ndarray:
    """Model 1 of the intersection of boxes, counted row by row in the table itself."""
    owner = disclosed.owner
    both = np.concatenate([given_boxes]).transpose(1, 0, 2, 3)
    first, stop = both[..., 0].max(axis=1), both[..., 1].min(axis=1)
    codes = np.stack(owner.confidential.table.codes, axis=1).astype(int)
    personal = owner.confidential.personal
    risk = np.zeros(len(codes))
    for at in range(len(codes)):
        fit = sum(bool(((first[at] <= other) & (other < stop[at])).all()) for other in codes)
        severity = 0.0
        for i, chain in enumerate(owner.ready.chains):
            code, tree = codes[at, i], chain.taxonomy
            for level in range(int(chain.heights[code]) + 1):
                node = chain.nodes[code, level]
                if (tree.first[node], tree.stop[node]) == (first[at, i], stop[at, i]):
                    weight = owner.problems.severities.tables[i][code, level]
                    break
            severity += weight * (1.0 if personal is None else personal[at, i])
        risk[at] = severity / max(fit, 1)
    return risk


def after(disclosed) -> np.ndarray:
    return np.array(disclosed.owner.risks()["risk_after"].to_pylist(), dtype=float)


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), measure=st.sampled_from(["leaves", "log"]))
def test_the_risk_is_that_of_all_boxes_given_intersected_by_hand(seed, measure, tmp_path_factory):
    memory = str(tmp_path_factory.mktemp("memory") / "given.sqlite")
    table = patients(30, seed=seed)
    asked = {"memory": memory, "risk": {"weights": {"ward": "w_ward"}}}
    one = give(table, first=True, utility={"at-least": "30%"}, **asked)
    other = {"risk": {"severities": {"sex": 9}, **asked["risk"]}, "memory": memory}
    two = give(table, utility={"at-least": "half", "measure": measure}, **other)
    three = give(table, utility={"at-least": "60%"}, **other)
    np.testing.assert_allclose(after(one), risks_by_hand(one, boxes(one)))
    np.testing.assert_allclose(after(two), risks_by_hand(two, boxes(one), boxes(two)))
    np.testing.assert_allclose(
        after(three), risks_by_hand(three, boxes(one), boxes(two), boxes(three))
    )


@pytest.mark.parametrize("method", [name for name in METHODS if name != "model 3"])
def test_every_method_takes_what_was_given_into_account(method, tmp_path):
    table = patients(40)
    one = give(table, first=True, utility={"at-least": "70%"})
    two = disclose(
        plan(recipient="Registry", key="name", **METHODS[method]), data=table, accept_risk=True
    )
    known = two.owner.recipient.known
    assert known.recognised.all()
    shown = two.owner.found.feasible[two.owner.problems.kind]
    if METHODS[method].get("risk", {}).get("model", 1) == 1 and "weights" in METHODS[method].get(
        "risk", {}
    ):
        by_hand = risks_by_hand(two, boxes(one), boxes(two))
        np.testing.assert_allclose(after(two)[shown], by_hand[shown])


def test_the_same_again_gives_no_more_and_costs_no_more():
    table = patients(60)
    one = give(table, first=True)
    two = give(table)
    np.testing.assert_array_equal(after(one), after(two))
    first, again = boxes(one), boxes(two)
    assert (first[..., 0] <= again[..., 0]).all()
    assert (again[..., 1] <= first[..., 1]).all()


def test_other_forms_each_harmless_may_be_risky_together():
    table = patients(60)
    ward = give(table, first=True, risk={"severities": {"age": 50}})
    age = give(table, risk={"severities": {"ward": 50, "sex": 50}}, name=" registry ")
    alone = give(table, first=True, risk={"severities": {"ward": 50, "sex": 50}}, name="Another")
    assert after(age).mean() > after(alone).mean()
    assert len(everything_given(MemoryFile(Path("given.sqlite")))) == 3
    assert ward.certificate.disclosure.recipient.earlier == ()


def test_under_a_risk_limit_what_is_known_too_well_is_withheld_and_keeps_its_risk():
    table = patients(60)
    give(table, first=True, utility={"at-least": "100%"})
    two = give(table, utility={}, risk={"at-most": 0.05})
    assert two.owner.n_withheld > 0
    withheld = ~two.owner.found.feasible[two.owner.problems.kind]
    already = np.array(two.owner.risks()["risk_already"].to_pylist(), dtype=float)
    assert (already[withheld] > 0.05).all()
    assert two.owner.movement.largest[1] == pytest.approx(already.max())


def test_records_are_recognised_by_their_key_in_any_order_and_new_ones_are_new():
    table = patients(60)
    give(table.slice(0, 40), first=True)
    turned = table.take(list(reversed(range(60))))
    two = give(turned)
    assert two.owner.recipient.known.recognised.tolist() == [False] * 20 + [True] * 40
    assert not two.owner.recipient.known.changed.any()


def test_a_value_that_changed_counts_as_known():
    table = patients(60)
    give(table, first=True, utility={"at-least": "100%"})
    wards = table["ward"].to_pylist()
    wards[3] = "E" if wards[3] != "E" else "A"
    two = give(table.set_column(1, "ward", pa.array(wards)))
    known = two.owner.recipient.known
    assert np.flatnonzero(known.changed).tolist() == [3]
    assert known.levels[3, 1] == 0


def test_without_a_key_equal_records_share_what_was_given_of_any():
    table = patients(60)
    give(table, first=True, key=None, risk={"weights": {"ward": "w_ward"}})
    two = give(table, key=None)
    known, codes = two.owner.recipient.known, np.stack(two.owner.confidential.table.codes, axis=1)
    assert known.recognised.all()
    for row in np.unique(codes, axis=0):
        same = (codes == row).all(axis=1)
        assert len(np.unique(known.levels[same], axis=0)) == 1


@given(seed=st.integers(0, 10**6))
def test_the_meet_of_forms_is_that_of_a_loop_over_records(seed):
    rng = np.random.default_rng(seed)
    chains = chains_of(schema_of(values(6, fan_out=2), grid(9), classes=None))
    tokens = rng.integers(0, 255, (8, 16)).astype(np.uint8)
    codes = [rng.integers(0, chain.taxonomy.n_leaves, 8) for chain in chains]
    earlier, expected = (
        [],
        [chain.heights[c].astype(int) for chain, c in zip(chains, codes, strict=True)],
    )
    for _ in range(3):
        chosen = rng.permutation(8)[:5]
        spans = np.zeros((5, 2, 2), dtype=np.uint32)
        for place, record in enumerate(chosen):
            for i, chain in enumerate(chains):
                code = codes[i][record]
                level = int(rng.integers(0, chain.heights[code] + 1))
                node = chain.nodes[code, level]
                spans[place, i] = chain.taxonomy.first[node], chain.taxonomy.stop[node]
                expected[i][record] = min(expected[i][record], level)
        earlier.append(DisclosedBoxes(tokens=tokens[chosen], spans=spans))
    packed = [DisclosedBoxes.unpacked(forms.packed()) for forms in earlier]
    known = known_forms(packed, tokens, tuple(codes), chains)
    assert known.levels.tolist() == np.stack(expected, axis=1).tolist()
    assert not known.changed.any()


def test_an_unknown_recipient_is_refused_unless_it_is_said_to_be_the_first_time():
    table = patients(40)
    with pytest.raises(UnknownRecipientError, match="--first"):
        give(table)
    assert not Path("given.sqlite").exists()
    give(table, first=True)
    with pytest.raises(UnknownRecipientError, match="Known recipients: Registry"):
        give(table, name="Regystry")
    with pytest.raises(RefusedError, match="received records before"):
        give(table, first=True)


def test_a_lost_memory_is_noticed():
    table = patients(40)
    give(table, first=True)
    Path("given.sqlite").unlink()
    with pytest.raises(UnknownRecipientError, match="restore the record of disclosures"):
        give(table)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE events SET body = replace(body, 'Registry', 'Register')", "event 1"),
        ("UPDATE events SET forms = x'00' WHERE number = 1", "event 1"),
        ("DELETE FROM events WHERE number = 1", "event 1"),
        ("DELETE FROM events WHERE number = 2", "cut off"),
        ("DELETE FROM events", "cut off"),
        ("UPDATE head SET key = x'00'", "key"),
    ],
)
def test_a_memory_that_was_changed_is_not_trusted(statement, why):
    table = patients(40)
    give(table, first=True)
    give(table)
    with sqlite3.connect("given.sqlite") as connection:
        for event in ("changed", "deleted"):
            connection.execute(f"DROP TRIGGER events_are_never_{event}")
        connection.execute(statement)
    connection.close()
    with pytest.raises(ReleaseError, match=f"cannot be trusted.*{why}"):
        give(table)


@pytest.mark.parametrize("content", [b"", b"no database at all, only a text that is long enough"])
def test_a_file_that_is_no_memory_is_not_trusted(content):
    Path("given.sqlite").write_bytes(content)
    Path("given.sqlite").chmod(0o600)
    with pytest.raises(ReleaseError, match="cannot be trusted"):
        give(patients(40), first=True)


def test_the_memory_is_for_its_owner_alone_and_shows_no_key_or_name(tmp_path):
    give(patients(40), first=True, out=tmp_path / "out")
    memory = tmp_path / "given.sqlite"
    assert memory.stat().st_mode & 0o777 == 0o600
    assert SECRET.encode() not in memory.read_bytes()
    public = [p for p in (tmp_path / "out").rglob("*") if p.is_file()]
    assert all(SECRET.encode() not in path.read_bytes() for path in public)
    memory.chmod(0o640)
    with pytest.raises(ReleaseError, match="accessible to other users"):
        give(patients(40))


def test_a_run_that_fails_before_its_folder_is_complete_leaves_no_trace(tmp_path, monkeypatch):
    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results, "write_dictionary", fail)
    with pytest.raises(ReleaseError, match="no space"):
        give(patients(40), first=True, out=tmp_path / "out")
    assert not (tmp_path / "given.sqlite").exists()
    assert not (tmp_path / "out").exists()


def test_a_run_that_fails_between_its_booking_and_its_folder_stays_booked(tmp_path, monkeypatch):
    table = patients(40)
    rename = Path.rename

    def fail(self, target):
        if Path(target).name == "out":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(KeyboardInterrupt):
        give(table, first=True, out=tmp_path / "out")
    monkeypatch.setattr(Path, "rename", rename)
    memory = MemoryFile(tmp_path / "given.sqlite")
    assert [each.state for each in everything_given(memory)] == ["booked"]
    two = give(table, out=tmp_path / "other")
    assert two.owner.recipient.known.recognised.all()
    assert [each.state for each in everything_given(memory)] == ["booked", "released"]


def test_what_is_refused_is_not_booked(tmp_path):
    table = patients(40)
    section = plan(recipient="Registry", first=True, utility={"at-least": "100%"})
    with pytest.raises(RefusedError, match="mean risk"):
        disclose(section, data=table)
    assert not (tmp_path / "given.sqlite").exists()


def test_two_runs_at_once_do_not_both_count_on_the_same_past(tmp_path):
    table = patients(40)
    give(table, first=True)

    def meanwhile(_have):
        give(table)

    section = plan(recipient="Registry", key="name", utility={"at-least": "half"})
    with pytest.raises(ReleaseError, match="during this run"):
        disclose(
            section, data=table, accept_risk=True, on_recognised=meanwhile, out=tmp_path / "out"
        )
    assert not (tmp_path / "out").exists()
    assert len(everything_given(MemoryFile(tmp_path / "given.sqlite"))) == 2


def test_what_never_left_the_house_can_be_withdrawn():
    table = patients(40)
    give(table, first=True, utility={"at-least": "100%"})
    memory = MemoryFile(Path("given.sqlite"))
    withdraw_given(memory, 1, why="a trial")
    with pytest.raises(UnknownRecipientError):
        give(table)
    again = give(table, first=True)
    plain = disclose(plan(utility={"at-least": "half"}), data=table)
    np.testing.assert_array_equal(after(again), after(plain))
    with pytest.raises(SettingError, match="not the number of a disclosure"):
        withdraw_given(memory, 1, why="twice")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"key": None}, "identified by key name"),
        ({"drop": "ward"}, "disclosed the attribute 'ward'"),
        ({"widen": "age"}, "domain or taxonomy of 'age'"),
    ],
)
def test_what_cannot_be_laid_over_earlier_forms_is_refused(change, why):
    table = patients(40)
    give(table, first=True)
    section = plan(recipient="Registry", utility={"at-least": "half"})
    if "key" not in change:
        section["disclose"]["key"] = "name"
    attributes = dict(section["attributes"])
    if "drop" in change:
        attributes[change["drop"]] = {"role": "drop"}
    if "widen" in change:
        attributes[change["widen"]] = {"numeric": [0, 99]}
    section["attributes"] = attributes
    with pytest.raises(OtherRecordsError, match=why):
        disclose(section, data=table)


def test_a_new_attribute_was_not_known_before_where_records_have_a_key():
    table = patients(40)
    section = plan(recipient="Registry", key="name", first=True, utility={"at-least": "half"})
    section["attributes"] = {**section["attributes"], "sex": {"role": "drop"}}
    disclose(section, data=table, accept_risk=True)
    two = give(table)
    at = [attribute.name for attribute in two.owner.ready.schema.attributes].index("sex")
    assert (two.owner.recipient.known.levels[:, at] == 1).all()
    section["disclose"] = {"recipient": "Other", "first": True, "utility": {"at-least": "half"}}
    disclose(section, data=table, accept_risk=True)
    with pytest.raises(OtherRecordsError, match="identified by their values"):
        give(table, name="Other", key=None)


def test_keys_must_be_there_and_tell_records_apart():
    table = patients(40)
    twice = table.set_column(3, "name", pa.array(["x"] * 40))
    with pytest.raises(DataError, match="Record 2, column 'name': an earlier record") as error:
        give(twice, first=True)
    assert "'x'" not in str(error.value)
    names = table["name"].to_pylist()
    names[7] = " "
    with pytest.raises(DataError, match="Record 8, column 'name': the key is missing"):
        give(table.set_column(3, "name", pa.array(names)), first=True)


@pytest.mark.parametrize(
    ("section", "why"),
    [
        ({"key": "name"}, "needs a recipient"),
        ({"first": True}, "needs a recipient"),
        ({"memory": "x.sqlite"}, "needs a recipient"),
        ({"recipient": "R", "key": "ward"}, "has the role predictor"),
        ({"recipient": "R", "key": "w_ward", "risk": {"weights": {"ward": "w_ward"}}}, "weights"),
        ({"recipient": "R", "risk": {"consistency": "jaro"}}, "add up only if"),
    ],
)
def test_plans_that_make_no_sense_are_refused(section, why):
    with pytest.raises(PlanError, match=why):
        disclose(plan(**section), data=patients(20))


def test_the_memory_must_not_lie_in_what_is_given_away(tmp_path):
    with pytest.raises(SettingError, match="given away"):
        give(patients(40), first=True, memory=str(tmp_path / "out" / "m"), out=tmp_path / "out")


def test_certificate_and_pages_say_what_the_recipient_has(tmp_path):
    table = patients(40)
    give(table, first=True, out=tmp_path / "one")
    two = give(table.slice(0, 30), out=tmp_path / "two")
    certificate = json.loads((tmp_path / "two" / "certificate.json").read_text("utf-8"))
    recipient = certificate["disclosure"]["recipient"]
    assert recipient["name"] == "Registry"
    assert recipient["recognised-by"] == "key"
    assert len(recipient["earlier"]) == 1
    assert "all records that Registry has received" in certificate["guarantee"]["statement"]
    owners = (tmp_path / "two" / "owner" / "report.html").read_text("utf-8")
    assert "Earlier disclosures to Registry" in owners
    assert "<strong>30</strong>" in owners
    assert "risk_already" in (tmp_path / "two" / "owner" / "risk.csv").read_text("utf-8")
    assert "Registry" in (tmp_path / "two" / "report.html").read_text("utf-8")
    assert two.owner.what_they_have().n_recognised == 30
