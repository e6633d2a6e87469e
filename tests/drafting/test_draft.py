"""Drafted plans: what is guessed, what is never written down, and that the result works."""

import csv
import gzip
import json
import random
import re
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.draft import draft_command
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.drafting.match import words_of
from hedgerow.drafting.ranges import outward
from hedgerow.drafting.text import quoted
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import DataError, PlanError, TaxonomyError, UnconfirmedPlanError
from hedgerow.model.reading import DEFAULT_MARKERS, MISSING_MARKERS
from hedgerow.plan.load import load_plan, plan_mapping, plan_of
from hedgerow.plan.parse import parse_text
from hedgerow.read.open import open_table

N = 400
DICE = random.Random(2026)
COLUMNS = {
    "person_id": [f"P{i:05d}" for i in range(N)],
    "age": [DICE.randint(18, 87) for _ in range(N)],
    "height": [round(DICE.uniform(1.5, 1.98), 2) for _ in range(N)],
    "zip": [f"0{DICE.randint(1, 4)}000" for _ in range(N)],
    "smoker": [DICE.choice(["no", "yes"]) for _ in range(N)],
    "city": [DICE.choice(["Ulm", "Bonn", "?"]) for _ in range(N - 3)] + ["Hamlet"] * 3,
    "country": ["DE"] * N,
    "note": [f"came back after {i % 150} days" for i in range(N)],
    "outcome": [DICE.choice(["ill", "well"]) for _ in range(N)],
    "arm": [DICE.choice(["A", "B"]) for _ in range(N)],
}


def write_csv(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "people.csv", COLUMNS)


def confirmed(text, base):
    """The plan a person gets who confirms the draft, loaded from a file."""
    file = base / "confirmed.yaml"
    file.write_text(text.replace("confirmed: false", "confirmed: true"), encoding="utf-8")
    return load_plan(file)


def encoded(plan):
    return encode_table(open_table(plan.resolve(plan.data)), schema_of(plan))


def test_columns_get_the_roles_that_a_person_would_give_them(table):
    attributes = draft_plan(table).plan.attributes
    roles = {name: plan.role for name, plan in attributes.items() if plan.role != "predictor"}
    assert roles == {
        "person_id": "identifier",
        "country": "drop",
        "note": "drop",
        "outcome": "class",
    }


def test_domains_are_rounded_and_typed(table):
    attributes = draft_plan(table).plan.attributes
    assert attributes["age"].numeric == (10, 90)
    assert attributes["age"].step == 1
    assert [float(bound) for bound in attributes["height"].numeric] == [1.5, 2.0]
    assert attributes["zip"].values == ("01000", "02000", "03000", "04000")
    assert attributes["smoker"].values == ("no", "yes")
    assert attributes["outcome"].values == ("ill", "well")


def test_a_value_of_few_records_is_never_written(table):
    drafted = draft_plan(table)
    assert "Hamlet" not in drafted.text
    assert drafted.plan.attributes["city"].values == ("Bonn", "Ulm")
    assert drafted.plan.attributes["city"].other == "other"


@pytest.mark.parametrize(("n", "is_listed"), [(19, False), (20, True)])
def test_a_value_is_listed_from_twenty_records_on(tmp_path, n, is_listed):
    values = ["rare"] * n + ["b", "c"] * 100
    drafted = draft_plan(write_csv(tmp_path / "t.csv", {"x": values, "z": values[::-1]}))
    assert ("rare" in drafted.text) is is_listed


def test_exact_extremes_are_not_written(tmp_path):
    numbers = [*range(1000, 2000), 123_457]
    drafted = draft_plan(write_csv(tmp_path / "t.csv", {"sum": numbers * 2}))
    assert "123457" not in drafted.text
    assert drafted.plan.attributes["sum"].numeric == (1000, 2000)  # two records are clamped


def test_everything_from_the_data_is_marked(table):
    text = draft_plan(table).text
    section = text.split("attributes:\n")[1].split("# The privacy unit")[0]
    lines = [line for line in section.splitlines() if re.match(r"  [^ #]", line)]
    assert len(lines) == len(COLUMNS)
    for line in lines:
        tag = re.search(r"  # (bounds|list|taxonomy|left out|public)(: .+)?$", line)
        assert tag
        assert (tag[1] == "public") is line.startswith("  smoker:")  # yes and no are known
    legend = text.split("attributes:\n")[0].split("\n\n")[-1]
    assert legend.startswith(
        "# from the data: in lines that end in '# bounds', '# list', '# taxonomy' or"
    )
    assert "replace by public knowledge" in legend
    for key in ("missing", "reading"):
        assert re.search(rf"# from the data: .+; replace by public knowledge\n{key}:", text)


