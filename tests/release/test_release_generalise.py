"""Other rows get the labels of a release, from the command line and from Python."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from hedgerow.cli.generalise import generalise_command as command
from hedgerow.cli.generalise import stem
from hedgerow.errors import DataError, HedgerowError, ReleaseError, SettingError
from hedgerow.release.generalise import check_output, generalise, write_rows
from hedgerow.release.release import Release, load_recoding

ROWS = "job,age,income\n@home,-7,>50K\noffice,63.5,<=50K\n"
EXPECTED = [
    {"age": "[-5, 0)", "job": "=Outdoor", "income": ">50K"},
    {"age": "[0, 90]", "job": "office", "income": "<=50K"},
]


@pytest.fixture
def folder(release: Release, tmp_path: Path) -> Path:
    """A release folder, apart from any plan."""
    release.write(tmp_path / "release")
    return tmp_path / "release"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two rows of a test set, the columns in another order."""
    path = tmp_path / "test.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def run(*arguments: object) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    if isinstance(result.exception, HedgerowError):
        raise result.exception
    return result.exit_code, result.stdout


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_rows_get_the_labels_of_the_release_in_their_order(folder, data):
    assert generalise(load_recoding(folder), data).to_pylist() == EXPECTED


def test_a_dataframe_will_do(folder):
    frame = pd.DataFrame({"age": [-7, 63], "job": ["@home", "office"], "income": [">50K", "<=50K"]})
    assert generalise(load_recoding(folder), frame).to_pylist() == EXPECTED


def test_rows_without_the_class_are_generalised_without_it(folder, tmp_path):
    data = tmp_path / "test.csv"
    data.write_text("age,job\n50,farm\n", encoding="utf-8")
    rows = generalise(load_recoding(folder), data).to_pylist()
    assert rows == [{"age": "[0, 90]", "job": "=Outdoor"}]


def test_rows_with_a_missing_value_are_left_out_as_the_release_did(folder, tmp_path):
    data = tmp_path / "test.csv"
    data.write_text("age,job\n?,farm\n50,\n50,farm\n", encoding="utf-8")
    assert generalise(load_recoding(folder), data).num_rows == 1


@pytest.mark.parametrize("text", ["age,job\n50,Secret-job\n", "age,shop\n50,farm\n"])
def test_unlisted_values_and_lost_columns_are_refused_without_showing_them(folder, tmp_path, text):
    data = tmp_path / "test.csv"
    data.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as refused:
        generalise(load_recoding(folder), data)
    assert "Secret-job" not in str(refused.value)


def test_the_command_writes_beside_where_it_runs(folder, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out = run(folder, data)
    assert code == 0
    assert "as confidential as the original table" in out
    rows = read(tmp_path / "test.generalised.csv")
    assert rows == [{**EXPECTED[0], "job": "'=Outdoor"}, EXPECTED[1]]


def test_the_command_writes_parquet_by_the_name_of_its_output(folder, data, tmp_path):
    code, out = run(folder, data, "-o", tmp_path / "rows.parquet", "--quiet")
    assert (code, out) == (0, "")
    assert pq.read_table(tmp_path / "rows.parquet").to_pylist() == EXPECTED


def test_the_command_answers_in_json(folder, data, tmp_path):
    _, out = run(folder, data, "-o", tmp_path / "rows.csv", "--json")
    assert json.loads(out) == {
        "file": str(tmp_path / "rows.csv"),
        "columns": ["age", "job", "income"],
        "private": False,
    }


def test_a_file_is_replaced_by_force_only(folder, data, tmp_path):
    output = tmp_path / "rows.csv"
    output.write_text("mine", encoding="utf-8")
    with pytest.raises(ReleaseError, match="The file exists"):
        run(folder, data, "-o", output)
    assert output.read_text(encoding="utf-8") == "mine"
    run(folder, data, "-o", output, "--force")
    assert len(read(output)) == 2


def test_refused_rows_leave_no_file(folder, tmp_path):
    data = tmp_path / "bad.csv"
    data.write_text("age,job\n50,nobody\n", encoding="utf-8")
    with pytest.raises(DataError):
        run(folder, data, "-o", tmp_path / "rows.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "release"]


def test_an_output_of_another_kind_is_refused(tmp_path):
    with pytest.raises(SettingError, match=r"\.csv or \.parquet"):
        check_output(tmp_path / "rows.xlsx")
    (tmp_path / "rows.csv").mkdir()
    with pytest.raises(ReleaseError, match="a folder"):
        check_output(tmp_path / "rows.csv", force=True)


def test_a_folder_that_is_not_there_is_one_message(folder, data, tmp_path):
    recoding = load_recoding(folder)
    rows = generalise(recoding, data)
    for name in ("rows.csv", "rows.parquet"):
        with pytest.raises(ReleaseError, match="cannot be written"):
            write_rows(rows, tmp_path / "nowhere" / name, schema=recoding.schema)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("test.csv", "test"), ("a/test.csv.gz", "test"), ("rows", "rows"), (".hidden.csv", "hidden")],
)
def test_the_default_name_comes_from_the_data(name, expected):
    assert stem(Path(name)) == expected
