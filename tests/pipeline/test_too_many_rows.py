"""No engine reads more rows than proofs hold for; the limit is lowered to be tried."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hedgerow
from hedgerow.count.settings import EngineSettings
from hedgerow.encode.schema import schema_of
from hedgerow.encode.universe import universe_of
from hedgerow.errors import DataError
from hedgerow.ledger.ledger import Ledger
from hedgerow.model import sizes
from hedgerow.model.people import KeyedRule, PeopleRule, SampleKey
from hedgerow.pipeline.open import open_engine
from hedgerow.pipeline.place import DataPlace
from hedgerow.plan.load import plan_of
from hedgerow.progress import no_progress
from support.engine_plans import table_plan, write_table

N = 60
SCHEMA = schema_of(plan_of({"attributes": {"a": {"numeric": [0, 9]}}}))
LISTS = universe_of(plan_of({"items": {"universe": [0, 9], "column": "item"}}))
LONG = universe_of(plan_of({"items": {"universe": [0, 9], "column": "item", "record": "visit"}}))
PEOPLE = KeyedRule(rule=PeopleRule(columns=("who",), most=2), key=SampleKey(words=(3, 5)))
TABLE = pa.table(
    {
        "who": [str(i % 7) for i in range(N)],
        "visit": [str(i) for i in range(N)],
        "a": [i % 10 for i in range(N)],
        "item": [str(i % 10) for i in range(N)],
    }
)
ITEMS = TABLE.set_column(3, "item", [[[i % 10] for i in range(N)]])
CASES = {
    "records": (SCHEMA, TABLE.select(["a"]), None),
    "records of people": (SCHEMA, TABLE.select(["who", "a"]), PEOPLE),
    "baskets": (LISTS, ITEMS.select(["item"]), None),
    "baskets of people": (LISTS, ITEMS.select(["who", "item"]), PEOPLE),
    "long table": (LONG, TABLE.select(["visit", "item"]), None),
    "long table of people": (LONG, TABLE.select(["who", "visit", "item"]), PEOPLE),
}


WAYS = [(case, kind) for case in CASES for kind in ("memory", "stream")]
WAYS.remove(("long table", "stream"))  # which it does not read


@pytest.mark.parametrize(("case", "kind"), WAYS)
def test_one_row_more_than_the_limit_is_refused_on_every_way_to_read(case, kind, monkeypatch):
    domain, table, people = CASES[case]

    def opened():
        settings = EngineSettings(kind=kind)
        place = DataPlace(data=table)
        open_engine(domain, place, settings=settings, progress=no_progress, people=people).close()

    monkeypatch.setattr(sizes, "MOST_ROWS", N)
    opened()
    monkeypatch.setattr(sizes, "MOST_ROWS", N - 1)
    with pytest.raises(DataError, match=f"more than {N - 1} rows") as refused:
        opened()
    assert str(N) not in str(refused.value).replace(str(N - 1), "")


def test_a_table_of_too_many_rows_books_nothing(tmp_path, monkeypatch):
    data = write_table(tmp_path / "small.csv")
    plan = table_plan(("hedge", {}))
    plan["ledger"]["file"] = str(tmp_path / "ledger")
    monkeypatch.setattr(sizes, "MOST_ROWS", 399)
    with pytest.raises(DataError, match="more than 399 rows"):
        hedgerow.publish(plan, data=data, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert Ledger(tmp_path / "ledger").find("small") is None