def test_a_column_says_as_data_that_its_domain_came_from_the_data(table):
    columns = draft_plan(table).plan.attributes
    read = {name: each for name, each in columns.items() if each.is_read}
    assert {name for name, each in read.items() if each.source is None} == {"smoker"}
    assert {each.source for name, each in read.items() if name != "smoker"} == {"data"}
    assert all(each.source is None for name, each in columns.items() if name not in read)


def test_a_draft_is_signed_once_every_domain_from_the_data_has_a_source(table, tmp_path):
    mapping = plan_mapping(draft_plan(table, base=tmp_path).plan)
    for key in ("to-do", "person", "records-per-person", "one-record-per-person"):
        mapping.pop(key, None)
    mapping["protects"] = "records"
    with pytest.raises(UnconfirmedPlanError, match="taken from the data"):
        hedgerow.confirm(mapping, by="A")
    waiting = [name for name, each in mapping["attributes"].items() if "source" in each]
    signed = hedgerow.confirm(mapping, by="A", sources=dict.fromkeys(waiting, "code book"))
    assert not signed.confirmed.public
    assert {signed.attributes[name].source for name in waiting} == {"code book"}


def test_a_wide_table_has_few_marks(tmp_path):
    columns = {f"c{i}": [DICE.choice("abc") for _ in range(100)] for i in range(42)}
    assert draft_plan(write_csv(tmp_path / "t.csv", columns)).text.count("from the data") <= 8


def test_a_draft_is_not_confirmed_and_says_what_to_do_next(table):
    drafted = draft_plan(table)
    assert drafted.plan.confirmed is False
    head = drafted.text.split("\ndata:")[0]
    for words in ("What to do next", "confirmed: true", "publish' refuses", "hedgerow check"):
        assert words in head


def test_a_confirmed_draft_encodes_the_table_it_was_made_from(table, tmp_path):
    drafted = draft_plan(table, one_record_per_person=True, base=tmp_path)
    plan = confirmed(drafted.text, tmp_path)
    assert plan.confirmed
    assert plan.missing == "value"  # a third of the cities is missing
    assert len(encoded(plan)) == N


def test_the_class_can_be_named(table):
    assert draft_plan(table, class_name="arm").plan.class_name == "arm"
    plan = draft_plan(table, class_name="smoker").plan
    assert plan.class_name == "smoker"
    assert plan.attributes["outcome"].role == "predictor"


def test_the_last_column_of_few_values_is_the_class_if_no_name_says_more(tmp_path):
    columns = {"a": ["x", "y"] * 50, "b": ["u", "v"] * 50, "amount": range(100)}
    assert draft_plan(write_csv(tmp_path / "t.csv", columns)).plan.class_name == "b"


def test_a_table_without_a_class_still_gets_a_plan_that_loads(tmp_path):
    numbers = [i * 1.5 for i in range(100)]
    drafted = draft_plan(write_csv(tmp_path / "t.csv", {"a": numbers, "b": numbers}))
    assert drafted.plan.publish.method == "weave"
    assert drafted.plan.class_name is None
    assert "--class" in drafted.notes[0]
    with_class = draft_plan(tmp_path / "t.csv", method="diffgen")
    assert with_class.plan.publish is None
    assert "# publish: {method: diffgen" in with_class.text


def test_method_and_epsilon_are_taken_over(table):
    publish = draft_plan(table, epsilon="1/3").plan.publish
    assert (publish.method, str(publish.epsilon)) == ("weave", "1/3")
    with pytest.raises(PlanError, match=r"publish\.epsilon"):
        draft_plan(table, epsilon=0)
    with pytest.raises(PlanError, match=r"Did you mean 'diffgen'\?"):
        draft_plan(table, method="difgen")


