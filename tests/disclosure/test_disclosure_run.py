"""disclose(plan) as a whole: what comes out, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow.disclosure.disclose import disclose
from hedgerow.disclosure.lattice.lattice import Lattice
from hedgerow.disclosure.lattice.threshold import RecordLandscape
from hedgerow.errors import DataError, PlanError, SettingError, UnconfirmedPlanError
from support.disclosure_tables import ATTRIBUTES, METHODS, OWN, patients, plan


def landscape(disclosed, job):
    """Risk and utility of one distinct record, straight from their definition."""
    owner = disclosed.owner
    codes = [int(column[job]) for column in owner.problems.records.codes]
    return RecordLandscape.of(
        codes,
        owner.confidential.dictionary.matches(codes),
        utility=owner.ready.utility,
        severities=owner.problems.severities,
        model=owner.ready.model,
        person=job,
    )


@pytest.mark.parametrize("name", METHODS)
def test_every_method_discloses_true_values_only(name):
    table = patients(30)
    disclosed = disclose(plan(**METHODS[name]), data=table)
    shown = disclosed.to_arrow()
    assert shown.column_names == ["age", "ward", "sex", "sick"]
    assert shown.num_rows == 30
    owner = disclosed.owner
    for i, chain in enumerate(owner.ready.chains):
        nodes, codes = owner.nodes[i], owner.confidential.table.codes[i]
        assert (chain.taxonomy.first[nodes] <= codes).all()
        assert (codes < chain.taxonomy.stop[nodes]).all()
    assert shown["sick"].to_pylist() == table["sick"].to_pylist()


@pytest.mark.parametrize("name", [name for name in METHODS if name != "approx"])
def test_risks_and_utilities_are_those_of_the_disclosed_form(name):
    disclosed = disclose(plan(**METHODS[name]), data=patients(40))
    found, before = disclosed.owner.found, disclosed.owner.before
    for job in range(0, len(disclosed.owner.problems), 5):
        land = landscape(disclosed, job)
        node = tuple(int(level) for level in found.levels[job])
        assert found.risk[job] == pytest.approx(land.risk(node))
        assert found.utility[job] == pytest.approx(land.utility(node))
        assert before.risk[job] == pytest.approx(land.risk(land.lattice.bottom))
        assert before.utility[job] == pytest.approx(land.utility(land.lattice.bottom))


@pytest.mark.parametrize("name", ["aruba", "model 2", "model 3"])
def test_each_record_has_the_least_risk_at_half_its_utility(name):
    disclosed = disclose(plan(**METHODS[name]), data=patients(60))
    found = disclosed.owner.found
    for job in range(0, len(disclosed.owner.problems), 4):
        land = landscape(disclosed, job)
        risks, utilities = land.risks(), land.utilities()
        enough = utilities >= utilities[land.lattice.bottom] / 2
        assert found.utility[job] >= utilities[land.lattice.bottom] / 2
        assert found.risk[job] == pytest.approx(risks[enough].min())


def test_all_searches_disclose_the_same_table():
    tables = [
        disclose(plan(**METHODS[name]), data=patients(80)).to_arrow()
        for name in ("aruba", "btda", "branch-and-bound", "brute-force")
    ]
    assert all(table.equals(tables[0]) for table in tables)


@pytest.mark.parametrize(("power", "model"), [(1, 1), (2, 1), (0, 2), (1.5, 1)])
def test_the_aggregate_form_is_the_best_of_all(power, model):
    section = {"method": "aggregate", "lambda": 8, "kappa": power, "risk": {"model": model}}
    disclosed = disclose(plan(**section), data=patients(60), accept_risk=True)
    owner = disclosed.owner
    n = owner.confidential.dictionary.n_records
    for job in range(0, len(owner.problems), 4):
        land = landscape(disclosed, job)
        lattice: Lattice = land.lattice
        weight = 1.0
        if land.severity_parts is not None:
            weight = lattice.totals(land.severity_parts)
        best = 8 / n * land.counter.cube() / (1 + weight) + land.utilities() ** power
        assert best[tuple(owner.found.levels[job])] == pytest.approx(best.max())


def test_sensitive_attributes_are_told_less_of():
    heavy = {"severities": {"ward": 1000}}
    plain = disclose(plan(), data=patients()).owner.found.levels[:, 1].mean()
    careful = disclose(plan(risk=heavy), data=patients()).owner.found.levels[:, 1].mean()
    assert careful > plain


def test_labels_may_weigh_for_all_values_below_them():
    section = {"risk": {"severities": {"ward": {"other": 7, "C": 1}}}}
    disclosed = disclose(plan(**section), data=patients(20))
    weights = disclosed.owner.problems.severities.tables[1][:, 0]
    assert weights.tolist() == [1, 1, 1, 7, 7]


def test_personal_weights_come_from_a_column_or_a_file(tmp_path):
    table = patients(50)
    lines = ["ward", *(str(weight) for weight in table["w_ward"].to_pylist())]
    (tmp_path / "weights.csv").write_text("\n".join(lines) + "\n")
    section = {"risk": {"weights": str(tmp_path / "weights.csv")}}
    by_file = disclose(plan(**section), data=table)
    by_column = disclose(plan(risk=OWN), data=table)
    assert by_file.to_arrow().equals(by_column.to_arrow())
    assert not by_file.to_arrow().equals(disclose(plan(), data=table).to_arrow())
    assert "weights.csv" in by_file.certificate.to_json()
    assert str(tmp_path) not in by_file.certificate.to_json()


def test_records_with_missing_values_are_left_out_with_their_weights(tmp_path):
    table = patients(30).to_pylist()
    table[3]["ward"] = "?"
    table[17]["age"] = None
    kept = [row for i, row in enumerate(table) if i not in (3, 17)]
    gaps = disclose(plan(risk=OWN), data=pa.Table.from_pylist(table))
    none = disclose(plan(risk=OWN), data=pa.Table.from_pylist(kept))
    assert gaps.to_arrow().equals(none.to_arrow())
    assert gaps.owner.risks()["record"].to_pylist()[:4] == [1, 2, 3, 5]
    weights = ["ward", *(str(row["w_ward"]) for row in table)]
    (tmp_path / "w.csv").write_text("\n".join(weights))
    by_file = disclose(
        plan(risk={"weights": str(tmp_path / "w.csv")}), data=pa.Table.from_pylist(table)
    )
    assert by_file.to_arrow().equals(none.to_arrow())


def test_the_dictionary_may_be_another_table():
    crowd, table = patients(400, seed=8), patients(40)
    own = disclose(plan(), data=table)
    other = disclose(plan(), data=table, against=crowd)
    assert other.owner.confidential.dictionary.n_records == 400
    assert other.owner.before.risk.mean() < own.owner.before.risk.mean()
    assert "another table" in other.certificate.guarantee.statement


def test_records_that_cannot_be_safe_enough_are_withheld():
    disclosed = disclose(plan(risk={"model": 2, "at-most": 0.001}), data=patients(40))
    shown = disclosed.to_arrow()
    assert set(shown["ward"].to_pylist()) == {"*"}
    assert set(shown["age"].to_pylist()) == {"[0, 63]"}
    assert set(shown["sick"].to_pylist()) == {""}
    assert disclosed.owner.n_withheld == 40
    risks = disclosed.owner.risks()
    assert risks["risk_after"].null_count == 40
    assert risks["risk_before"].null_count == 0


def test_a_similarity_of_labels_is_labelled_as_not_proved():
    risk = {"consistency": "jaro", "similar-from": 0.7}
    for method, words in (("aruba", "not proved"), ("brute-force", "best of all")):
        disclosed = disclose(plan(method=method, risk=risk), data=patients(6))
        assert words in disclosed.certificate.method.details["optimum"]
        assert (disclosed.owner.before.risk > 0).all()
        assert "risk–utility plane" not in disclosed.owner_report()


def test_a_printed_model_3_is_labelled_as_not_proved():
    disclosed = disclose(plan(risk={"model": 3, "printed": True}), data=patients(20))
    assert "not proved" in disclosed.certificate.method.details["optimum"]
    assert disclosed.certificate.departures[0].paper.startswith("ARUBA")
    assert "relative frequency" not in disclosed.certificate.to_json()


def test_faithful_roundings_are_reproducible_by_seed():
    risk = {"at-most": 0.3}
    section = {"method": "approx", "faithful": True, "risk": risk, "excess": 40, "width": 1}
    one, two, other = (
        disclose(plan(**section), data=patients(14), seed=seed).owner.found for seed in (1, 1, 2)
    )
    assert (one.levels == two.levels).all()
    assert (one.levels != other.levels).any()


def test_a_table_without_records_is_disclosed_as_one():
    disclosed = disclose(plan(), data=patients(1).slice(0, 0))
    assert disclosed.n_rows == 0
    assert "report" in disclosed.report()
    assert "owner" in disclosed.owner_report()


def test_the_library_offers_it_by_name():
    assert hedgerow.disclose is disclose
    disclosed = hedgerow.disclose(plan(), data=patients(10))
    assert isinstance(disclosed, hedgerow.Disclosure)
    assert repr(disclosed) == "Disclosure('disclosed records', 10 records)"
    assert disclosed.to_polars().columns == disclosed.to_pandas().columns.tolist()
    assert disclosed.to_native(patients(1)).num_rows == 10


def test_an_unconfirmed_plan_is_refused():
    with pytest.raises(UnconfirmedPlanError):
        disclose({**plan(), "confirmed": False}, data=patients(5))


def test_a_plan_that_only_publishes_is_refused():
    only = {"attributes": ATTRIBUTES, "confirmed": True}
    with pytest.raises(PlanError, match="how to disclose"):
        disclose(only, data=patients(5))
    assert disclose(only, data=patients(5), method="btda").certificate.method.name == "btda"


def test_a_seed_without_anything_random_is_refused():
    with pytest.raises(SettingError, match="no random step"):
        disclose(plan(), data=patients(5), seed=1)


def test_a_label_that_no_value_has_is_refused():
    with pytest.raises(PlanError) as refused:
        disclose(plan(risk={"severities": {"ward": {"Z": 2}}}), data=patients(5))
    assert refused.value.paths == ("disclose.risk.severities.ward",)


def weights_file(text):
    def change(folder, table):
        (folder / "w.csv").write_text(text)
        return {"risk": {"weights": str(folder / "w.csv")}}, table

    return change


def column_of(values):
    def change(folder, table):
        return {"risk": OWN}, table.set_column(5, "w_ward", [values])

    return change


WEIGHTS = {
    "too few rows": (weights_file("ward\n1\n2\n"), "different numbers of rows"),
    "columns of strangers": (weights_file("wards\n1\n"), "name of an attribute"),
    "a text": (weights_file("ward\n1\n1\nSECRET77\n1\n1\n"), "Row 3"),
    "a negative one": (weights_file("ward\n1\n1\n-1\n1\n1\n"), "record 3"),
    "a gap in a column": (column_of([1, 1, None, 1, 1]), "Record 3"),
    "a text in a column": (column_of(["1", "1", "1", "SECRET77", "1"]), "Record 4"),
    "a truth in a column": (column_of([True] * 5), "Record 1"),
    "a negative number in a column": (column_of([1.0, 1, 1, 1, -2]), "record 5"),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_are_none_are_refused_without_showing_them(case, tmp_path):
    change, words = WEIGHTS[case]
    section, table = change(tmp_path, patients(5))
    with pytest.raises(DataError, match=words) as refused:
        disclose(plan(**section), data=table)
    assert "SECRET77" not in str(refused.value)


def test_distinct_records_are_solved_once(monkeypatch):
    table = pa.concat_tables([patients(30)] * 4)
    disclosed = disclose(plan(risk=OWN), data=table)
    assert len(disclosed.owner.problems) <= 30
    shown = disclosed.to_arrow()
    assert shown.slice(0, 30).equals(shown.slice(90, 30))
    assert np.bincount(disclosed.owner.problems.kind).sum() == 120


def test_a_search_that_would_not_end_is_refused_before_a_record_is_read():
    wide = {f"a{i}": {"numeric": [0, 63]} for i in range(13)}
    asked = {"attributes": wide, "confirmed": True, "disclose": {"method": "aruba"}}
    with pytest.raises(SettingError, match="67,108,864 generalisations") as refused:
        disclose(asked, data="no-such-file.csv")
    assert "aggregate" in refused.value.do


def test_the_printed_moves_are_reached_from_the_plan():
    data = patients(60)
    usual = disclose(plan(risk=OWN), data=data)
    printed = disclose(plan(risk=OWN, moves="cube"), data=data)
    assert printed.to_pandas().equals(usual.to_pandas())
    departures = [each.what for each in printed.certificate.departures]
    assert not any("k² + k" in what for what in departures)
    more = printed.owner.found.n_visited.sum()
    assert more > usual.owner.found.n_visited.sum()
    with pytest.raises(PlanError, match="does not walk"):
        disclose(plan(method="btda", moves="cube"), data=data)
