"""A plan that calls another file a taxonomy: what it holds is not quoted."""

from __future__ import annotations

import traceback

import pytest

from hedgerow.encode.schema import schema_of
from hedgerow.encode.universe import universe_of
from hedgerow.errors import TaxonomyError
from hedgerow.plan.load import plan_of
from hedgerow.taxonomy.files import read_taxonomy

SECRET = "SECRET"
ROWS = [f"{SECRET}{i},{SECRET}-town{i % 3},{i}" for i in range(9)]
FILES = {
    "a table": "name,town,n\n" + "\n".join(ROWS),
    "semicolons": "\n".join(row.replace(",", ";") for row in ROWS),
    "lines": "\n".join(f"{SECRET}:x:0:{SECRET}" for _ in range(5)),
    "one column": f"{SECRET}1\n{SECRET}2\n{SECRET}1\n",
    "two parents": f"{SECRET};a;*\n{SECRET};b;*\n",
    "two roots": f"{SECRET}1;a;*\n{SECRET}2;b;{SECRET}\n",
    "a circle": f"{SECRET}1,{SECRET}2\n{SECRET}2,{SECRET}1\n",
    "an empty cell": f"{SECRET};;*\n",
    "a quote": f'"{SECRET};a;*\nb;"a" c;*\n',
}


def raised(plan: dict[str, object], folder, build) -> TaxonomyError:
    with pytest.raises(TaxonomyError) as caught:
        build(plan_of(plan, base=folder))
    return caught.value


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
@pytest.mark.parametrize("name", ["t.csv", "t.yaml", "t.json"])
@pytest.mark.parametrize("as_file", [False, True])
def test_a_file_that_is_no_taxonomy_is_named_and_not_quoted(tmp_path, content, name, as_file):
    (tmp_path / name).write_text(content)
    spec: object = {"file": {"path": name}} if as_file else name
    error = raised({"attributes": {"a": {"taxonomy": spec}}}, tmp_path, schema_of)
    told = "".join(traceback.format_exception(error))
    assert SECRET not in told
    assert name in str(error)
    assert error.do


def test_nested_files_are_not_quoted_either(tmp_path):
    (tmp_path / "t.json").write_text('{"SECRET": {"SECRET": ["a"], "b": "SECRET"}}')
    (tmp_path / "t.yaml").write_text("SECRET:\n  SECRET: SECRET\n")
    for name in ("t.json", "t.yaml"):
        error = raised({"attributes": {"a": {"taxonomy": name}}}, tmp_path, schema_of)
        assert SECRET not in str(error)
        with pytest.raises(TaxonomyError, match=SECRET):  # named by hand, it is shown
            read_taxonomy(tmp_path / name)


@pytest.mark.parametrize("keyword", ["flat", "prefix", "context-free"])
def test_files_of_values_are_not_quoted(tmp_path, keyword):
    (tmp_path / "values.txt").write_text("SECRET*\nSECRET*\n")
    key = "items" if keyword == "context-free" else "values"
    spec = {keyword: {key: "values.txt", **({"fan-out": 2} if key == "items" else {})}}
    error = raised({"attributes": {"a": {"taxonomy": spec}}}, tmp_path, schema_of)
    assert SECRET not in str(error)


def test_a_universe_in_a_file_is_not_quoted(tmp_path):
    (tmp_path / "items.txt").write_text("SECRET\nSECRET\n")
    (tmp_path / "other.csv").write_text("a;*\nb;*\n")
    plans = [
        {"items": {"universe": "items.txt"}},
        {"items": {"universe": "items.txt", "taxonomy": "other.csv"}},
        {"items": {"universe": "items.txt", "taxonomy": {"Any": ["a", "b"]}}},
    ]
    for plan in plans:
        assert SECRET not in str(raised(plan, tmp_path, universe_of))


def test_a_tree_written_in_the_plan_is_quoted(tmp_path):
    plan = {"attributes": {"a": {"taxonomy": {"Any": {"x": ["p"], "y": ["p"]}}}}}
    assert "'p'" in str(raised(plan, tmp_path, schema_of))
