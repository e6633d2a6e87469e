"""The report stands alone, hides nothing and shows nothing that is not published."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest

from hedgerow.model import certificate as parts
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.schema import Attribute, Schema
from hedgerow.release.release import Release
from hedgerow.taxonomy.domain import CategoricalDomain
from hedgerow.taxonomy.tree import Taxonomy

VOID = {"meta", "rect", "path", "br", "input"}


class Page(HTMLParser):
    """A page taken apart: its tags in order, its text, and whether it is well formed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words).replace("\xa0", " "))


def test_the_page_says_the_promise_the_error_and_the_shares_in_plain_words(release):
    page = Page(release.report())
    assert "at most 2.72 times , and at least 0.36 times, as likely" in page.text
    assert "The noise on a count is within ± 6 in 95 of 100 cases." in page.text
    assert "counts were reduced by 0.2" in page.text
    assert "specialisation 2 1/4 1/2" in page.text
    assert "What you may and may not conclude" in page.text
    assert "10 % 3.9 % 24 %" in page.text  # odds 1/9 times and over e, rounded outward
    assert "Not differentially private" not in page.text


def test_the_page_needs_nothing_from_elsewhere(release):
    html = release.report()
    assert not re.search(r"https?:|//[a-z]|url\(|@import", html)
    page = Page(html)
    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(tag for tag, _ in page.tags)
    for _, attributes in page.tags:
        assert {"src", "onclick", "onload"}.isdisjoint(attributes)
        assert attributes.get("href", "#").startswith("#")
    policy = [each for tag, each in page.tags if tag == "meta" and "http-equiv" in each]
    assert policy[0]["content"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_labels_and_names_are_text_whatever_they_hold(release):
    html = release.report()
    assert "<script" not in html
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;" in html
    assert "people &amp; &lt;jobs&gt;" in html
    assert "<b>grids</b>" not in html


def test_the_page_can_be_read_aloud_and_found_one_s_way_in(release):
    page = Page(release.report())
    assert ("html", {"lang": "en"}) in page.tags
    assert sum(tag == "h1" for tag, _ in page.tags) == 1
    ids = [each["id"] for _, each in page.tags if "id" in each]
    assert len(ids) == len(set(ids))
    named = {each["aria-labelledby"] for _, each in page.tags if "aria-labelledby" in each}
    assert sorted(named) == sorted(ids)
    assert [each["href"] for tag, each in page.tags if tag == "a"] == [f"#{at}" for at in ids]
    pictures = [each for _, each in page.tags if each.get("role") == "img"]
    assert len(pictures) == 3  # the scale, the budget and the band
    assert all(each["aria-label"] for each in pictures)


def test_a_reproducible_release_is_stamped(release, make_certificate):
    page = Page(replace(release, certificate=make_certificate(reproducible=True)).report())
    alerts = [each for _, each in page.tags if each.get("role") == "alert"]
    assert len(alerts) == 1
    assert "reproducible, not private" in page.text
    assert "privacy budget, not guaranteed" in page.text
    assert "strong protection" not in page.text


def test_a_method_without_a_guarantee_says_so_and_shows_no_epsilon(release, make_certificate):
    none = parts.Guarantee.none("Single records are disclosed.")
    bare = make_certificate(guarantee=none, counts=None, ledger=None, plan_sha256=None)
    page = Page(replace(release, certificate=bare).report())
    assert "Not differentially private" in page.text
    assert "Single records are disclosed." in page.text
    assert "times as likely" not in page.text
    assert "noise of one count" not in page.text


@pytest.mark.parametrize(
    ("epsilon", "strength", "weak"),
    [
        (Fraction(1, 10**9), "very strong", False),
        (Fraction(1), "strong", False),
        (Fraction(2), "moderate", False),
        (Fraction(8), "weak", True),
        (Fraction(50), "very weak", True),
    ],
)
def test_every_epsilon_has_its_word(release, make_certificate, epsilon, strength, weak):
    promise = parts.Guarantee.differential_privacy(epsilon, reproducible=False, unit="records")
    line = parts.Spend(on="counts", share=epsilon, of_epsilon=Fraction(1))
    certificate = make_certificate(
        guarantee=promise, budget=parts.Budget(spends=(line,), total=epsilon)
    )
    page = Page(replace(release, certificate=certificate).report())
    assert f"privacy budget: {strength} protection" in page.text
    assert ("protects little" in page.text) is weak
    shown = re.findall(r"(?:over |under )?[\d.]+ %", page.text)
    assert "0 %" not in shown
    assert "100 %" not in shown


def test_every_figure_of_the_groups_is_a_sum_of_published_counts(release):
    html = release.report()
    cells = [int(cell) for cell in re.findall(r'class="number">(\d+)</td>\s*</tr>', html)]
    # The classes, the two ages, the four jobs; in the order of their labels.
    assert cells[-8:] == [48, 5, 4, 49, 3, 40, 2, 8]
    assert "53 records in total" in Page(html).text


def test_the_largest_groups_come_first_and_equal_ones_in_the_order_of_the_file(release):
    groups = replace(release.groups, counts=np.array([5, 40, 5, 5, 41], np.int64))
    html = replace(release, groups=groups).report()
    table = html[html.index('id="largest"') :]
    assert re.findall(r'class="count">([\d,]+)<', table) == ["41", "40", "5", "5", "5"]
    assert table.index("office") < table.index("shop, small")


def test_a_release_without_groups_still_has_a_page(release):
    none = np.zeros(0, np.int32)
    empty = replace(release.groups, index=(none, none), classes=none, counts=none.astype(np.int64))
    page = Page(replace(release, groups=empty).report())
    assert "The largest groups" not in page.text


def test_a_page_over_large_taxonomies_stays_small(make_certificate):
    label = "a rather long label of a value " * 4
    taxonomy = Taxonomy.flat([f"{label}{i}" for i in range(3000)])
    domain = CategoricalDomain(taxonomy=taxonomy)
    attributes = tuple(Attribute(name=f"{label}{i}", domain=domain) for i in range(80))
    leaves = np.arange(3000, dtype=np.int32)
    groups = Groups(
        ranges=tuple(Ranges(first=leaves, stop=leaves + 1) for _ in attributes),
        index=tuple(leaves for _ in attributes),
        classes=None,
        counts=np.ones(3000, np.int64),
        is_cut=True,
    )
    schema = Schema(attributes=attributes, class_attribute=None)
    html = Release(schema=schema, groups=groups, certificate=make_certificate()).report()
    assert len(html.encode()) < 1_000_000
    assert "2,941 more labels, not drawn here" in html
    assert "40 more attributes are not drawn here" in html
