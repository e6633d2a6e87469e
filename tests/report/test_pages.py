"""Every page, without a browser: its structure, its colours, and what it must never say.

`tests/report/test_pages_in_chromium.py` looks at the same pages with axe-core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

import hedgerow.report
from hedgerow.report.risk import ATTACKS_PAGE
from support.pages import N_WIDE, PAGES

TEMPLATES = Path(hedgerow.report.__file__).parent / "templates"
VOID = {"meta", "rect", "path", "br", "input", "line", "circle", "polyline", "use"}


class Outline(HTMLParser):
    """The tags of a page in order, each with what it stands in and the text below it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "title"} & set(self.open):
            self.texts.append(data)

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes, _ in self.found if tag in tags]


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Iterator[dict[str, Path]]:
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("pages")
    patch.setenv("HEDGEROW_LEDGER", str(folder / "ledger.sqlite"))
    yield {name: make(folder / name) for name, make in PAGES.items()}
    patch.undo()


@pytest.fixture(scope="module")
def outlines(pages) -> dict[str, Outline]:
    return {name: Outline(path.read_text(encoding="utf-8")) for name, path in pages.items()}


def test_headings_follow_one_another_and_nothing_is_left_open(outlines):
    for name, page in outlines.items():
        assert page.open == [], name
        levels = [int(tag[1]) for tag, _, _ in page.found if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1, name
        assert levels.count(1) == 1, name
        assert all(after <= before + 1 for before, after in pairwise(levels)), name


def test_every_drawing_has_words_and_every_header_cell_a_scope(outlines):
    for name, page in outlines.items():
        for tag, attributes, inside in page.found:
            if tag == "svg" and "svg" not in inside:
                hidden = attributes.get("aria-hidden") == "true"
                named = attributes.get("role") == "img" and attributes.get("aria-label")
                assert hidden or named or "figure" in inside, name
            if attributes.get("role") == "img":
                assert attributes.get("aria-label"), name
            if tag == "th":
                assert attributes.get("scope") in ("row", "col"), name
        for figure in page.all("figure"):
            assert figure.get("role") is None, name


def test_the_contents_lead_to_every_section_and_nowhere_else(outlines):
    for name, page in outlines.items():
        ids = [each["id"] for each in page.all("h2")]
        links = [each["href"] for each in page.all("a")]
        expected = [f"#{at}" for at in ids] if len(ids) >= 4 else []
        outside = [ATTACKS_PAGE] if name == "risk" else []
        assert links == expected + outside, name


def test_what_scrolls_can_be_reached_by_keys(outlines):
    n_scrolled = 0
    for name, page in outlines.items():
        for each in page.all("div"):
            if set((each.get("class") or "").split()) & {"wide", "scroll"}:
                n_scrolled += 1
                assert each.get("tabindex") == "0", name
                assert each.get("role") == "group", name
                assert each.get("aria-labelledby"), name
    assert n_scrolled > 40


def test_no_page_says_none_or_nan(outlines):
    for name, page in outlines.items():
        text = " ".join(page.texts)
        assert not re.search(r"\b(None|nan|NaN|undefined)\b|= (True|False)\b", text), name


def test_a_page_lists_the_files_that_are_there_and_no_others(pages):
    for name, path in pages.items():
        html = path.read_text(encoding="utf-8")
        listed = re.findall(r'<th scope="row"><code>([^<]+)</code></th>', html)
        for file in listed:
            assert (path.parent / file).exists(), f"{name}: {file}"
        if listed:
            there = {each.name for each in path.parent.iterdir()} - {"report.html", "owner"}
            assert set(listed) == there, name


def test_what_is_long_is_folded(outlines, pages):
    html = pages["hedge-wide"].read_text(encoding="utf-8")
    tree = html[html.index('id="tree"') :]
    assert tree.index("<details") < tree.index('class="cut grown"') < tree.index("</details>")
    assert "<details open" not in html
    page = outlines["hedge-wide"]
    assert len(page.all("details")) >= 6
    shown = [tag for tag, _, inside in page.found if "details" not in inside and tag == "tr"]
    assert len(shown) < N_WIDE


def test_wide_things_stay_inside_the_page():
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    for rule in (".wide { overflow-x: auto", ".scroll { overflow-x: auto", "max-width: 62rem"):
        assert rule in style
    assert "overflow-wrap: anywhere" in style


def test_numbers_of_a_row_never_run_together():
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    number = re.search(r"\.number \{([^}]*)\}", style)
    assert number is not None
    assert "padding-left: 0.9rem" in number[1]


def schemes() -> dict[str, dict[str, str]]:
    """The colours of a page in light, in dark and on paper."""
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    light, dark, paper = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    found = {}
    for name, block in (("light", light), ("dark", dark), ("paper", paper)):
        found[name] = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block))
    return found


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TEXTS = [
    ("ink", "page"),
    ("ink", "card"),
    ("soft", "page"),
    ("soft", "card"),
    ("soft", "tint"),
    ("accent", "card"),
    ("accent", "page"),
    ("accent", "tint"),
    ("card", "accent"),
    ("warn", "warn-tint"),
    ("fair", "card"),
]
"""Which text stands on which ground."""


@pytest.mark.parametrize("scheme", ["light", "dark", "paper"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_texts_stand_out_from_their_ground(scheme, text, ground):
    colours = schemes()[scheme]
    assert contrast(colours[text], colours[ground]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark", "paper"])
@pytest.mark.parametrize("part", ["c0", "c2", "c3", "c4", "c5"])
def test_parts_of_a_bar_stand_out_from_the_card(scheme, part):
    colours = schemes()[scheme]
    assert contrast(colours[part], colours["card"]) >= 3


def test_the_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
