"""The page on releases names every file and every field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hedgerow.model.certificate import certificate_schema
from hedgerow.release.recoding import Recoding


def named(root: Path) -> set[str]:
    page = (root / "docs" / "release.md").read_text(encoding="utf-8")
    return set(re.findall(r"`([^`\n]+)`", page))


def fields(schema: dict[str, Any]) -> set[str]:
    models = [schema, *schema["$defs"].values()]
    return {name for model in models for name in model.get("properties", {})}


def test_every_field_of_the_certificate_is_documented(root):
    found = fields(certificate_schema())
    assert {"epsilon-decimal", "within-95", "plan-sha256"} <= found
    assert found - named(root) == set()


@pytest.mark.parametrize("wanted", ["releases", "epsilonn"])
def test_a_field_that_does_not_exist_would_be_noticed(root, wanted):
    assert wanted not in named(root)


def test_every_file_of_a_release_is_documented(root, release, tmp_path):
    written = release.write(tmp_path / "release", records=True, parquet=True)
    assert set(written.files) - named(root) == set()


def test_the_recoding_on_the_page_can_be_read(root):
    page = (root / "docs" / "release.md").read_text(encoding="utf-8")
    example = re.search(r"```json\n(.*?)```", page, flags=re.DOTALL)
    assert example is not None
    assert Recoding.from_json(example[1]).labels == (["[17, 30)", "[30, 90]"],)