@pytest.fixture
def taxonomies(tmp_path):
    folder = tmp_path / "taxonomies"
    folder.mkdir()
    for name, text in {
        "my_hierarchy_City.csv": "Ulm;South;*\nBonn;West;*\nHamlet;North;*\n",
        "yes-no.csv": "yes;*\nno;*\n",
        "zip.yaml": "any: {elsewhere: ['90000', '91000']}\n",
        "broken.csv": "a;b;*\na;c;*\n",
        "README.md": "not a taxonomy",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_taxonomies_are_chosen_by_name_and_by_the_values_they_list(table, taxonomies, tmp_path):
    drafted = draft_plan(table, taxonomies=taxonomies, one_record_per_person=True, base=tmp_path)
    attributes = drafted.plan.attributes
    assert attributes["city"].taxonomy == "taxonomies/my_hierarchy_City.csv"
    assert attributes["city"].other is None
    assert attributes["smoker"].taxonomy == "taxonomies/yes-no.csv"
    assert attributes["zip"].values  # the file of that name lists other values
    assert drafted.notes == ("broken.csv in the folder of taxonomies is not a taxonomy.",)
    assert len(encoded(confirmed(drafted.text, tmp_path))) == N


def test_a_taxonomy_that_lacks_rare_values_gets_an_other(table, tmp_path):
    (tmp_path / "taxonomies").mkdir()
    (tmp_path / "taxonomies" / "city.csv").write_text("Ulm;other;*\nBonn;other;*\n", "utf-8")
    drafted = draft_plan(
        table, taxonomies=tmp_path / "taxonomies", one_record_per_person=True, base=tmp_path
    )
    assert drafted.plan.attributes["city"].other == "other values"  # 'other' is a group there
    assert len(encoded(confirmed(drafted.text, tmp_path))) == N


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("marital-status", ("marital", "status")),
        ("marital_status", ("marital", "status")),
        ("MaritalStatus", ("marital", "status")),
        ("A1Cresult", ("a1", "cresult")),
        ("", ()),
    ],
)
def test_names_are_compared_by_their_words(name, words):
    assert words_of(name) == words


def test_identifiers_are_known_by_name_or_by_being_unique(tmp_path):
    columns = {
        "E-mail": ["x@y.z"] * 50 + ["u@v.w"] * 50,
        "Last Name": ["Smith", "Jones"] * 50,
        "patient_nbr": list(range(1000, 1050)) * 2,
        "token": [f"t{i}" for i in range(100)],
        "serial": list(range(100)),
        "reading": [i / 7 for i in range(100)],
        "type_id": [1, 2, 3, 4] * 25,
        "className": ["a", "b"] * 50,  # holds 'ssn'
    }
    attributes = draft_plan(write_csv(tmp_path / "t.csv", columns)).plan.attributes
    identifiers = [name for name, plan in attributes.items() if plan.role == "identifier"]
    assert identifiers == ["E-mail", "Last Name", "patient_nbr", "token", "serial"]
    assert attributes["reading"].numeric
    assert attributes["type_id"].values == ("1", "2", "3", "4")


def test_any_dataframe_and_parquet_can_be_drafted(tmp_path):
    days = pa.array([18_000 + i % 3 for i in range(100)], pa.int32()).cast(pa.date32())
    frame = pa.table(
        {
            "flag": pa.array([True, False, None, True] * 25),
            "amount": pa.array([None if i == 3 else i / 4 for i in range(100)]),
            "count": pa.array(range(100), pa.uint8()),
            "day": days,
            "nothing": pa.nulls(100),
            "list": [[i] for i in range(100)],
            "kind": pa.array(["a", "b"] * 50).dictionary_encode(),
        }
    )
    drafted = draft_plan(frame)
    attributes = drafted.plan.attributes
    assert attributes["flag"].values == ("false", "true")
    assert attributes["amount"].numeric == (0, 30)
    assert str(attributes["day"].date.from_) == "2019-01-01"
    assert [name for name, plan in attributes.items() if plan.role == "drop"] == ["nothing", "list"]
    assert drafted.plan.data is None
    pq.write_table(frame.drop_columns(["list"]), tmp_path / "t.parquet")
    from_file = draft_plan(tmp_path / "t.parquet", protects_records=True, base=tmp_path)
    assert from_file.plan.data == "t.parquet"
    assert len(encoded(confirmed(from_file.text, tmp_path))) == 100


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "empty"),
        ("a,b\n", "no records"),
    ],
)
def test_a_table_that_cannot_be_drafted_is_refused_without_a_value(tmp_path, content, word):
    file = tmp_path / "t.csv"
    file.write_text(content, "utf-8")
    with pytest.raises(DataError, match=word) as raised:
        draft_plan(file)
    assert "Private" not in str(raised.value)


