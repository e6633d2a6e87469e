"""What draft takes a column for: numbers, dates, codes, lists, or nothing that is released."""

from __future__ import annotations

import csv
import random
import re

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import PlanError
from hedgerow.model.reading import NumberMarks
from hedgerow.plan.load import load_plan
from hedgerow.plan.people import is_person_key
from hedgerow.read.open import open_table

N = 400
DICE = random.Random(13)
FILLER = {"kind": [DICE.choice("ab") for _ in range(N)]}


def written(folder, columns, *, delimiter=";"):
    path = folder / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        whole = {**columns, **FILLER}
        writer.writerow(whole)
        writer.writerows(zip(*whole.values(), strict=True))
    return path


def drafted(folder, **columns):
    return draft_plan(written(folder, columns), base=folder)


def encoded(draft, folder):
    plan = draft.plan
    return encode_table(open_table(folder / "t.csv", reading=plan.how_to_read()), schema_of(plan))


def numbers(low, high, decimals=0):
    return [f"{DICE.uniform(low, high):.{decimals}f}" for _ in range(N)]


def german(words):
    return [f"{float(word):,.2f}".translate(str.maketrans(",.", ".,")) for word in words]


def test_points_with_three_digits_are_thousands_beside_a_decimal_comma(tmp_path):
    whole = [f"{int(float(word)):,}".replace(",", ".") for word in numbers(1000, 9999)]
    draft = drafted(tmp_path, cost=german(numbers(1, 9999)), people=whole)
    reading = draft.plan.how_to_read()
    assert (reading.decimal, reading.thousands) == ("comma", "point")
    assert draft.plan.attributes["people"].numeric == (1000, 10_000)
    assert len(encoded(draft, tmp_path)) == N


def test_points_with_three_digits_alone_are_decimals(tmp_path):
    draft = drafted(tmp_path, ratio=numbers(1, 9, 3))
    assert draft.plan.attributes["ratio"].numeric == (1, 9)
    assert draft.plan.how_to_read().thousands == "none"


def test_a_column_that_differs_from_its_file_says_so(tmp_path):
    commas = {f"c{i}": [word.replace(".", ",") for word in numbers(0, 50, 2)] for i in range(3)}
    draft = drafted(tmp_path, **commas, device=numbers(0, 50, 2))
    assert draft.plan.attributes["device"].decimal == "point"
    assert draft.plan.how_to_read().marks_of("device") == NumberMarks()
    assert draft.plan.attributes["c0"].decimal is None
    assert len(encoded(draft, tmp_path)) == N


def test_words_and_far_numbers_among_numbers_are_missing(tmp_path):
    heights = numbers(150, 199)
    heights[:30], heights[30:60] = ["unbekannt"] * 30, ["999"] * 30
    given = drafted(tmp_path, height=heights).plan.attributes["height"]
    assert given.missing_values == ("unbekannt", "999")
    assert given.numeric == (150, 200)
    assert given.unreadable is None


def test_a_text_of_few_records_is_not_written_and_does_not_stop_a_release(tmp_path):
    weights = numbers(40, 120, 1)
    weights[7], weights[8] = "78 kilos", "see Hamlet"
    draft = drafted(tmp_path, weight=weights)
    given = draft.plan.attributes["weight"]
    assert given.numeric is not None
    assert given.unreadable == "missing"
    assert "Hamlet" not in draft.text
    assert "kilos" not in draft.text
    assert len(encoded(draft, tmp_path)) == N - 2


@pytest.mark.parametrize("tops", [[88] * 30, [99_999] * 10, [150] * 30])
def test_high_numbers_that_may_be_true_stay_numbers(tmp_path, tops):
    given = drafted(tmp_path, hours=[*numbers(0, 80)[: N - len(tops)], *tops])
    assert given.plan.attributes["hours"].missing_values is None


