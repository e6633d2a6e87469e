"""The documentation that comes with the package: complete, linked, and opened without a network."""

from __future__ import annotations

import json
import sys
import webbrowser

import pytest

import hedgerow
from hedgerow.cli.main import main
from hedgerow.errors import ReleaseError
from hedgerow.handbook.contents import read_contents
from hedgerow.handbook.render import body
from hedgerow.handbook.write import START, files, handbook, source_folder


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return handbook(tmp_path_factory.mktemp("handbook") / "pages")


def run(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["hedgerow", "docs", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, capsys.readouterr()


def test_every_page_is_on_one_list_and_has_a_title(root):
    contents = [page.name for page in read_contents(root, START).walk()]
    assert len(contents) == len(set(contents))
    written = {path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md")}
    assert set(contents) == written


def test_every_link_of_the_plain_pages_leads_somewhere_and_nothing_is_loaded_from_elsewhere(
    pages, root, monkeypatch
):
    monkeypatch.syspath_prepend(str(root / "tools"))
    from site_links import broken

    assert broken(pages) == []
    (pages / "docs" / "index.html").with_name("bad.html").write_text(
        '<a href="nowhere.html">x</a><img src="https://example.org/x.png">', encoding="utf-8"
    )
    found = broken(pages)
    (pages / "docs" / "bad.html").unlink()
    assert [line.split()[0] for line in found] == ["docs/bad.html", "docs/bad.html"]


def test_all_files_of_the_handbook_are_written(pages, root):
    assert source_folder() == root
    for path in files(root):
        name = path.relative_to(root)
        target = pages / (name.with_suffix(".html") if path.suffix == ".md" else name)
        assert target.is_file(), name


def test_a_page_has_anchors_and_what_is_wide_can_be_reached_by_keys():
    made = body(
        "# A `b`\n\n## A b\n\n[x](plan.md#covers)\n\n| a |\n|---|\n| 1 |\n\n```\nlong\n```\n"
    )
    assert '<h1 id="a-b">' in made
    assert '<h2 id="a-b-1">' in made
    assert 'href="plan.html#covers"' in made
    assert made.count('tabindex="0"') == 2


def test_docs_says_where_pages_are_and_makes_them_once(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, said = run(monkeypatch, capsys, "papers/diffgen", "--json")
    told = json.loads(said.out)
    assert code == 0
    assert told["page"].endswith("docs/papers/diffgen.html")
    assert told["folder"].startswith(str(tmp_path))
    code, said = run(monkeypatch, capsys, "--path")
    assert said.out.strip().endswith("docs/index.html")
    assert len(list((tmp_path / "hedgerow").iterdir())) == 1


@pytest.mark.parametrize("has_browser", [True, False])
def test_docs_opens_a_browser_and_prints_the_path_where_there_is_none(
    has_browser, monkeypatch, capsys, tmp_path
):
    asked = []

    def opened(address):
        asked.append(address)
        if not has_browser:
            raise webbrowser.Error("no browser")
        return True

    monkeypatch.setattr(webbrowser, "open", opened)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, said = run(monkeypatch, capsys, "tutorial")
    assert code == 0
    assert asked[0].startswith("file://")
    assert said.out.startswith("Opened ") == has_browser
    assert "docs/tutorial.html" in said.out


def test_docs_refuses_pages_that_are_not_there_and_folders_that_hold_something(
    monkeypatch, capsys, tmp_path
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for page in ("nowhere", "../../../etc/passwd"):
        code, said = run(monkeypatch, capsys, page, "--path")
        assert code == 2
        assert "tutorial" in said.err
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ReleaseError, match="not empty"):
        handbook(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ReleaseError, match="cannot be written"):
        handbook(tmp_path / "file" / "pages")


def test_the_page_of_the_library_has_every_public_name(root):
    page = (root / "website" / "api.md").read_text(encoding="utf-8")
    missing = [name for name in hedgerow.__all__ if f":: hedgerow.{name}" not in page]
    assert missing == ["__version__"]
