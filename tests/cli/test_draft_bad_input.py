"""`hedgerow draft` ends with one message and code 2 on a damaged file or an impossible name."""

from __future__ import annotations

import gzip
import sys

import pyarrow as pa
import pytest

from hedgerow.cli.main import main
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.errors import DataError

SECRET = "SECRET77"
TABLE = b"age,job\n" + b"".join(
    b"%d,%s\n" % (i % 90, (b"shop", b"farm")[i % 2]) for i in range(3000)
)
OBJECTS = b'{"age": 17, "job": "SECRET77"}\n' * 3000
BASKETS = b"milk bread\nmilk\nbread milk SECRET77\n" * 900


def damaged(packed, place, length=12):
    return packed[:place] + b"\xff" * length + packed[place + length :]


def drafted(path, monkeypatch, capsys, *options):
    """Run the command; its exit code and its last words."""
    words = ["hedgerow", "draft", str(path), "-o", str(path.parent / "plan.yaml"), *options]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr().err


@pytest.mark.parametrize("kind", ["csv", "jsonl", "dat"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:14],
        lambda data: data[:2],
        lambda data: damaged(data, 20),
        lambda data: damaged(data, len(data) // 2),
        lambda data: damaged(data, len(data) - 8, 4),
        lambda data: data + SECRET.encode(),
        lambda data: b"\x1f\x8b" + SECRET.encode() * 50,
    ],
    ids=["half", "header", "magic", "first", "middle", "checksum", "tail", "garbage"],
)
def test_a_damaged_compressed_file_is_one_message(tmp_path, monkeypatch, capsys, kind, damage):
    content = {"csv": TABLE, "jsonl": OBJECTS, "dat": BASKETS}[kind]
    path = tmp_path / f"t.{kind}.gz"
    path.write_bytes(damage(gzip.compress(content, mtime=0)))
    code, said = drafted(path, monkeypatch, capsys)
    assert code == 2, said
    assert said.count("\n") == 2
    assert f"t.{kind}.gz" in said
    assert "truncated or damaged" in said
    assert SECRET not in said
    assert not (tmp_path / "plan.yaml").exists()


def test_a_damaged_zstandard_file_is_one_message(tmp_path, monkeypatch, capsys):
    path = tmp_path / "t.csv.zst"
    path.write_bytes(damaged(pa.compress(TABLE, "zstd", asbytes=True), 30))
    code, said = drafted(path, monkeypatch, capsys)
    assert (code, "truncated or damaged" in said) == (2, True), said


def test_a_labelled_file_that_lost_a_name_is_one_message(tmp_path, monkeypatch, capsys):
    pyreadstat = pytest.importorskip("pyreadstat", reason="the extra 'spss' is not installed")
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(pandas.DataFrame({"age": [1.0, 2.0], "job": ["a", "b"]}), str(path))
    content = path.read_bytes()
    assert content.count(b"AGE     ") == 1
    path.write_bytes(content.replace(b"AGE     ", b"\0" * 8))
    code, said = drafted(path, monkeypatch, capsys)
    assert code == 2, said
    assert "Column 1 has no name" in said


@pytest.mark.parametrize("name", ["x" * 1001, "x" * 1025, "é" * 5000, '"' * 520, "\\" * 900])
def test_a_name_that_is_too_long_for_a_plan_is_left_out(name):
    table = pa.table({name: ["a", "b"] * 50, "job": ["shop", "farm"] * 50})
    draft = draft_plan(table)
    assert list(draft.plan.attributes) == ["job"]
    assert any("left out" in note for note in draft.notes)
    with pytest.raises(DataError, match="No column has a name"):
        draft_plan(table.select([name]))


def test_a_long_name_that_a_plan_can_hold_is_kept():
    name = "x" * 990
    assert list(draft_plan(pa.table({name: ["a", "b"] * 50})).plan.attributes) == [name]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_whose_name_is_not_text_is_one_message(tmp_path, monkeypatch, capsys):
    path = tmp_path / b"caf\xe9.csv".decode("utf-8", "surrogateescape")
    path.write_bytes(TABLE)
    code, said = drafted(path, monkeypatch, capsys)
    assert code == 2, said
    assert "The name is not text" in said