def test_codes_are_no_numbers(tmp_path):
    zips = [f"{DICE.randrange(100, 99_999):05d}" for _ in range(N)]
    given = drafted(
        tmp_path,
        plz=zips,
        status_code=[DICE.choice([10, 20, 30]) for _ in range(N)],
        answer=[DICE.choice([1, 2, 3, 8, 9]) for _ in range(N)],
        visits=[DICE.randrange(12) for _ in range(N)],
    ).plan.attributes
    assert given["plz"].taxonomy == {"prefix": {"length": 3}}
    assert given["plz"].letters == 3
    assert given["status_code"].values == ("10", "20", "30")
    assert given["answer"].values == ("1", "2", "3", "8", "9")
    assert given["visits"].numeric is not None


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (("nein", "ja"), "yes or no, spelt ja and nein"),
        (("N", "Y"), "yes or no, spelt Y and N"),
        (("0", "1"), "yes or no, spelt 1 and 0"),
        (("w", "m", "d"), "the sexes"),
        (("Mo", "So", "Fr"), "the days of the week"),
    ],
)
def test_lists_that_everybody_knows_take_nothing_from_the_data(tmp_path, values, what):
    draft = drafted(tmp_path, x=[DICE.choice(values) for _ in range(N)])
    line = next(line for line in draft.text.splitlines() if line.startswith("  x:"))
    assert f"# public: {what}" in line
    assert set(values) <= set(draft.plan.attributes["x"].values)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("row", list(range(1, N + 1)), "a row number"),
        ("final weight", [f"{DICE.gammavariate(4, 300):.2f}" for _ in range(N)], "a survey weight"),
        ("weight", [f"{DICE.gammavariate(9, 1 / 9):.4f}" for _ in range(N)], "a survey weight"),
        ("note", [f"came back after {i} days, felt well" for i in range(N)], "free text"),
        ("Fallnr", [f"F{i:06d}" for i in range(N)], "an identifier"),
        ("contact", [f"u{i % 300}@x.org" for i in range(N)], "an identifier, mail addresses"),
    ],
)
def test_what_is_no_attribute_is_left_out_with_a_word_why(tmp_path, name, values, why):
    draft = drafted(tmp_path, **{name: values})
    assert not draft.plan.attributes[name].is_read
    assert f"# left out: {why}" in draft.text


def test_a_body_weight_is_kept(tmp_path):
    given = drafted(tmp_path, weight=numbers(45, 120, 1)).plan.attributes
    assert given["weight"].numeric is not None


def dates(form, days):
    start = np.datetime64("2020-01-01")
    return [(start + day).astype(object).strftime(form) for day in days]


@pytest.mark.parametrize(
    ("form", "format_"),
    [("%d.%m.%Y", "dd.mm.yyyy"), ("%m/%d/%Y", "mm/dd/yyyy"), ("%Y-%m-%dT10:30:00", "iso")],
)
def test_dates_are_dates_in_their_format(tmp_path, form, format_):
    given = drafted(tmp_path, day=dates(form, DICE.choices(range(700), k=N))).plan.attributes["day"]
    assert given.date.format == format_
    assert (str(given.date.from_), str(given.date.to)) == ("2020-01-01", "2021-12-31")


def test_a_draft_asks_where_day_and_month_may_be_either(tmp_path):
    days = [DICE.randrange(12) + 31 * (DICE.randrange(2)) for _ in range(N)]
    draft = drafted(tmp_path, day=dates("%d/%m/%Y", days))
    asked = "'day': which comes first, day or month?"
    assert [question.startswith(asked) for question in draft.plan.to_do] == [False, True]
    file = tmp_path / "plan.yaml"
    text = draft.text.replace("# protects: records", "protects: records")
    file.write_text(text.replace("confirmed: false", "confirmed: true"))
    with pytest.raises(PlanError, match="a question is open"):
        load_plan(file)
    without = re.sub(r"to-do:\n(  .*\n)+", "", file.read_text())
    file.write_text(without)
    with pytest.raises(PlanError, match="The format of these dates is not answered yet"):
        load_plan(file)
    file.write_text(without.replace("format: ask", "format: dd/mm/yyyy"))
    assert load_plan(file).confirmed


def test_another_column_of_dates_settles_which_comes_first(tmp_path):
    days = [DICE.randrange(12) for _ in range(N)]
    sure = dates("%m/%d/%Y", DICE.choices(range(700), k=N))
    given = drafted(tmp_path, a=dates("%m/%d/%Y", days), b=sure).plan.attributes
    assert given["a"].date.format == "mm/dd/yyyy"


def test_an_age_takes_the_place_of_births(tmp_path):
    born = dates("%d.%m.%Y", [-DICE.randrange(30_000) for _ in range(N)])
    given = drafted(tmp_path, Geburtsdatum=born, day=dates("%d.%m.%Y", range(N))).plan.attributes
    assert given["Geburtsdatum"].role == "drop"
    assert given["age"].from_.column == "Geburtsdatum"
    assert str(given["age"].years_at) == "2022-01-01"


