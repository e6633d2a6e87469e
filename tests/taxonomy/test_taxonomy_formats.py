from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings

from hedgerow.taxonomy.files import (
    FORMATS,
    _read_rows,
    _readers,
    _writers,
    read_taxonomy,
    write_taxonomy,
)
from hedgerow.taxonomy.formats.nested import nested_of
from hedgerow.taxonomy.tree import Taxonomy
from support.taxonomy_strategies import taxonomies

MARITAL = Taxonomy.from_nested(
    "*", ["Never-married", {"Married": ["civil", "church"]}, {"Alone": ["Widowed"]}]
)
ENDINGS = {"arx": ".csv", "yaml": ".yaml", "json": ".json", "pairs": ".txt"}


@pytest.fixture
def read(tmp_path):
    """Read bytes or text as if they were in a file of this name."""

    def read_content(content, name="tree.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_taxonomy(path, **options)

    return read_content


ARX = "Never-married;*\ncivil;Married;*\nchurch;Married;*\nWidowed;Alone;*\n"


@pytest.mark.parametrize(
    "content",
    [
        ARX,
        ARX.replace(";", ","),
        ARX.replace(";", "\t"),
        ARX.replace("\n", "\r\n"),
        ARX.strip(),
        "\n" + ARX.replace("\n", "\n\n"),
        ARX.replace(";", " ; "),
        ARX.replace("civil", '"civil"'),
        "\ufeff" + ARX,
        gzip.compress(ARX.encode(), mtime=0),
        ARX.replace("Never-married;*", "Never-married;Never-married;*"),
        ARX.replace("civil;Married;*", "civil;Married;Married;*;*"),
        # Lines in another order: groups come where their first value comes.
        "Never-married;*\ncivil;Married;*\nWidowed;Alone;*\nchurch;Married;*\n",
    ],
)
def test_arx_files_are_read_whatever_their_dress(read, content):
    assert read(content) == MARITAL


def test_latin_1_is_read_where_utf_8_is_not(read):
    assert read("Köln;Städte;*\nUlm;Städte;*\n".encode("latin-1")).labels[1:3] == ("Städte", "Köln")
    assert read("Köln;Städte;*\nUlm;Städte;*\n".encode()).labels[1:3] == ("Städte", "Köln")


def test_labels_may_hold_the_other_delimiter(read):
    ranges = read("1;1,2;*\n2;1,2;*\n3;3,4;*\n4;3,4;*\n")
    assert ranges.labels == ("*", "1,2", "1", "2", "3,4", "3", "4")
    quoted = read('"a,b",G,*\n"say ""x""",G,*\n')
    assert quoted.leaf_labels == ("a,b", 'say "x"')
    semicolons = read('"a;b",G,*\nc,G,*\n')
    assert semicolons.leaf_labels == ("a;b", "c")


PAIRS = "Never-married,*\nMarried,*\ncivil,Married\nchurch,Married\nAlone,*\nWidowed,Alone\n"


@pytest.mark.parametrize(
    "content",
    [
        PAIRS,
        # A group may come after its members.
        "Never-married,*\ncivil,Married\nchurch,Married\nWidowed,Alone\nMarried,*\nAlone,*\n",
        "Child,Parent\n" + PAIRS,
        PAIRS.replace(",", ";").replace("\n", "\r\n"),
        PAIRS.replace("Married,*\n", "Married,*\n\n", 1).strip(),
    ],
)
def test_pairs_are_told_from_arx_by_what_they_hold(read, content):
    pairs = read(content)
    assert pairs == MARITAL
    assert read(content, format="pairs") == pairs


def test_several_roots_are_put_under_one(read):
    forest = read("a,X\nb,X\nc,Y\nX,Top\n")
    assert forest == Taxonomy.from_nested("*", {"Y": ["c"], "Top": {"X": ["a", "b"]}})


def test_a_heading_is_a_pair_when_its_words_are_labels(read):
    assert read("child,parent\nb,parent\n").leaf_labels == ("child", "b")
    assert read("child,parent\na,child\nb,child\n").labels == ("parent", "child", "a", "b")
    assert read("child,parent\n").labels == ("parent", "child")


BLOCK_YAML = """# note
---
'*':
- Never-married
- Married:
  - civil
  - church
- Alone:
  - Widowed
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.yaml", "'*': [Never-married, {Married: [civil, church]}, {Alone: [Widowed]}]"),
        ("t.yml", "- Never-married\n- Married: [civil, church]\n  Alone: [Widowed]\n"),
        ("t.yml", BLOCK_YAML),
        (
            "t.json",
            '{"*": ["Never-married", {"Married": ["civil", "church"], "Alone": ["Widowed"]}]}',
        ),
        ("T.JSON", '["Never-married", {"Married": ["civil", "church"]}, {"Alone": ["Widowed"]}]'),
    ],
)
def test_nested_files_are_read(read, name, content):
    assert read(content, name) == MARITAL
    assert read(gzip.compress(content.encode(), mtime=0), name + ".gz") == MARITAL


def test_yaml_labels_stay_as_they_are_written(read):
    tree = read("Any: {007: [no, 1.0, 1e3, 2020-01-01], null: [~, 0x1F, 12:30, Ünï]}", "t.yaml")
    assert tree.leaf_labels == ("no", "1.0", "1e3", "2020-01-01", "~", "0x1F", "12:30", "Ünï")
    assert tree.labels[1] == "007"


def test_json_numbers_stay_as_they_are_written(read):
    assert read('{"Any": [1.50, 17, 1e3]}', "t.json").leaf_labels == ("1.50", "17", "1e3")


def test_the_format_can_be_forced(read):
    assert read(ARX, "tree.yaml", format="arx") == MARITAL
    assert read("Any: [a, b]", "tree.txt", format="yaml").leaf_labels == ("a", "b")


def test_arx_is_written_with_rows_of_one_length(tmp_path):
    write_taxonomy(MARITAL, tmp_path / "tree.csv")
    assert (tmp_path / "tree.csv").read_text() == (
        "Never-married;Never-married;*\ncivil;Married;*\nchurch;Married;*\nWidowed;Alone;*\n"
    )


def test_the_name_decides_how_a_taxonomy_is_written(tmp_path):
    for name in ("a.csv", "a.yaml", "a.json", "a.yml.gz", "a.txt.gz"):
        write_taxonomy(MARITAL, tmp_path / name)
        assert read_taxonomy(tmp_path / name) == MARITAL
    assert (tmp_path / "a.json").read_text().startswith('{\n  "*": [')
    assert gzip.decompress((tmp_path / "a.yml.gz").read_bytes()).startswith(b"'*':\n- Never-")
    write_taxonomy(MARITAL, tmp_path / "a.csv", "pairs")  # over the old one
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == "Never-married,*"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@settings(max_examples=100)
@given(tree=taxonomies())
def test_every_format_gives_back_the_taxonomy_it_was_given(tree):
    for name in FORMATS:
        text = _writers()[name](tree)
        assert _readers()[name](text, "tree") == tree, name


@settings(max_examples=100)
@given(tree=taxonomies())
def test_arx_and_pairs_are_recognised(tree):
    for name in ("arx", "pairs"):
        assert _read_rows(_writers()[name](tree), "tree") == tree, name


@settings(max_examples=30)
@given(tree=taxonomies())
def test_nested_structures_give_back_the_taxonomy(tree):
    ((root, children),) = nested_of(tree).items()
    assert Taxonomy.from_nested(root, children) == tree
