"""Every wrong input ends with one message, no raw value, nothing written, nothing spent."""

from __future__ import annotations

import gzip
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hedgerow.cli.main import main
from hedgerow.ledger.ledger import Ledger, ReleaseTerms

SECRET = "SECRET77"
"""A value that stands in the confidential data and must never be shown."""

PLAN = """\
data: data.csv
attributes:
  age: {numeric: [0, 99]}
  ward: {taxonomy: ward.csv}
  name: {role: identifier}
  sick: {role: class, values: ["no", "yes"]}
protects: records
confirmed: true
publish: {method: diffgen, epsilon: 1, h: 3}
ledger: {dataset: wards, cap: 2, file: ledger.sqlite}
"""
WARD = "A;surgery;*\nB;surgery;*\nC;other;*\n"
DATA = "age,ward,name,sick\n" + "34,A,Ada,no\n61,B,Bo,yes\n47,C,Cy,no\n" * 10

Change = Callable[[Path], None]


def plan(old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        assert old in PLAN
        (folder / "plan.yaml").write_text(PLAN.replace(old, new), encoding="utf-8")

    return change


def data(content: str | bytes, name: str = "data.csv") -> Change:
    def change(folder: Path) -> None:
        given = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(given)

    return change


def ward(content: str | bytes) -> Change:
    return data(content, "ward.csv")


def nothing(folder: Path) -> None:
    pass


def no_data(folder: Path) -> None:
    (folder / "data.csv").unlink()


def no_ward(folder: Path) -> None:
    (folder / "ward.csv").unlink()


def data_is_folder(folder: Path) -> None:
    (folder / "data.csv").unlink()
    (folder / "data.csv").mkdir()


def occupied(folder: Path) -> None:
    (folder / "release").mkdir()
    (folder / "release" / "thesis.txt").write_text("mine", encoding="utf-8")


def linked(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "release").symlink_to(folder / "elsewhere")


def out_is_file(folder: Path) -> None:
    (folder / "release").write_text("mine", encoding="utf-8")


def ledger_of_noise(folder: Path) -> None:
    (folder / "ledger.sqlite").write_bytes(b"not a ledger at all" * 10)


def other_database(folder: Path) -> None:
    with sqlite3.connect(folder / "ledger.sqlite") as connection:
        connection.execute("CREATE TABLE mine (x)")


def spent(folder: Path) -> None:
    Ledger(folder / "ledger.sqlite").book("wards", 2, cap=2, method="diffgen", plan_digest="0" * 64)


def other_cap(folder: Path) -> None:
    Ledger(folder / "ledger.sqlite").open_dataset("wards", 3)


ROWS = DATA.splitlines(keepends=True)


def covers(told: str) -> Change:
    return plan("confirmed: true", f"covers: {told}\nconfirmed: true")


def of_people(folder: Path) -> None:
    terms = ReleaseTerms(neighbours="person", people=True)
    Ledger(folder / "ledger.sqlite").book(
        "wards", 1, cap=2, method="diffgen", plan_digest="0" * 64, terms=terms
    )


OWN = "{method: diffgen, epsilon: 1, h: 3}"


def people(
    told: str, column: str = "name", bound: object = 2, *, publish: str | None = None
) -> Change:
    """A plan with a person, ``told`` in it, and perhaps another method."""
    lines = f"person: {column}\nrecords-per-person: {bound}\n{told}"
    given = PLAN.replace("protects: records\n", lines)
    return data(given.replace(OWN, publish or OWN), "plan.yaml")


def both(*changes: Change) -> Change:
    def change(folder: Path) -> None:
        for each in changes:
            each(folder)

    return change


CASES: dict[str, tuple[Change, list[str], int, str]] = {
    # --- people
    "a person column that is not there": (people("", "patient"), [], 2, "'patient'"),
    "a record of nobody": (
        both(people(""), data(DATA + "3,A,,no\n")),
        [],
        2,
        "Record 31 does not name its person",
    ),
    "a record of nobody, on disk": (
        both(people(""), data(DATA + "3,A,?,no\n")),
        ["--engine", "stream"],
        2,
        "Record 31 does not name its person",
    ),
    "a person as long as a letter": (
        both(people(""), data(DATA + f"3,A,{SECRET * 200},no\n")),
        [],
        2,
        "more than 1,024 bytes",
    ),
    "no record of a person": (
        people("", bound=0),
        [],
        2,
        "records-per-person: The number is not from 1",
    ),
    "less than no record of a person": (people("", bound=-1), [], 2, "is not from 1"),
    "half a record of a person": (people("", bound=1.5), [], 2, "not a whole number"),
    "a bound of yes": (people("", bound="true"), [], 2, "not a whole number"),
    "a bound without a person": (
        plan("protects: records", "records-per-person: 2"),
        [],
        2,
        "records-per-person: This setting needs 'person'",
    ),
    "a person without a bound": (
        plan("protects: records", "person: name"),
        [],
        2,
        "records-per-person: This setting is missing",
    ),
    "a person who is an attribute": (people("", "ward"), [], 2, "would be released"),
    "a person who is the class": (people("", "sick"), [], 2, "would be released"),
    "a person occurs twice": (people("", "[name, name]"), [], 2, "occurs twice"),
    "nobody at all": (people("", "[]"), [], 2, "person"),
    "a person, and one record each": (
        people("one-record-per-person: true\n"),
        [],
        2,
        "A person is named as well",
    ),
    "people joined in a table": (people("join: union\n"), [], 2, "join"),
    "people by what is scale-invariant": (
        people("count: people\n"),
        ["--score", "infogain"],
        2,
        "cannot count people here",
    ),
    "people counted as something else": (people("count: visits\n"), [], 2, "count"),
    "people counted with a bound to be chosen": (
        people("count: people\n", bound="auto"),
        [],
        2,
        "no bound to choose",
    ),
    "people by a method with a delta": (
        people("", publish="{method: truthful, epsilon: 1, delta: 1e-6}"),
        [],
        2,
        "does not protect people",
    ),
    "people by a method without a guarantee": (
        people("", publish="{method: mondrian, k: 2}"),
        [],
        2,
        "does not protect people",
    ),
    # --- parts of the table, and accounts of people
    "covers of an unknown column": (
        covers("{column: month, values: [2026-11]}"),
        [],
        2,
        "There is no attribute 'month'",
    ),
    "covers of an identifier": (covers("{column: name, values: [x]}"), [], 2, "no public domain"),
    "covers outside the domain": (
        covers("{column: ward, values: [Z]}"),
        [],
        2,
        "is not a value of",
    ),
    "covers of no value": (covers("{column: ward, values: []}"), [], 2, "list is empty"),
    "covers of a value twice": (covers("{column: ward, values: [A, A]}"), [], 2, "twice"),
    "covers without a column": (
        covers("{values: [A]}"),
        [],
        2,
        "covers.column: This setting is missing",
    ),
    "covers with another key": (covers("{column: ward, value: A}"), [], 2, "'values'"),
    "a column that covers nothing": (
        plan("taxonomy: ward.csv", "taxonomy: ward.csv, role: cover"),
        [],
        2,
        "values of this column that it covers",
    ),
    "people who are disjoint, and no people": (
        covers("{column: ward, values: [A], people-disjoint: {confirmed: true, why: w}}"),
        [],
        2,
        "protects records",
    ),
    "people who are disjoint, unconfirmed": (
        covers("{column: ward, values: [A], people-disjoint: {confirmed: false, why: w}}"),
        [],
        2,
        "Nobody has confirmed it",
    ),
    "people who are disjoint, without a reason": (
        covers("{column: ward, values: [A], people-disjoint: {confirmed: true}}"),
        [],
        2,
        "the reason, in public words",
    ),
    "an account of people for records": (
        plan("dataset: wards", "people: wards"),
        [],
        2,
        "several times larger per person",
    ),
    "an account of people and of a data set": (
        plan("dataset: wards", "dataset: wards, people: hospital"),
        [],
        2,
        "on one account",
    ),
    "an account of nobody": (
        plan("dataset: wards, ", ""),
        [],
        2,
        "ledger.dataset: This setting is missing",
    ),
    "an account of people that was agreed on": (
        of_people,
        [],
        2,
        "several times larger per person",
    ),
    # --- the table
    "no data file": (no_data, [], 2, "data.csv"),
    "a folder for data": (data_is_folder, [], 2, "data.csv"),
    "an empty file": (data(b""), [], 2, "data.csv"),
    "blank lines only": (data("\n\n\n"), [], 2, "data.csv"),
    "The file is binary": (data(bytes(range(256)) * 20), [], 2, "data.csv"),
    "a NUL byte": (data(DATA + f"3,A,{SECRET}\0,no\n"), [], 2, "data.csv"),
    "UTF-16": (data(DATA.encode("utf-16")), [], 2, "UTF-16"),
    "a ragged row": (data(DATA + f"3,{SECRET}\n"), [], 2, "line 32"),
    "a row too long": (data(DATA + f"3,A,x,no,{SECRET}\n"), [], 2, "line 32"),
    "an unclosed quote": (data(DATA + f'3,A,"{SECRET},no\n'), [], 2, "quote"),
    "duplicate columns": (data("age,age,ward,sick\n1,2,A,no\n"), [], 2, "same name"),
    "a missing column": (data("age,ward,name\n1,A,x\n"), [], 2, "sick"),
    "no header": (data("".join(ROWS[1:])), [], 2, "age"),
    "a value outside the taxonomy": (data(DATA + f"3,{SECRET},x,no\n"), [], 2, "ward"),
    "a class outside its values": (data(DATA + f"3,A,x,{SECRET}\n"), [], 2, "sick"),
    "a number that is none": (data(DATA + f"{SECRET},A,x,no\n"), [], 2, "age"),
    "a huge field": (data(DATA + f"3,{'x' * 3_000_000},x,no\n"), [], 2, "data.csv"),
    "ten thousand and one columns": (
        data(",".join(f"c{i}" for i in range(10_001)) + "\n"),
        [],
        2,
        "columns",
    ),
    "truncated gzip": (data(gzip.compress(DATA.encode() * 50, mtime=0)[:-20]), [], 2, "data.csv"),
    "a corrupt Parquet": (data(b"PAR1" + b"\0" * 50 + b"PAR1"), [], 2, "data.csv"),
    "an unknown scheme": (plan("data.csv", "ftp://host/data.csv"), [], 2, "data"),
    "a database without a query": (plan("data.csv", "sqlite:///x.db"), [], 2, "query"),
    "a query without a database": (
        plan("data: data.csv", "data: data.csv\nquery: SELECT 1"),
        [],
        2,
        "query",
    ),
    "another file that is not there": (nothing, ["--data", "nowhere.parquet"], 2, "nowhere"),
    # --- the plan
    "a NUL in the ledger's path": (plan("ledger.sqlite", '"ledger\\0"'), [], 2, "ledger.file"),
    "a NUL in the data's path": (plan("data: data.csv", 'data: "d\\0"'), [], 2, "holds a NUL"),
    "no plan": (lambda folder: (folder / "plan.yaml").unlink(), [], 2, "plan.yaml"),
    "an empty plan": (data(b"", "plan.yaml"), [], 2, "plan.yaml"),
    "a plan that is a list": (data("- a\n- b\n", "plan.yaml"), [], 2, "plan.yaml"),
    "a plan with a tab": (data("data:\tx\n\tattributes: {}\n", "plan.yaml"), [], 2, "line"),
    "a plan in Latin-1": (data("data: caf\xe9\n".encode("latin-1"), "plan.yaml"), [], 2, "UTF-8"),
    "a YAML bomb": (
        data("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "plan.yaml"),
        [],
        2,
        "plan.yaml",
    ),
    "a duplicate key": (
        plan("confirmed: true", "confirmed: true\nconfirmed: true"),
        [],
        2,
        "confirmed",
    ),
    "an unknown key": (plan("confirmed", "confirmd"), [], 2, "Did you mean 'confirmed'"),
    "an unknown setting": (plan("epsilon: 1", "epsilom: 1"), [], 2, "Did you mean 'epsilon'"),
    "an unknown role": (plan("identifier", "identifer"), [], 2, "identifier"),
    "an unknown method": (plan("diffgen", "difgen"), [], 2, "diffgen"),
    "an unknown score": (plan("h: 3", "h: 3, score: best"), [], 2, "gini, max, infogain"),
    "a negative h": (plan("h: 3", "h: -3"), [], 2, "publish.h"),
    "an h in words": (plan("h: 3", "h: three"), [], 2, "publish.h"),
    "bounds upside down": (plan("[0, 99]", "[99, 0]"), [], 2, "attributes.age"),
    "bounds of text": (plan("[0, 99]", "[low, high]"), [], 2, "attributes.age"),
    "a step of zero": (plan("numeric: [0, 99]", "numeric: [0, 99], step: 0"), [], 2, "step"),
    "a grid beyond memory": (
        plan("numeric: [0, 99]", "numeric: [0, 99], step: 1e-12"),
        [],
        2,
        "attributes.age",
    ),
    "no domain": (plan("age: {numeric: [0, 99]}", "age: {}"), [], 2, "attributes.age"),
    "two domains": (plan("numeric: [0, 99]", "numeric: [0, 99], values: [a]"), [], 2, "age"),
    "two classes": (
        plan("name: {role: identifier}", "name: {role: class, values: [x]}"),
        [],
        2,
        "class",
    ),
    "no class": (plan('  sick: {role: class, values: ["no", "yes"]}\n', ""), [], 2, "class"),
    "no publish section": (
        plan("publish: {method: diffgen, epsilon: 1, h: 3}\n", ""),
        [],
        2,
        "publish",
    ),
    "a contingency table beyond all bounds": (
        plan(
            "age: {numeric: [0, 99]}",
            "age: {numeric: [0, 9999999]}\n"
            + "".join(f"  n{i}: {{numeric: [0, 9999999]}}\n" for i in range(3)).rstrip(),
        ),
        ["--h", "all"],
        2,
        "too many to publish",
    ),
    # --- taxonomies
    "no taxonomy file": (no_ward, [], 2, "ward.csv"),
    "an empty taxonomy": (ward(""), [], 2, "ward.csv"),
    "a value with two parents": (ward("A;x;*\nA;y;*\n"), [], 2, "ward.csv"),
    "a taxonomy with a gap": (ward("A;;*\nB;surgery;*\n"), [], 2, "line 1"),
    "two roots": (ward("A;x;*\nB;y;+\n"), [], 2, "ward.csv"),
    "a label twice on one path": (ward("A;x;A;*\nB;x;A;*\n"), [], 2, "ward.csv"),
    "a taxonomy that is binary": (ward(bytes(range(256))), [], 2, "ward.csv"),
    # --- epsilon
    "epsilon 0": (nothing, ["--epsilon", "0"], 2, "epsilon"),
    "epsilon -1": (nothing, ["--epsilon=-1"], 2, "epsilon"),
    "epsilon nan": (nothing, ["--epsilon", "nan"], 2, "epsilon"),
    "epsilon inf": (nothing, ["--epsilon", "inf"], 2, "epsilon"),
    "epsilon 10^9": (nothing, ["--epsilon", "1000000000"], 2, "epsilon"),
    "epsilon 1/0": (nothing, ["--epsilon", "1/0"], 2, "epsilon"),
    "epsilon in words": (nothing, ["--epsilon", "one"], 2, "epsilon"),
    "epsilon 1e999999999": (nothing, ["--epsilon", "1e999999999"], 2, "epsilon"),
    "epsilon in the plan": (plan("epsilon: 1", "epsilon: 0"), [], 2, "publish.epsilon"),
    "a cap of zero": (plan("cap: 2", "cap: 0"), [], 2, "ledger.cap"),
    # --- refused for privacy
    "no privacy unit": (plan("protects: records\n", ""), [], 3, "does not state its privacy unit"),
    "no privacy unit, with a seed": (
        plan("protects: records\n", ""),
        ["--seed", "1"],
        3,
        "Add one of these to the plan",
    ),
    "a person, and each record": (people("protects: records\n"), [], 2, "Keep one of the two"),
    "not confirmed": (plan("confirmed: true", "confirmed: false"), [], 3, "confirmed"),
    "over the cap": (nothing, ["--epsilon", "5/2"], 3, "cap"),
    "spent already": (spent, [], 3, "cap"),
    # --- the command line and its surroundings
    "another cap": (other_cap, [], 2, "cap"),
    "a ledger of noise": (ledger_of_noise, [], 2, "ledger"),
    "another database for a ledger": (other_database, [], 2, "ledger"),
    "an unknown engine": (nothing, ["--engine", "steam"], 2, "engine"),
    "an unknown option": (nothing, ["--epsilom", "1"], 2, "epsilom"),
    "a seed below zero": (nothing, ["--seed=-1"], 2, "seed"),
    "an occupied folder": (occupied, [], 2, "release"),
    "an occupied folder, by force": (occupied, ["--force"], 2, "release"),
    "a linked folder": (linked, [], 2, "link"),
    "a file for a folder": (out_is_file, [], 2, "release"),
}


def files_below(folder: Path) -> dict[str, bytes]:
    ours = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in ours
        if not path.name.startswith("ledger.sqlite")
    }


def spent_below(folder: Path) -> list[str]:
    try:
        accounts = Ledger(folder / "ledger.sqlite", create=False).accounts()
    except Exception:
        return []
    return [str(account.spent) for account in accounts]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "plan.yaml").write_text(PLAN, encoding="utf-8")
    (place / "ward.csv").write_text(WARD, encoding="utf-8")
    (place / "data.csv").write_text(DATA, encoding="utf-8")
    return place


