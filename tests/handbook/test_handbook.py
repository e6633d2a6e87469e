"""The documentation in the package: complete, without broken links, opened without a network."""

from __future__ import annotations

import json
import sys
import webbrowser

import pytest

import hedgerow
from hedgerow.cli.main import main
from hedgerow.errors import ReleaseError
from hedgerow.handbook.render import body, read_contents
from hedgerow.handbook.write import START, files, handbook, source_folder


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return handbook(tmp_path_factory.mktemp("handbook") / "pages")


def run(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["hedgerow", "docs", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, capsys.readouterr()


def test_every_page_is_on_exactly_one_list(root):
    contents = [page.name for page in read_contents(root, START).walk()]
    assert len(contents) == len(set(contents))
    written = {path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md")}
    assert set(contents) == written


def test_no_link_of_the_pages_is_broken_and_no_other_host_is_contacted(pages, root, monkeypatch):
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


def test_a_page_has_anchors_and_wide_parts_are_reachable_by_keyboard():
    html = body(
        "# A `b`\n\n## A b\n\n[x](plan.md#covers)\n\n| a |\n|---|\n| 1 |\n\n```\nlong\n```\n"
    )
    assert '<h1 id="a-b">' in html
    assert '<h2 id="a-b-1">' in html
    assert 'href="plan.html#covers"' in html
    assert html.count('tabindex="0"') == 2


def test_docs_prints_the_path_of_a_page_and_writes_the_pages_once(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, said = run(monkeypatch, capsys, "papers/diffgen", "--json")
    answer = json.loads(said.out)
    assert code == 0
    assert answer["page"].endswith("docs/papers/diffgen.html")
    assert answer["folder"].startswith(str(tmp_path))
    code, said = run(monkeypatch, capsys, "--path")
    assert said.out.strip().endswith("docs/index.html")
    assert len(list((tmp_path / "hedgerow").iterdir())) == 1


@pytest.mark.parametrize("has_browser", [True, False])
def test_docs_opens_a_browser_or_prints_the_path_if_there_is_none(
    has_browser, monkeypatch, capsys, tmp_path
):
    addresses = []

    def opened(address):
        addresses.append(address)
        if not has_browser:
            raise webbrowser.Error("no browser")
        return True

    monkeypatch.setattr(webbrowser, "open", opened)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, said = run(monkeypatch, capsys, "tutorial")
    assert code == 0
    assert addresses[0].startswith("file://")
    assert said.out.startswith("Opened ") == has_browser
    assert "docs/tutorial.html" in said.out


def test_docs_refuses_missing_pages_and_folders_that_are_not_empty(monkeypatch, capsys, tmp_path):
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