def test_a_class_that_cannot_be_is_refused(table):
    with pytest.raises(DataError, match="no column 'outcom'"):
        draft_plan(table, class_name="outcom")
    with pytest.raises(DataError, match="'note' occurs in at least 20 records"):
        draft_plan(table, class_name="note")


def test_a_folder_of_taxonomies_must_exist(table, tmp_path):
    with pytest.raises(TaxonomyError, match="The folder does not exist"):
        draft_plan(table, taxonomies=tmp_path / "none")


def test_a_column_whose_name_no_plan_can_hold_is_left_out(tmp_path):
    columns = {"a\nb": ["x", "y"] * 50, "c": ["x", "y"] * 50, "d": range(100)}
    drafted = draft_plan(write_csv(tmp_path / "t.csv", columns))
    assert list(drafted.plan.attributes) == ["c", "d"]
    assert "1 more" in drafted.text


@given(text=st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1))
@settings(max_examples=100, deadline=None)
def test_quoted_texts_are_read_back_as_they_are(text):
    if text.isprintable():
        yaml = f"{quoted(text)}: {{{quoted(text)}: [{quoted(text)}]}}"
        assert parse_text(yaml, kind="YAML", where="test").data == {text: {text: [text]}}


@given(low=st.floats(-1e12, 1e12), size=st.floats(1e-6, 1e12))
@settings(max_examples=100, deadline=None)
def test_bounds_go_outwards_in_round_steps(low, size):
    high = low + size
    if high > low:
        below, above, unit = outward(low, high)
        assert below <= low < high <= above
        assert Fraction(low) - below < unit
        assert above - Fraction(high) < unit
        assert (below / unit).denominator == (above / unit).denominator == 1


app = typer.Typer()
app.command()(draft_command)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_writes_a_plan_and_says_what_to_do(table, tmp_path):
    plan = tmp_path / "plan.yaml"
    result = run(table, "-o", plan)
    assert result.exit_code == 0
    assert "hedgerow confirm" in result.stdout
    assert "6 predictors, class outcome" in result.stdout
    assert load_plan(plan).data == "people.csv"
    assert not list(tmp_path.glob("*.part"))


def test_the_command_answers_in_json(table, tmp_path):
    result = run(table, "-o", tmp_path / "plan.yaml", "--json", "--class", "arm")
    answer = json.loads(result.stdout)
    assert answer["roles"]["class"] == ["arm"]
    assert answer["confirmed"] is False


