"""Every fault of a file ends in one error that names file, line, label and what to do."""

# ruff: noqa: E501
from __future__ import annotations

import gzip
from typing import NamedTuple

import pytest

from hedgerow.errors import TaxonomyError
from hedgerow.taxonomy.files import read_taxonomy, write_taxonomy
from hedgerow.taxonomy.formats import text
from hedgerow.taxonomy.tree import Taxonomy


class Fault(NamedTuple):
    file: str
    content: str | bytes
    message: str
    line: int | None = None
    value: str | None = None


DEEP = 10_000
FAULTS = [
    # ARX CSV
    Fault("t.csv", "a;X;A;*\nb;Y;A;*\nc;X;B;*\n", "'X' has two parents, 'A' (line 1) and 'B' (line 3)", 3, "X"),
    Fault("t.csv", "a;X;*\nb;X;*\na;Y;*\n", "'a' has two parents, 'X' (line 1) and 'Y' (line 3)", 3, "a"),
    Fault("t.csv", "a;X;*\nb;X;*\n\na;X;*\n", "'a' is listed twice, on lines 1 and 4", 4, "a"),
    Fault("t.csv", "a;X;*\nX;*\n", "'X' is a value on line 2, and a group of other values elsewhere", 2, "X"),
    Fault("t.csv", "X;X;*\na;X;*\n", "'X' is a value on line 1, and a group of other values elsewhere", 1, "X"),
    Fault("t.csv", "a;X;*\nb;Y;X;Y;*\n", "The label 'Y' occurs twice on one path", 2, "Y"),
    Fault("t.csv", "a;*;X;*\nb;X;*\n", "The label '*' occurs twice on one path", 1, "*"),
    Fault("t.csv", "a;X;*\n;X;*\n", "Cell 1 is empty", 2, ""),
    Fault("t.csv", "a;X;*\nb; ;*\n", "Cell 2 is empty", 2, ""),
    Fault("t.csv", "a;X;*;\nb;X;*;\n", "Cell 4 is empty", 1, ""),
    Fault("t.csv", "a;X;*\nb\n", "'b' is alone", 2, "b"),
    Fault("t.csv", "a\nb\nc\n", "'a' is alone", 1, "a"),
    Fault("t.csv", "a;X;*\n*;*\n", "'*' is a value and the root", 2, "*"),
    Fault("t.csv", "a;X;*\nb;X;All\nc;*\n", "The row of 'b' ends in 'All', but line 1 ends in '*'", 2, "b"),
    Fault("t.csv", "value;level 1;level 2\na;X;*\n", "The row of 'a' ends in '*', but line 1 ends in 'level 2'", 2, "a"),
    Fault("t.csv", 'a;X;*\n"b;X;*\nc;X;*\n', "The line cannot be split into cells", 3),
    Fault("t.csv", 'a;X;*\n"b"c;X;*\n', "The line cannot be split into cells", 2),
    Fault("t.csv", 'a;X;*\n"b\nc";X;*\n', "holds a line break", 3, "b\nc"),
    Fault("t.csv", 'a;"X\tY";*\n', "holds a line break or a control character", 1, "X\tY"),
    Fault("t.csv", ";".join(str(n) for n in range(DEEP)), "more than 100 levels below the root", 1),
    Fault("t.csv", "a;" + "x" * 200_000 + ";*\n", "field larger than field limit", 1),
    # Child-parent pairs
    Fault("t.txt", "a,X\nb,Y\na,Y\n", "'a' has two parents, 'X' (line 1) and 'Y' (line 3)", 3, "a"),
    Fault("t.txt", "a,X\nb,Y\na,X\n", "The pair 'a', 'X' is listed twice", 3, "a"),
    Fault("t.txt", "a,X\nX,Y\nY,Z\nZ,X\n", "The parents form a circle: 'X' > 'Y' > 'Z' > 'X'", 4, "X"),
    Fault("t.txt", "a,X\nb,b\n", "The parents form a circle: 'b' > 'b'", 2, "b"),
    Fault("t.txt", "a,X\nb,\n", "Cell 2 is empty", 2, ""),
    Fault("t.txt", "a,X\n,Y\n", "Cell 1 is empty", 2, ""),
    Fault("t.txt", "a,X\nb,*\n", "Several labels have no parent ('X', '*', ...), and '*'", 2, "*"),
    Fault("t.txt", "".join(f"{n},{n + 1}\n" for n in range(DEEP)), "more than 100 levels below the root"),
    # Nested YAML
    Fault("t.yaml", "Any:\n  A: [a, b]\n  B: [c, a]\n", "The label 'a' occurs twice (line 2), so it has two parents", 3, "a"),
    Fault("t.yaml", "Any:\n  A: [a]\n  A: [b]\n", "The label 'A' occurs twice (line 2)", 3, "A"),
    Fault("t.yaml", "Any:\n  A:\n    B:\n      - A\n", "The label 'A' occurs twice on one path (line 2)", 4, "A"),
    Fault("t.yaml", "Any:\n  A: []\n", "The group 'A' has no value below it", 2, "A"),
    Fault("t.yaml", "Any:\n  A: {}\n  B: [c]\n", "The group 'A' has no value below it", 2, "A"),
    Fault("t.yaml", "Any:\n  A:\n  B: [c]\n", "Below 'A' is nothing", 2, "A"),
    Fault("t.yaml", "Any:\n  A: a\n", "Below 'A' is 'a', not a list", 2, "A"),
    Fault("t.yaml", "Any:\n  - [a, b]\n", "A list is directly in a list", 2),
    Fault("t.yaml", "Any:\n  ? [a, b]\n  : [c]\n", "A label is a mapping or a list", 2),
    Fault("t.yaml", "Any:\n  - a\n  - ''\n", "label '' is empty", 3, ""),
    Fault("t.yaml", "Any:\n  - a\n  - ' b'\n", "has blanks around it", 3, " b"),
    Fault("t.yaml", 'Any:\n  - a\n  - "b\\nc"\n', "holds a line break", 3, "b\nc"),
    Fault("t.yaml", "Any:\n  A: &x [a]\n  B: *x\n", "Anchors and aliases (& and *) are not allowed", 2),
    Fault("t.yaml", "Any:\n  A: [*x]\n", "Anchors and aliases", 2),
    Fault("t.yaml", "Any: [a]\n---\nAny: [b]\n", "A second document begins", 2),
    Fault("t.yaml", "Any: [a, b\n", "The file is not YAML", None),
    Fault("t.yaml", "Any: [a]\n\tB: [c]\n", "The file is not YAML", None),
    Fault("t.yaml", "just words\n", "There are no labels below a root", 1),
    Fault("t.yaml", "# nothing\n", "The taxonomy is empty"),
    Fault("t.yaml", "[]\n", "The taxonomy is empty"),
    Fault("t.yaml", "A: [a]\n'*': [b]\n", "'*' is taken, but several topmost labels", 2, "*"),
    Fault("t.yaml", "{a: " * DEEP + "x" + "}" * DEEP, ""),
    Fault("t.yaml", "[" * DEEP + "]" * DEEP, ""),
    # Nested JSON
    Fault("t.json", '{"Any": ["a",\n]}', "The file is not JSON", 2),
    Fault("t.json", '{"Any": {"A": ["a"], "A": ["b"]}}', "The label 'A' occurs twice", None, "A"),
    Fault("t.json", '{"Any": ["a", true]}', "label True is not text"),
    Fault("t.json", '{"Any": [null]}', "label None is not text"),
    Fault("t.json", '"Any"', "A nested taxonomy is a mapping of labels, or a list of values"),
    Fault("t.json", '{"Any": ["\\ud800"]}', "holds a line break or a control character"),
    Fault("t.json", '{"a":' * DEEP + "1" + "}" * DEEP, ""),
    # Any file
    Fault("t.csv", "", "The file is empty"),
    Fault("t.csv", "\ufeff\r\n \n", "The file is empty"),
    Fault("t.yaml", "", "The file is empty"),
    Fault("t.csv", '""\n', "The file holds no labels"),
    Fault("t.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "The file is binary"),
    Fault("t.csv", "a;*\nb;*\n".encode("utf-16"), "The file is UTF-16 text"),
    Fault("t.csv", "a;*\nb;*\n".encode("utf-16-le"), "The file is binary"),
    Fault("t.csv", "a;*\nœuvre;*\n".encode("cp1252"), "neither UTF-8 nor Latin-1", 2),
    Fault("t.csv", "a;*\nb\x07;*\n", "does not belong in a text file", 2),
    Fault("t.csv.gz", gzip.compress(b"a;*\nb;*\n", mtime=0)[:-6], "The gzip file is damaged"),
    Fault("t.csv.gz", b"\x1f\x8b" + b"not gzip at all", "The gzip file is damaged"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.file}:{fault.message[:40]}")
def test_a_fault_is_one_error_with_what_where_and_what_to_do(tmp_path, fault):
    path = tmp_path / fault.file
    content = fault.content
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TaxonomyError) as caught:
        read_taxonomy(path)
    error = caught.value
    assert fault.message in error.what
    assert error.where is not None
    assert error.where.startswith(str(path))
    assert error.do
    assert error.exit_code == 2
    if fault.line is not None:
        assert f"line {fault.line}" in error.where
    if fault.value is not None:
        assert error.value == fault.value


@pytest.mark.parametrize(
    ("content", "format_name", "message"),
    [
        ("a;X\nb;Y\n", "arx", "The row of 'b' ends in 'Y', but line 1 ends in 'X'"),
        ("a,X,*\nb,X,*\n", "pairs", "The row of 'a' has 3 cells"),
        ("a;X;*\n", "yaml", "There are no labels below a root"),
        ("a;X;*\n", "json", "The file is not JSON"),
    ],
)
def test_a_forced_format_is_not_second_guessed(tmp_path, content, format_name, message):
    path = tmp_path / "tree"
    path.write_text(content)
    with pytest.raises(TaxonomyError) as caught:
        read_taxonomy(path, format=format_name)
    assert message in caught.value.what


def test_files_that_cannot_be_opened_are_named(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path, tmp_path / "none" / "none.csv"):
        with pytest.raises(TaxonomyError, match="The file cannot be read") as caught:
            read_taxonomy(path)
        assert caught.value.where == str(path)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_files_above_the_size_limit_are_refused_before_they_are_parsed(tmp_path, monkeypatch, name):
    monkeypatch.setattr(text, "LARGEST_FILE", 1000)
    content = b"a;*\n" * 1000
    (tmp_path / name).write_bytes(
        gzip.compress(content, mtime=0) if name.endswith(".gz") else content
    )
    with pytest.raises(TaxonomyError, match="The file is larger than 1,000 bytes"):
        read_taxonomy(tmp_path / name)


def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(tmp_path):
    tree = Taxonomy.flat(["a"])
    with pytest.raises(TaxonomyError, match="The file cannot be written"):
        write_taxonomy(tree, tmp_path / "none" / "t.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TaxonomyError, match="The file cannot be written"):
        write_taxonomy(tree, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_long_label_is_cut_in_messages(tmp_path):
    (tmp_path / "t.csv").write_text(f"{'a' * 5000};*\n{'a' * 5000};*\n")
    with pytest.raises(TaxonomyError, match="is listed twice") as caught:
        read_taxonomy(tmp_path / "t.csv")
    assert len(caught.value.what) < 200
