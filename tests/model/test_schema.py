"""From a plan to the public schema of its table."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.errors import TaxonomyError
from hedgerow.plan.load import plan_of
from hedgerow.read.open import open_table
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain

PLAN = {
    "attributes": {
        "age": {"numeric": [17, 90]},
        "rate": {"numeric": [0, 1], "step": "0.1"},
        "pay": {"edges": [0, 10, 100]},
        "job": {"taxonomy": "job.csv", "other": "elsewhere"},
        "place": {"taxonomy": {"Any": {"City": ["ZH", "?"], "Land": ["UR"]}}},
        "name": {"role": "identifier"},
        "weight": {"role": "drop"},
        "class": {"role": "class", "values": ["<=50K", ">50K"]},
    },
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "job.csv").write_text("office;Indoor;Any\nshop;Indoor;Any\nfarm;Outdoor;Any\n")
    return tmp_path


def test_predictors_keep_the_order_of_the_plan_and_dropped_columns_are_not_there(base):
    schema = schema_of(plan_of(PLAN).at(base))
    assert [a.name for a in schema.attributes] == ["age", "rate", "pay", "job", "place"]
    assert [a.domain.size for a in schema.attributes] == [74, 11, 2, 4, 3]
    assert schema.class_attribute is not None
    assert schema.class_attribute.domain.taxonomy.leaf_labels == ("<=50K", ">50K")
    assert schema.missing_values == {"", "?"}
    rate, job = schema.attributes[1].domain, schema.attributes[3].domain
    assert isinstance(rate, NumericDomain)
    assert rate.bounds(3, 4)[0] == Fraction(3, 10)
    assert isinstance(job, CategoricalDomain)
    assert job.other == "elsewhere"


def test_missing_values_get_a_code_of_their_own_where_the_plan_says_so(base):
    schema = schema_of(plan_of({**PLAN, "missing": "value"}).at(base))
    assert [a.domain.size for a in schema.attributes] == [75, 12, 3, 5, 3]
    job, place = schema.attributes[3].domain, schema.attributes[4].domain
    assert isinstance(job, CategoricalDomain)
    assert isinstance(place, CategoricalDomain)
    assert job.missing == "missing"
    assert place.missing == "?", "the taxonomy lists a marker, so that leaf is used"
    assert schema.class_attribute is not None
    assert schema.class_attribute.domain.missing_code is None


def test_columns_that_are_not_used_need_not_even_be_there(base):
    (base / "people.csv").write_text(
        "class,place,job,pay,rate,age\n >50K,UR,farm,5,0.3,20\n<=50K,?,miner,500,1,16\n"
    )
    source = open_table("people.csv", base=base)
    kept = encode_table(source, schema_of(plan_of({**PLAN, "missing": "value"}).at(base)))
    assert [column.tolist() for column in kept.codes] == [[4, 1], [4, 11], [1, 2], [2, 3], [2, 1]]
    assert kept.classes is not None
    assert kept.classes.tolist() == [1, 0]
    dropped = encode_table(source, schema_of(plan_of(PLAN).at(base)))
    assert len(dropped) == 1


def test_a_taxonomy_that_cannot_be_read_says_where_it_is_asked_for(base):
    (base / "job.csv").unlink()
    with pytest.raises(TaxonomyError, match=r"job\.csv"):
        schema_of(plan_of(PLAN).at(base))
    bad = {"attributes": {"a": {"taxonomy": {"prefix": {"length": "x"}}}}}
    with pytest.raises(TaxonomyError, match="attributes > a > taxonomy"):
        schema_of(plan_of(bad))
