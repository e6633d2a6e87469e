"""Objects as HTML: small, escaped, and without a confidential value."""

from __future__ import annotations

from html.parser import HTMLParser

import polars as pl
import pytest

import hedgerow
from hedgerow.model.card import LONGEST, card
from hedgerow.plan.load import plan_of
from support.engine_plans import basket_plan, write_baskets

PLAN = {
    "attributes": {
        "age <b>": {"numeric": [0, 99]},
        "ill": {"role": "class", "values": ["no", "SECRET-label"]},
    },
    "publish": {"method": "hedge", "epsilon": 1},
    "ledger": {"dataset": "visits-2026", "cap": 2},
    "approved": {"by": "<script>x</script>", "on": "2026-01-31"},
}


class Balanced(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> dict[str, str]:
    rows = pl.DataFrame({"age <b>": [20, 70] * 300, "ill": ["no", "SECRET-label"] * 300})
    release = hedgerow.publish(
        {**PLAN, "protects": "records", "confirmed": True}, data=rows, seed=1
    )
    sets = write_baskets(tmp_path_factory.mktemp("card") / "sets.dat")
    baskets = hedgerow.publish(basket_plan(("diffpart", {})), data=sets, seed=1)
    return {
        "plan": plan_of(PLAN)._repr_html_(),
        "check": hedgerow.check(PLAN, records=600)._repr_html_(),
        "release": release._repr_html_(),
        "certificate": release.certificate._repr_html_(),
        "baskets": baskets._repr_html_(),
        "draft": hedgerow.draft(rows)._repr_html_(),
    }


def test_every_card_is_small_balanced_and_escaped(shown):
    for name, html in shown.items():
        page = Balanced(html)
        assert page.tags <= {"div", "p", "strong", "table", "tbody", "tr", "th", "td"}, name
        assert len(html) < 4000, name
        assert "None" not in html, name


def test_each_says_what_matters_most(shown):
    assert "Not confirmed" in shown["plan"]
    assert "age &lt;b&gt;" in shown["plan"]
    assert "verdict" in shown["check"]
    assert "Not differentially private" in shown["release"]
    assert "&lt;script&gt;x&lt;/script&gt;" in shown["certificate"]
    assert "baskets" in shown["baskets"]


def test_a_draft_shows_no_value_of_the_data(shown):
    rows = pl.DataFrame({"age": [20, 70] * 300, "ill": ["no", "SECRET-label"] * 300})
    drafted = hedgerow.draft(rows)
    assert "SECRET" in drafted.text
    for text in (shown["draft"], repr(drafted), str(drafted)):
        assert "SECRET" not in text
        assert "70" not in text


def test_long_texts_are_cut_and_hidden_letters_shown():
    html = card("x" * 1000, [("a", "b\u202ec")])
    assert "x" * LONGEST not in html
    assert "\u202e" not in html