def test_a_file_without_names_is_drafted_by_number(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("39,Private,Male\n" + "39,Private,Male\n50,Self,Female\n" * 30, "utf-8")
    draft = draft_plan(path, base=tmp_path)
    assert list(draft.plan.attributes) == ["column-1", "column-2", "column-3"]
    assert draft.plan.how_to_read().header == ("column-1", "column-2", "column-3")
    assert any("first line" in note for note in draft.notes)


def test_a_header_of_years_is_a_header(tmp_path):
    rows = "\n".join(f"town{i % 9},{i % 40},{i % 30}" for i in range(200))
    (tmp_path / "t.csv").write_text(f"name,2019,2020\n{rows}\n")
    assert list(draft_plan(tmp_path / "t.csv").plan.attributes) == ["name", "2019", "2020"]


def test_a_letter_count_and_own_gaps_survive_a_release(tmp_path):
    plan = {
        "attributes": {
            "zip": {"values": ["01", "02"], "letters": 2, "missing-values": ["00000"]},
            "x": {"numeric": [0, 9], "unreadable": "missing"},
        },
        "missing": "value",
    }
    from hedgerow.plan.load import plan_of

    table = pa.table({"zip": ["01234", "02999", "00000"], "x": ["1", "two", "3"]})
    found = encode_table(open_table(table), schema_of(plan_of(plan)))
    assert found.codes[0].tolist() == [0, 1, 2]
    assert found.codes[1].tolist() == [2, 0, 4]


@pytest.mark.parametrize(
    ("method", "n_people", "bound", "counted"),
    [
        ("hedge", 450, 2, None),  # noise of two records is still small
        ("hedge", 300, 8, "people"),  # more of them cost nothing where people count
        ("privbayes", 300, 4, None),  # which does not count people
        ("diffgen", 300, 8, "people"),
    ],
)
def test_what_is_proposed_for_people_serves_them(tmp_path, method, n_people, bound, counted):
    rng = np.random.default_rng(4)
    table = {"patient_id": np.arange(900) % n_people, "age": rng.integers(20, 60, 900)}
    frame = pl.DataFrame({**table, "out": rng.choice(["home", "ward"], 900)})
    frame.write_csv(tmp_path / "visits.csv")
    plan = draft_plan(tmp_path / "visits.csv", method=method, class_name="out").plan
    assert (plan.person, plan.records_per_person) == (("patient_id",), bound)
    assert plan.count == counted
    assert plan.records == (300 if counted else 900)  # as many as are counted


@pytest.mark.parametrize("n_people", [300, 900])
def test_whose_records_they_are_is_said(tmp_path, n_people):
    rng = np.random.default_rng(4)
    who = np.arange(900) % n_people
    pl.DataFrame({"patient_id": who, "age": rng.integers(20, 60, 900)}).write_csv(
        tmp_path / "visits.csv"
    )
    drafted = draft_plan(tmp_path / "visits.csv")
    if n_people < 900:
        assert drafted.plan.person == ("patient_id",)
        assert drafted.plan.records_per_person == 8
        assert drafted.plan.count == "people"
        assert any("300 people" in note for note in drafted.notes)
        assert "300 people" not in drafted.text
    else:
        assert drafted.plan.privacy_unit is None
        assert "Hardly any value of 'patient_id' is in two records" in drafted.plan.to_do[0]


def test_numbers_of_patients_with_zeros_before_them_are_people_and_not_codes(tmp_path):
    rng = np.random.default_rng(6)
    frame = pl.DataFrame(
        {
            "N_PATIENT": [f"{who:05d}" for who in rng.integers(0, 300, 900)],
            "âge": rng.integers(20, 60, 900),
            "sortie": rng.choice(["domicile", "transfert"], 900),
            "remarque": rng.choice(["", "revu", "RAS"], 900),
        }
    )
    frame.write_csv(tmp_path / "sejours.csv")
    plan = draft_plan(tmp_path / "sejours.csv").plan
    assert plan.attributes["N_PATIENT"].role == "identifier"
    assert plan.person == ("N_PATIENT",)
    assert plan.class_name == "sortie"  # a third of the records lack a remark


@pytest.mark.parametrize("name", ["household_income", "customer_age", "family size", "user score"])
def test_what_is_said_of_people_is_no_key_of_theirs(name):
    assert not is_person_key(name)
