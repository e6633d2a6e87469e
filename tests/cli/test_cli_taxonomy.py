from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hedgerow.cli.taxonomy import app
from hedgerow.errors import InputError, TaxonomyError
from hedgerow.taxonomy import builders
from hedgerow.taxonomy.files import read_taxonomy
from hedgerow.taxonomy.tree import Taxonomy

JOBS = "office;Indoor;*\nshop;Indoor;*\nfarm;Outdoor;*\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "odd.csv").write_text("[bold]a[/bold];[red];*\n[/];[red];*\n")
    (tmp_path / "bad.csv").write_text("a;X;*\nb;;*\n")
    (tmp_path / "items.txt").write_text("x\ny\nz\n")
    return tmp_path


def run(*words: str) -> str:
    """What a command prints when all goes well."""
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_check_counts_leaves_nodes_and_levels(files):
    assert run("check", "jobs.csv", "odd.csv") == (
        "jobs.csv: leaves 3, nodes 6, height 2\nodd.csv: leaves 2, nodes 4, height 2\n"
    )
    assert run("check", "jobs.csv", "--quiet") == ""
    told = json.loads(run("check", "jobs.csv", "--json"))
    assert told == {
        "files": [{"file": "jobs.csv", "leaves": 3, "nodes": 6, "height": 2, "root": "*"}]
    }


def test_check_goes_on_after_a_bad_file_and_fails_at_the_end(files):
    result = CliRunner().invoke(app, ["check", "bad.csv", "jobs.csv", "none.csv"])
    assert isinstance(result.exception, TaxonomyError)
    assert result.exception.exit_code == 2
    assert "2 of 3 files are not usable" in str(result.exception)
    assert "bad.csv, line 2: Cell 2 is empty" in result.stdout
    assert "jobs.csv: leaves 3" in result.stdout
    assert "none.csv: The file cannot be read" in result.stdout


def test_check_of_one_bad_file_raises_its_error(files):
    result = CliRunner().invoke(app, ["check", "bad.csv"])
    assert isinstance(result.exception, TaxonomyError)
    assert result.exception.where == "bad.csv, line 2"


def test_check_answers_in_one_json_document_even_when_files_are_bad(files):
    result = CliRunner().invoke(app, ["check", "bad.csv", "jobs.csv", "--json"])
    assert result.exit_code == 2
    bad, good = json.loads(result.stdout)["files"]
    assert bad["error"]["where"] == "bad.csv, line 2"
    assert good["leaves"] == 3


def test_show_draws_the_tree(files):
    assert run("show", "jobs.csv") == (
        "*  (3)\n"
        "├── Indoor  (2)\n"
        "│   ├── office\n"
        "│   └── shop\n"
        "└── Outdoor  (1)\n"
        "    └── farm\n"
        "3 values, 6 nodes, height 2\n"
    )


def test_show_stops_at_a_depth_and_a_width(files):
    assert run("show", "jobs.csv", "--max-depth", "1", "--max-children", "1", "--quiet") == (
        "*  (3)\n├── Indoor  (2)\n└── ... 1 more\n"
    )


def test_show_prints_labels_as_they_are(files):
    drawn = run("show", "odd.csv")
    for label in ("[bold]a[/bold]", "[red]", "[/]"):
        assert label in drawn


def test_show_gives_ranges_in_json(files):
    told = json.loads(run("show", "jobs.csv", "--json", "--max-depth", "1"))
    assert told["tree"] == {
        "label": "*",
        "first": 0,
        "stop": 3,
        "children": [
            {"label": "Indoor", "first": 0, "stop": 2},
            {"label": "Outdoor", "first": 2, "stop": 3},
        ],
    }


@pytest.mark.parametrize(
    ("out", "options"),
    [
        ("out.yaml", []),
        ("out.json", []),
        ("out.csv", []),
        ("out.csv.gz", ["--format", "pairs"]),
        ("out.txt", ["--format", "yaml"]),
    ],
)
def test_convert_keeps_the_taxonomy(files, out, options):
    said = run("convert", "jobs.csv", out, *options)
    assert said == f"{out}: 3 values, 6 nodes, height 2\n"
    forced = {"format": "yaml"} if out == "out.txt" else {}
    assert read_taxonomy(files / out, **forced) == read_taxonomy(files / "jobs.csv")
    back = ["--input-format", "yaml"] if out == "out.txt" else []
    told = json.loads(run("convert", out, "back.csv", *back, "--json"))
    assert told == {"file": "back.csv", "leaves": 3, "nodes": 6, "height": 2, "root": "*"}
    assert (files / "back.csv").read_text() == JOBS


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("numeric --low 0 --high 19 --step 1 --width 5 --width 10",
         builders.numeric(low=0, high=19, step=1, widths=[5, 10])),
        ("numeric --low 0 --high 1 --step 0.1 --fan-out 3",
         builders.numeric(low=0, high=1, step="0.1", fan_out=3)),
        ("numeric --edge 0 --edge 18 --edge 65", builders.numeric_edges([0, 18, 65])),
        ("prefix 123 129 --mask #", builders.prefixes(["123", "129"], mask="#")),
        ("prefix --length 2", builders.prefixes(builders.prefix_codes(2))),
        ("dates --from 2020-01-01 --to 2020-04-01", builders.dates("2020-01-01", "2020-04-01")),
        ("dates --from 2020-01-01 --to 2020-04-01 --level month --level year",
         builders.dates("2020-01-01", "2020-04-01", levels=["month", "year"])),
        ("context-free --values items.txt --fan-out 2",
         builders.context_free(["x", "y", "z"], fan_out=2)),
        ("flat red green --root Any", Taxonomy.from_nested("Any", ["red", "green"])),
        ("flat --values items.txt", builders.flat(["x", "y", "z"])),
    ],
)  # fmt: skip
def test_build_writes_what_the_builders_give(files, words, expected):
    run("build", *words.split(), "-o", "built.yaml")
    assert read_taxonomy(files / "built.yaml") == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("build numeric --low 0", "The bounds are missing"),
        ("build numeric --edge 0 --edge 1 --low 0", "--edge and --low, --high and --width exclude"),
        ("build numeric --low 0 --high x", "high: 'x' is out of range"),
        ("build prefix 12 --length 2", "--length and values exclude each other"),
        ("build flat", "The values are missing"),
        ("build flat a --values items.txt", "--values and values exclude each other"),
        ("build flat --values none.txt", "none.txt: The file cannot be read"),
        ("build dates --from 2020-01-01 --to soon", "to: 'soon' is out of range"),
        ("build context-free a b --fan-out 1", "fan-out: 1 is out of range"),
    ],
)
def test_build_refuses_bad_settings_and_writes_nothing(files, words, message):
    result = CliRunner().invoke(app, [*words.split(), "-o", "built.csv"])
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert not (files / "built.csv").exists()


def test_formats_that_do_not_exist_are_refused(files):
    result = CliRunner().invoke(app, ["convert", "jobs.csv", "out.csv", "--format", "xml"])
    assert isinstance(result.exception, TaxonomyError)
    assert "arx, yaml, json, pairs" in str(result.exception)


@pytest.mark.parametrize(
    "command",
    ["check", "show", "convert", "build numeric", "build prefix", "build dates",
     "build context-free", "build flat"],
)  # fmt: skip
def test_every_command_helps_with_an_example(command):
    assert f"Example: hedgerow taxonomy {command}" in " ".join(
        run(*command.split(), "--help").split()
    )