def run(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["hedgerow", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    return end.value.code or 0, said.out, said.err


def test_the_untouched_case_works(folder, monkeypatch, capsys):
    code, _, err = run(["publish", "plan.yaml", "-q"], monkeypatch, capsys)
    assert code == 0
    assert err.startswith("note: The plan does not say about how many records")
    assert err.count("\n") == 1
    assert (folder / "release" / "certificate.json").is_file()
    assert spent_below(folder) == ["1"]


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_input_ends_with_one_message_and_nothing_else(case, folder, monkeypatch, capsys):
    change, options, expected, named = CASES[case]
    change(folder)
    before, spent_before = files_below(folder), spent_below(folder)
    code, out, err = run(["publish", "plan.yaml", *options], monkeypatch, capsys)
    assert code == expected, err
    assert named in err
    assert out == ""
    assert "Traceback" not in err
    assert SECRET not in err
    assert err.count("rror: ") == 1 or err.startswith("Usage")
    assert files_below(folder) == before
    assert spent_below(folder) in (spent_before, [*spent_before, "0"])


def test_there_are_at_least_sixty_cases():
    assert len(CASES) >= 60


def test_errors_can_be_had_as_json(folder, monkeypatch, capsys):
    (folder / "data.csv").unlink()
    code, out, err = run(["publish", "plan.yaml", "--json"], monkeypatch, capsys)
    assert code == 2
    assert err == ""
    assert '"exit-code": 2' in out


def test_an_unexpected_error_shows_no_traceback(folder, monkeypatch, capsys):
    def fail(*_args, **_settings):
        raise ValueError(SECRET)

    monkeypatch.setattr("hedgerow.pipeline.publish.publish", fail)
    code, _, err = run(["publish", "plan.yaml"], monkeypatch, capsys)
    assert code == 70
    assert SECRET not in err
    assert "Traceback" not in err
