"""The studio's frame: navigation, texts in one place, the glossary, what is vendored."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hedgerow.studio
from hedgerow.studio.pages import ORDER, PAGES
from hedgerow.studio.shared import glossary
from hedgerow.studio.terms import terms_in, with_terms
from hedgerow.studio.texts import texts
from tools.glossary import PLACE, glossary_text

HERE = Path(hedgerow.studio.__file__).parent
TEMPLATES = sorted((HERE / "templates").glob("*.j2"))


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_every_page_has_one_heading_and_knows_its_place(browser, page):
    text = browser.show(f"/{page}?plan=plan.yaml")
    assert len(re.findall(r"<h1\b", text)) == 1
    assert text.count('aria-current="page"') == 1
    assert '<html lang="en">' in text


def test_the_navigation_lists_the_pages_in_order(browser):
    shown = re.findall(r'<li><a href="/(\w+)', browser.show("/start"))
    assert shown == [name for name in ORDER if name in shown]
    assert set(shown) == {page.name for page in PAGES}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_words_are_in_the_texts_and_not_in_templates(path):
    text = path.read_text(encoding="utf-8")
    bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", text, flags=re.DOTALL)
    for attribute in ("aria-label", "title", "placeholder", "alt"):
        assert not re.search(rf'\b{attribute}="[^"{{]*[A-Za-z]', re.sub(r"\{\{.*?\}\}", "", text))
    assert not re.search(r"[A-Za-z]{2,}", re.sub(r"<[^>]*>", " ", bare)), path


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_what_the_content_policy_refuses(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son\w+=|hx-on|javascript:|<script>|https?://", text)


def test_the_glossary_of_the_studio_is_that_of_the_docs():
    assert PLACE.read_text(encoding="utf-8") == glossary_text(), "python tools/glossary.py"
    assert "epsilon" in glossary()


def test_every_term_in_a_template_is_in_the_glossary():
    for path in TEMPLATES:
        for word in re.findall(r'term\("([^"]+)"', path.read_text(encoding="utf-8")):
            assert word in glossary(), (path.name, word)


def test_every_term_in_a_text_is_in_the_glossary():
    listed = sorted((HERE / "texts").glob("*.toml"))
    words = [word for path in listed for word in terms_in(path.read_text(encoding="utf-8"))]
    assert len(set(words)) > 25
    assert set(words) <= set(glossary())


class Nested(HTMLParser):
    """Finds what can be pressed inside of something else that can be."""

    def __init__(self) -> None:
        super().__init__()
        self.around: list[str] = []
        self.wrong: list[str] = []
        self.terms = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "button" and {"a", "button", "label", "summary", "option"} & set(self.around):
            self.wrong.append(str(self.around[-3:]))
        self.wrong += [f"{tag} {name}" for name, value in attrs if "<button" in (value or "")]
        self.terms += ("class", "term") in attrs
        if tag in ("a", "button", "label", "summary", "option"):
            self.around.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.around:
            self.around.remove(tag)


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_every_page_explains_its_words_and_nests_no_button(browser, page):
    text = browser.show(f"/{page}?plan=plan.yaml")
    found = Nested()
    found.feed(text)
    assert not found.wrong
    assert found.terms or page == "release", "no word of the page has help"
    assert 'popovertarget="words"' in text
    assert 'hx-get="/help"' in text
    assert not re.search(r'="[^"]*<button', text)


def test_the_words_of_the_glossary_are_one_key_away(browser):
    text = html.unescape(browser.show("/help"))
    for word, meaning in glossary().items():
        assert word in text
        assert meaning in text


def test_what_is_put_into_a_text_with_terms_is_escaped_and_visible():
    made = with_terms("{who} has a [[cap|most]] <b>").format(who="<i>\u202e")
    assert "<i>" not in made
    assert "\u202e" not in made
    assert "&lt;b&gt;" in made
    assert 'hx-get="/help/cap"' in made


def test_help_shows_what_a_word_means(browser):
    assert glossary()["cap"] in browser.show("/help/cap")
    assert texts("common").help.unknown in browser.show("/help/%3Cscript%3E")
    assert "<script>" not in browser.show("/help/%3Cscript%3E")


def test_what_is_vendored_has_its_licence_and_pages_stay_small(browser):
    assert (HERE / "static" / "htmx.LICENSE.txt").is_file()
    loaded = ("htmx.min.js", "studio.js", "studio.css", "mark.svg")
    weight = sum((HERE / "static" / name).stat().st_size for name in loaded)
    for page in PAGES:
        text = browser.show(f"/{page.name}?plan=plan.yaml")
        assert len(text.encode()) + weight < 300_000, page.name


def test_an_address_that_leads_nowhere_says_so(browser):
    assert texts("common").missing.title in browser.show("/nowhere", status=404)
