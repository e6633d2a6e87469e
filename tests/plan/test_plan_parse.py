"""Plan files as text: syntax, encodings, and everything that is refused before checking."""

from decimal import Decimal

import pytest

from hedgerow.errors import PlanError
from hedgerow.plan.load import load_plan
from hedgerow.plan.parse import MAX_BYTES, parse_text, read_plan_text

HUGE = "9" * 5_000

BROKEN = {
    "yaml never closed": (".yaml", "data: [a\nb: 1\n", ["not valid YAML", "line 2"]),
    "yaml tab": (".yaml", "attributes:\n\tage: 1\n", ["not valid YAML", "line 2"]),
    "yaml NUL": (".yaml", "a: 1\nb: \0\n", ["not valid YAML", "line 2"]),
    "yaml key twice": (".yaml", "a: 1\nb: 2\na: 3\n", ["'a' occurs twice", "line 3"]),
    "yaml inner key twice": (".yaml", "x: {a: 1, a: 2}\n", ["'a' occurs twice", "line 1"]),
    "yaml anchor": (".yaml", "a: &x [1]\nb: 2\n", ["Anchors", "line 1", "Write the value out"]),
    "yaml alias": (".yaml", "b: *x\n", ["aliases", "line 1"]),
    "yaml bomb": (".yaml", "a: &a [x, x]\nb: &b [*a, *a]\n", ["Anchors"]),
    "yaml python object": (".yaml", "a: !!python/object:os.system x\n", ["Tags", "line 1"]),
    "yaml tag": (".yaml", "a: !!binary aGk=\n", ["Tags"]),
    "yaml two documents": (".yaml", "a: 1\n---\nb: 2\n", ["second document", "line 2"]),
    "yaml list as key": (".yaml", "? [a, b]\n: 1\n", ["single text", "line 1"]),
    "yaml too deep": (".yaml", "a: " + "[" * 5_000 + "]" * 5_000, ["64 levels"]),
    "toml key twice": (".toml", "a = 1\na = 2\n", ["not valid TOML", "line 2"]),
    "toml broken": (".toml", "a = [1\n", ["not valid TOML"]),
    "toml too deep": (".toml", "a = " + "[" * 5_000 + "]" * 5_000, ["levels"]),
    "toml long number": (".toml", f"a = {HUGE}", ["not valid TOML"]),
    "json key twice": (".json", '{"a": 1, "a": 2}', ["'a' occurs twice"]),
    "json broken": (".json", '{"a": 1,\n', ["not valid JSON", "line 2"]),
    "json too deep": (".json", "[" * 200_000 + "]" * 200_000, ["levels"]),
    "json long number": (".json", f'{{"a": {HUGE}}}', ["not valid JSON"]),
    "empty": (".yaml", "", ["is empty", "attributes"]),
    "blank": (".toml", " \n\n", ["is empty"]),
    "unknown suffix": (".txt", "a: 1", ["'.txt'", ".yaml, .yml, .toml, .json"]),
    "no suffix": ("", "a: 1", ["no suffix", ".yaml"]),
}


@pytest.mark.parametrize(("suffix", "text", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_with_one_message(tmp_path, suffix, text, words):
    file = tmp_path / f"plan{suffix}"
    file.write_bytes(text.encode())
    with pytest.raises(PlanError) as raised:
        load_plan(file)
    message = str(raised.value)
    for word in [*words, "plan" + suffix]:
        assert word in message
    assert len(message.splitlines()) == 2
    assert HUGE not in message


def test_a_missing_file_says_how_to_get_one(tmp_path):
    with pytest.raises(PlanError, match="The file does not exist") as raised:
        load_plan(tmp_path / "plan.yaml")
    assert "hedgerow draft" in str(raised.value)


def test_a_folder_is_no_plan(tmp_path):
    (tmp_path / "plan.yaml").mkdir()
    with pytest.raises(PlanError, match="directory"):
        load_plan(tmp_path / "plan.yaml")


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    file = tmp_path / "plan.yaml"
    file.write_bytes(b"data: a.csv\nquery: caf\xe9\n")
    with pytest.raises(PlanError, match=r"line 2: The text is not UTF-8"):
        load_plan(file)


def test_an_oversized_file_is_refused_unread(tmp_path):
    file = tmp_path / "plan.yaml"
    with file.open("wb") as out:
        out.truncate(100 * MAX_BYTES)
    with pytest.raises(PlanError, match="5,000,000 bytes"):
        load_plan(file)


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path):
    file = tmp_path / "plan.yml"
    file.write_bytes(b"\xef\xbb\xbfattributes:\r\n  age: {numeric: [0, 9]}\r\n")
    assert load_plan(file).predictors == ("age",)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("NO", "NO"),
        ("on", "on"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("tRUE", "tRUE"),
        ("null", None),
        ("~", None),
        ("", None),
        ("01234", "01234"),
        ("0", 0),
        ("-12", -12),
        ("-0", "-0"),
        ("1:30", "1:30"),
        ("2026-01-31", "2026-01-31"),
        ("1_000", "1_000"),
        ("0x1f", "0x1f"),
        ("0.10", Decimal("0.10")),
        ("1e-3", Decimal("0.001")),
        (".5", Decimal("0.5")),
        ("-2.", Decimal(-2)),
        (".nan", ".nan"),
        (".", "."),
        ("1/2", "1/2"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("<=50K", "<=50K"),
    ],
)
def test_yaml_scalars_mean_what_they_look_like(text, value):
    parsed = parse_text(f"key: {text}\n", kind="YAML", where="test").data["key"]
    assert parsed == value
    assert type(parsed) is type(value)


def test_yaml_keys_are_texts_as_written():
    parsed = parse_text("{no: 1, 007: 2, 1.50: 3, ~: 4}", kind="YAML", where="test").data
    assert list(parsed) == ["no", "007", "1.50", "~"]


def test_text_is_read_whole(tmp_path):
    file = tmp_path / "plan.yaml"
    file.write_text("data: Ünïcode.csv\n", "utf-8")
    assert read_plan_text(file) == "data: Ünïcode.csv\n"
