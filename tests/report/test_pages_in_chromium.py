"""Every page in Chromium: axe-core finds nothing, and nothing runs off the page or together."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.pages import write_pages

pytestmark = pytest.mark.audit


@pytest.fixture(scope="module")
def tool(root):
    sys.path.insert(0, str(root / "tools"))
    try:
        import pages
    finally:
        sys.path.pop(0)
    return pages


@pytest.fixture(scope="module")
def look(tool, root):
    """How to look at pages, or a skip that says what is not installed."""

    def looked(pages: dict[str, Path]):
        try:
            return tool.look(pages, scratch=root / ".pages")
        except tool.NotThereError as error:
            pytest.skip(str(error))

    return looked


def test_axe_core_finds_nothing_and_nothing_runs_together(tool, look, tmp_path):
    found = look(write_pages(tmp_path))
    views = {(view["page"], view["scheme"], view["width"]) for view in found}
    assert len(views) == len(found) == 4 * len({view["page"] for view in found})
    assert tool.complaints(found) == []


def test_a_bad_page_would_be_noticed(tool, look, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<!DOCTYPE html><html lang="en"><title>x</title><main><h1>x</h1>'
        '<p style="color:#aaa;width:3000px">pale</p><img src="none.png">'
        '<table><tr><td>1</td><td class="number" style="position:relative;left:-9px">2</td></tr>'
        "</table></main></html>",
        encoding="utf-8",
    )
    told = "\n".join(tool.complaints(look({"bad": bad})))
    for word in ("color-contrast", "image-alt", "runs off the page", "runs together"):
        assert word in told
