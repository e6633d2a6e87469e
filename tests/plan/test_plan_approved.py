"""`approved`: who signed for a release stands in its certificate and on its page."""

from __future__ import annotations

import json
from datetime import date

import pytest

import hedgerow
from hedgerow.errors import PlanError
from hedgerow.plan.load import load_plan, plan_digest, plan_of
from support.disclosure_tables import METHODS as DISCLOSURES
from support.disclosure_tables import patients
from support.disclosure_tables import plan as disclosure_plan
from support.engine_plans import basket_plan, table_plan, write_baskets, write_table

SIGNED = {"by": "Ada <b>Muster</b>", "on": "2026-01-31", "why": "a & b"}


def test_a_plan_file_may_say_it_in_yaml_toml_and_json(tmp_path):
    texts = {
        "plan.yaml": 'approved: {by: "A. Muster", on: 2026-01-31}\n'
        "attributes: {sex: {values: [f, m]}}\n",
        "plan.toml": 'approved = {by = "A. Muster", on = 2026-01-31}\n'
        'attributes = {sex = {values = ["f", "m"]}}\n',
        "plan.json": '{"approved": {"by": "A. Muster", "on": "2026-01-31"},'
        ' "attributes": {"sex": {"values": ["f", "m"]}}}',
    }
    plans = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        plans.append(load_plan(tmp_path / name))
    assert {plan.approved.on for plan in plans} == {date(2026, 1, 31)}
    assert len({plan_digest(plan) for plan in plans}) == 1


def test_the_fingerprint_covers_it_and_leaves_plans_without_it_alone():
    bare = {"attributes": {"sex": {"values": ["f", "m"]}}}
    signed = plan_digest(plan_of({**bare, "approved": {"by": "A", "on": "2026-01-31"}}))
    other = plan_digest(plan_of({**bare, "approved": {"by": "B", "on": "2026-01-31"}}))
    assert len({plan_digest(plan_of(bare)), signed, other}) == 3


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"on": "2026-01-31"}, "approved.by"),
        ({"by": "A"}, "approved.on"),
        ({"by": "A" * 201, "on": "2026-01-31"}, "longer than 200"),
        ({"by": "A", "on": "2026-01-31", "why": "w" * 501}, "longer than 500"),
        ({"by": "A\nB", "on": "2026-01-31"}, "control character"),
        ({"by": "A", "on": "31.01.2026"}, "is not a day"),
        ({"by": "A", "on": "2026-02-30"}, "is not a day"),
        ({"by": "A", "on": "2026-01-31", "who": "B"}, "who"),
    ],
)
def test_mistakes_in_it_are_told(section, told):
    with pytest.raises(PlanError, match=told):
        plan_of({"attributes": {"sex": {"values": ["f", "m"]}}, "approved": section})


def test_it_goes_into_the_certificate_and_the_page_of_every_kind_of_release(tmp_path):
    table = {**table_plan(("hedge", {})), "approved": SIGNED}
    hedgerow.publish(table, data=write_table(tmp_path / "t.csv"), out=tmp_path / "t", seed=1)
    baskets = {**basket_plan(("diffpart", {})), "approved": SIGNED}
    hedgerow.publish(baskets, data=write_baskets(tmp_path / "b.dat"), out=tmp_path / "b", seed=1)
    single = {**disclosure_plan(**DISCLOSURES["aruba"]), "approved": SIGNED}
    hedgerow.disclose(single, data=patients(), out=tmp_path / "d")
    for folder in ("t", "b", "d"):
        text = (tmp_path / folder / "certificate.json").read_text(encoding="utf-8")
        assert json.loads(text)["approved"] == SIGNED
        html = (tmp_path / folder / "report.html").read_text(encoding="utf-8")
        shown = "Approved by <strong>Ada &lt;b&gt;Muster&lt;/b&gt;</strong> on 2026-01-31"
        assert f"{shown}: a &amp; b" in html
        assert "<b>Muster" not in html