def test_the_command_keeps_an_existing_plan_unless_forced(table, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("mine", "utf-8")
    result = run(table, "-o", plan)
    assert isinstance(result.exception, PlanError)
    assert "--force" in str(result.exception)
    assert plan.read_text("utf-8") == "mine"
    assert run(table, "-o", plan, "--force", "--quiet").stdout == ""
    assert load_plan(plan).class_name == "outcome"


def test_the_command_can_write_to_stdout(table):
    result = run(table, "-o", "-", "--epsilon", "1/2")
    assert parse_text(result.stdout, kind="YAML", where="stdout").data["publish"]["epsilon"]


def test_the_command_refuses_what_it_cannot_write(table, tmp_path):
    assert "YAML" in str(run(table, "-o", tmp_path / "plan.toml").exception)
    missing = run(table, "-o", tmp_path / "none" / "plan.yaml")
    assert isinstance(missing.exception, PlanError)


def test_adult_is_drafted_with_its_taxonomies(shared_data, tmp_path):
    names = re.findall(
        r"^([a-z-]+): ", (shared_data / "adult" / "adult.names").read_text("utf-8"), re.MULTILINE
    )
    lines = gzip.decompress((shared_data / "adult" / "adult.data.gz").read_bytes()).decode("ascii")
    (tmp_path / "adult.csv").write_text(
        ",".join([*names, "income"]) + "\n" + lines.rstrip(), "ascii"
    )
    drafted = draft_plan(
        tmp_path / "adult.csv",
        taxonomies=shared_data / "hierarchies" / "adult-arx",
        one_record_per_person=True,
        base=tmp_path,
    )
    plan = drafted.plan
    with_taxonomy = {name for name, given in plan.attributes.items() if given.taxonomy}
    assert with_taxonomy >= {"workclass", "education", "marital-status", "native-country", "sex"}
    assert plan.class_name == "income"
    assert plan.missing == "drop"
    assert plan.attributes["hours-per-week"].numeric == (0, 100)
    assert plan.attributes["fnlwgt"].role == "drop"
    assert "survey weight" in drafted.text
    assert len(encoded(confirmed(drafted.text, tmp_path))) == 30_162


def test_diabetes_is_drafted(shared_data, tmp_path):
    file = shared_data / "diabetes-130" / "diabetic_data.csv.gz"
    drafted = draft_plan(file, person="patient_nbr", base=tmp_path)
    attributes = drafted.plan.attributes
    roles = {name: given.role for name, given in attributes.items()}
    assert [name for name, role in roles.items() if role == "identifier"] == [
        "encounter_id",
        "patient_nbr",
    ]
    assert {"examide", "citoglipton"} <= {name for name, role in roles.items() if role == "drop"}
    assert drafted.plan.class_name == "readmitted"
    assert attributes["readmitted"].values == ("<30", ">30", "NO")
    assert attributes["max_glu_serum"].values == (">200", ">300", "None", "Norm")
    assert attributes["admission_type_id"].values == ("1", "2", "3", "5", "6", "7", "8")
    assert attributes["time_in_hospital"].numeric == (0, 20)
    assert drafted.plan.missing == "value"
    assert "Unknown/Invalid" not in drafted.text  # three people have this gender
    assert len(encoded(confirmed(drafted.text, tmp_path))) == 101_766


@pytest.mark.parametrize(
    ("file", "epsilon", "section"),
    [
        ("people.csv", 1, {"dataset": "people", "cap": 1}),
        ("Visits 2026.csv", "1/3", {"dataset": "visits-2026", "cap": Fraction(1, 3)}),
        ("2026.csv", 2, {"dataset": "2026", "cap": 2}),
        ("\u6570\u636e.csv", 1, {"dataset": "my-people", "cap": 1}),
    ],
)
def test_a_draft_always_names_its_account(tmp_path, file, epsilon, section):
    path = write_csv(tmp_path / file, COLUMNS)
    plan = draft_plan(path, epsilon=epsilon, base=tmp_path).plan
    assert (plan.ledger.dataset, plan.ledger.cap) == (section["dataset"], section["cap"])


def test_a_draft_of_a_dataframe_names_an_account_too():
    assert draft_plan(pa.table(COLUMNS)).plan.ledger.dataset == "my-people"


@pytest.mark.parametrize(
    ("settings", "publish"),
    [
        ({}, "{method: weave, epsilon: 1}"),
        ({"purpose": "table"}, "{method: hedge, for: table, epsilon: 1}"),
        ({"purpose": "classification"}, "{method: weave, for: classification, epsilon: 1}"),
        (
            {"purpose": "classification", "epsilon": "1/100"},
            "{method: hedge, for: classification, epsilon: 0.01}",
        ),
        ({"purpose": "table", "method": "hedge"}, "{method: hedge, for: table, epsilon: 1}"),
    ],
)
def test_the_purpose_decides_on_the_default_method(tmp_path, settings, publish):
    rows = {"age": [20, 30, 40, 50] * 500, "sex": ["F", "M"] * 1000, "sick": ["no", "yes"] * 1000}
    data = write_csv(tmp_path / "t.csv", rows)
    drafted = draft_plan(data, class_name="sick", protects_records=True, **settings)
    assert f"\npublish: {publish}\n" in drafted.text
    comment = drafted.text.partition("\npublish:")[0].rpartition("\n\n")[2]
    assert ("is the default" in comment) is ("method" not in settings)


def test_a_purpose_that_the_method_does_not_have_is_refused(tmp_path):
    data = write_csv(tmp_path / "t.csv", {"age": [20, 30] * 500})
    with pytest.raises(PlanError, match=r"publish\.for"):
        draft_plan(data, method="weave", purpose="table")


def test_a_draft_writes_the_markers_of_missing_values_and_an_older_plan_keeps_its_two(table):
    assert draft_plan(table).plan.missing_values == MISSING_MARKERS
    assert plan_of({"attributes": {"job": {"values": ["shop"]}}}).missing_values == ("", "?")
    assert MISSING_MARKERS[: len(DEFAULT_MARKERS)] == DEFAULT_MARKERS == ("", "?")


def test_each_note_is_printed_as_one_sentence(tmp_path, capsys):
    rows = {"patient": [f"P{i % 300}" for i in range(1500)], "age": [20, 30, 40] * 500}
    data = write_csv(tmp_path / "t.csv", rows)
    draft_command(str(data), out=tmp_path / "plan.yaml")
    text = capsys.readouterr().out
    assert "Note: " in text
    assert ".." not in text
