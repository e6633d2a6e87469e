"""Drafted plans for baskets in the columns of a table, and whose they are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow.cli.main import app
from hedgerow.drafting.compose import draft as draft_plan
from hedgerow.errors import DataError, PlanError


def rows(n: int = 900, customers: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    receipt = rng.integers(0, 4 * customers, n)
    goods = rng.choice(["milk", "bread", "tea"], n)
    return pl.DataFrame(
        {"customer_id": receipt // 4, "receipt": receipt, "goods": goods}
    ).with_columns(goods=pl.when(pl.col("receipt") < 50).then(pl.lit("wig")).otherwise("goods"))


def published(draft, data):
    answers = {"confirmed": True, "ledger": None, "records": None, "to_do": ()}
    plan = draft.plan.model_copy(update=answers)
    return hedgerow.publish(plan, data=data, seed=1)


def test_a_long_table_with_a_person_proposes_to_join_and_says_the_bound(tmp_path):
    rows().write_csv(tmp_path / "rows.csv")
    draft = draft_plan(tmp_path / "rows.csv", items="goods", record="receipt", base=tmp_path)
    assert (draft.plan.person, draft.plan.join) == (("customer_id",), "union")
    assert (draft.plan.items.column, draft.plan.items.record) == ("goods", "receipt")
    assert draft.plan.items.universe == ("bread", "milk", "tea")  # a few people's wigs
    assert "'records-per-person: 4' in place of join" in draft.text
    assert draft.plan.records == 60
    assert "60 people, 100% of them with several baskets" in draft.notes[-1]
    assert published(draft, tmp_path / "rows.csv").certificate.guarantee.person.join == "union"


def test_rows_without_a_record_are_joined_by_person():
    draft = draft_plan(rows(), items="goods")
    assert draft.plan.join == "union"
    assert draft.plan.records_per_person is None
    published(draft, rows())


def test_lists_with_a_person_are_drafted(tmp_path):
    lists = rows().group_by("customer_id", "receipt").agg("goods")
    lists.write_parquet(tmp_path / "lists.parquet")
    draft = draft_plan(tmp_path / "lists.parquet", items="goods")
    assert draft.plan.person == ("customer_id",)
    published(draft, tmp_path / "lists.parquet")


def test_people_of_one_basket_are_not_taken_for_people_who_can_have_one_alone():
    alone = rows().with_columns(customer_id=pl.col("receipt"))
    draft = draft_plan(alone, items="goods", record="receipt")
    assert (draft.plan.person, draft.plan.one_record_per_person) == (("customer_id",), None)
    assert "Does 'customer_id' identify the person of each of these baskets?" in draft.plan.to_do[0]


def test_baskets_of_nobody_propose_no_person():
    nobody = draft_plan(rows().drop("customer_id"), items="goods", record="receipt")
    assert nobody.plan.person is None
    assert nobody.plan.one_record_per_person is None
    people = draft_plan(rows(), items="goods", record="customer_id")
    assert people.plan.person is None
    assert [plan.privacy_unit for plan in (nobody.plan, people.plan)] == [None, None]
    assert all(len(plan.to_do) == 1 for plan in (nobody.plan, people.plan))


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"record": "receipt"}, PlanError, "needs the column of their items"),
        ({"items": "nothing"}, DataError, "The column 'nothing' does not exist"),
        ({"items": "goods", "class_name": "receipt"}, PlanError, "no class"),
    ],
)
def test_columns_that_are_not_there_are_refused(given, error, match):
    with pytest.raises(error, match=match):
        draft_plan(rows(), **given)


def test_rows_of_nobody_need_a_record():
    with pytest.raises(DataError, match="no column identifies the record of a row"):
        draft_plan(rows().drop("customer_id"), items="goods")


def test_the_command_takes_the_columns(tmp_path):
    rows().write_csv(tmp_path / "rows.csv")
    plan = tmp_path / "plan.yaml"
    asked = ["draft", str(tmp_path / "rows.csv"), "--items", "goods", "--record-id", "receipt"]
    done = CliRunner().invoke(app, [*asked, "-o", str(plan)])
    assert done.exit_code == 0, done.output
    assert "baskets, in the column goods" in done.output
    assert "join: union" in plan.read_text()
