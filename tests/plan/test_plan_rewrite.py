"""Signatures and sources in the text of a plan: every other character stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import PlanError
from hedgerow.plan.parse import parse_text
from hedgerow.plan.rewrite import replace_file, rewritten

SIGNATURE: dict[str, Any] = {
    "by": "A. Officer",
    "on": "2026-11-18",
    "plan": "0" * 64,
    "signed": {
        "missing": "value",
        "attributes": {
            "age": {"numeric": [0, 99]},
            "öl: x": {"content": "sha256:0123456789abcdef"},
        },
        "publish": {"method": "hedge", "epsilon": 0.5},
    },
}
APPROVED = {"by": "B", "on": "2026-11-18", "plan": "0" * 64}

YAML = """\
# At the top: ä
data: t.csv   # the export
attributes:
  age: {numeric: [0, 99]}  # bounds
  job:  # a list
    # inside
    values: [a, b]
  ward: {values: [A, B], source: data}   # kept
confirmed: false  # until then
# The last remark
publish: {epsilon: 1}
"""
JSON = """\
{
  "attributes": {"age": {"numeric": [0, 9.50]}, "job": {"values": ["a"], "source": "data"}},
  "confirmed": false,
  "publish": {"epsilon": 0.10}
}
"""
TOML = """\
# At the top
confirmed = false  # until then
[attributes.age]  # years
numeric = [0, 99]
[attributes]
job = {values = ["a", "b"]}
ward = {values = ["A"], source = "data"}
[publish]
epsilon = 0.10
"""


def signed(text: str, kind: str, keys: Any = None, sources: Any = None) -> str:
    return rewritten(
        text,
        kind=kind,
        keys={"confirmed": SIGNATURE} if keys is None else keys,
        sources=sources or {},
        where="plan",
    )


def parsed(text: str, kind: str) -> Any:
    return parse_text(text, kind=kind, where="plan").data


def test_a_signature_goes_into_yaml_and_every_other_line_stays() -> None:
    after = signed(YAML, "YAML")
    assert [line for line in YAML.splitlines() if line not in after.splitlines()] == [
        "confirmed: false  # until then"
    ]
    assert "confirmed:  # until then\n  by: A. Officer\n" in after
    assert parsed(after, "YAML") == {**parsed(YAML, "YAML"), "confirmed": SIGNATURE}


def test_signing_again_changes_the_lines_of_the_signature_alone() -> None:
    once = signed(YAML, "YAML")
    twice = signed(once, "YAML", {"confirmed": {**SIGNATURE, "by": "C"}})
    assert twice == once.replace("by: A. Officer", "by: C")
    assert signed(twice, "YAML") == once


def test_a_signature_that_goes_leaves_no_trace() -> None:
    once = signed(YAML, "YAML", {"approved": APPROVED})
    assert once.startswith(YAML)
    assert signed(once, "YAML", {"approved": None}) == YAML
    assert signed(YAML, "YAML", {"approved": None}) == YAML


def test_sources_go_into_flow_and_block_columns_of_yaml() -> None:
    sources = {("attributes", name): f"code book: {name}" for name in ("age", "job", "ward")}
    after = signed(YAML, "YAML", {}, sources)
    assert 'age: {numeric: [0, 99], source: "code book: age"}  # bounds' in after
    assert 'ward: {values: [A, B], source: "code book: ward"}   # kept' in after
    assert "# inside" in after
    columns = parsed(after, "YAML")["attributes"]
    assert {name: each["source"] for name, each in columns.items()} == {
        name[-1]: said for name, said in sources.items()
    }


@pytest.mark.parametrize(("text", "kind"), [(JSON, "JSON"), (TOML, "TOML")])
def test_json_and_toml_are_signed_in_place(text: str, kind: str) -> None:
    sources = {("attributes", name): f'"{name}" p. 4' for name in parsed(text, kind)["attributes"]}
    keys = {"confirmed": SIGNATURE, "approved": APPROVED}
    after = parsed(signed(text, kind, keys, sources), kind)
    assert {name: each["source"] for name, each in after["attributes"].items()} == {
        path[-1]: said for path, said in sources.items()
    }
    assert after["confirmed"]["by"] == "A. Officer"
    assert list(after["confirmed"]["signed"]["attributes"]) == ["age", "öl: x"]
    again = signed(signed(text, kind, keys), kind, {"confirmed": APPROVED, "approved": None})
    assert parsed(again, kind)["confirmed"] == APPROVED
    assert "approved" not in parsed(again, kind)
    assert "0.10" in again


def test_the_ends_of_lines_stay_as_they_are() -> None:
    after = signed(YAML.replace("\n", "\r\n"), "YAML")
    assert "\n" not in after.replace("\r\n", "")
    assert signed(YAML, "YAML") == after.replace("\r\n", "\n")


def test_a_plan_on_one_line_is_signed() -> None:
    after = signed("{attributes: {age: {numeric: [0, 9]}}}", "YAML")
    assert parsed(after, "YAML")["confirmed"] == SIGNATURE


@pytest.mark.parametrize(
    "text", ["[confirmed]\nby = 'x'\non = 2026-11-18\n", "confirmed = [\n  1,\n]\n"]
)
def test_what_cannot_be_edited_is_refused_with_the_text_to_paste(text: str) -> None:
    with pytest.raises(PlanError, match=r"Nothing was changed[^$]*A\. Officer"):
        signed(text, "TOML")


names = st.text(
    st.characters(exclude_categories=("Cc", "Cn", "Cs", "Zl", "Zp")), min_size=1, max_size=40
)


@given(name=names, source=names, by=names, flow=st.booleans())
def test_any_name_is_written_and_read_back(name: str, source: str, by: str, flow: bool) -> None:
    key = json.dumps(name, ensure_ascii=False)
    text = (
        f"attributes:\n  {key}: {{values: [a]}}\n" if flow else f"{{attributes: {{{key}: {{}}}}}}"
    )
    keys = {"confirmed": {"by": by, "signed": {"attributes": {name: {"unit": source}}}}}
    sources = {("attributes", name): source}
    after = parsed(signed(text, "YAML", keys, sources), "YAML")
    assert after["confirmed"] == keys["confirmed"]
    assert after["attributes"][name]["source"] == source


def test_a_file_is_replaced_whole_and_keeps_its_rights(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("a: 1\n")
    file.chmod(0o640)
    replace_file(file, "a: ä\n")
    assert file.read_text(encoding="utf-8") == "a: ä\n"
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]
