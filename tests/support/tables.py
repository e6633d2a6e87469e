"""Small encoded tables for tests: strategies, schemas and the papers' examples."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hedgerow.model.schema import Attribute, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.taxonomy.builders import context_free, flat
from hedgerow.taxonomy.domain import CategoricalDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy


def categorical(taxonomy: Taxonomy) -> CategoricalDomain:
    return CategoricalDomain(taxonomy=taxonomy, other=None, missing=None)


def values(n: int, fan_out: int = 0) -> CategoricalDomain:
    """A domain of n values under one root, or grouped with a fan-out."""
    labels = [f"v{i}" for i in range(n)]
    return categorical(context_free(labels, fan_out=fan_out) if fan_out else flat(labels))


def grid(n: int) -> NumericDomain:
    """The integers 0..n-1, or a single cell."""
    return NumericDomain.even(low=0, high=max(n - 1, 1), step=1 if n > 1 else 2)


def schema_of(*domains: CategoricalDomain | NumericDomain, classes: int | None = 2) -> Schema:
    attributes = tuple(Attribute(name=f"a{i}", domain=domain) for i, domain in enumerate(domains))
    target = None if classes is None else Attribute(name="class", domain=values(classes))
    return Schema(attributes=attributes, class_attribute=target)


def table_of(schema: Schema, rows: list[tuple[int, ...]]) -> EncodedTable:
    """A table from rows of codes, the class last."""
    width = len(list(schema.used()))
    columns = np.array(rows, dtype=np.int64).reshape(-1, width).T
    n = len(schema.attributes)
    classes = columns[n] if schema.class_attribute is not None else None
    return EncodedTable.from_codes(schema, list(columns[:n]), classes)


domains = st.one_of(
    st.builds(values, st.integers(1, 6)),
    st.builds(values, st.integers(2, 12), st.integers(2, 3)),
    st.builds(grid, st.integers(1, 12)),
)


@st.composite
def encoded_tables(draw: st.DrawFn, min_records: int = 0, max_records: int = 25) -> EncodedTable:
    """Tables of up to four attributes with a class, degenerate ones included."""
    schema = schema_of(
        *draw(st.lists(domains, min_size=1, max_size=4)), classes=draw(st.integers(1, 3))
    )
    cell = [st.integers(0, attribute.domain.size - 1) for attribute in schema.used()]
    rows = draw(st.lists(st.tuples(*cell), min_size=min_records, max_size=max_records))
    return table_of(schema, rows)


JOB = Taxonomy.from_nested(
    "Any_Job", {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Writer"]}
)
AGE = NumericDomain.even(low=18, high=64, step=1)  # [18, 65) of the paper


def diffgen_table_1() -> EncodedTable:
    """The raw data of [DiffGen, Table 1.a]."""
    rows = [
        ("Engineer", 34, "Y"),
        ("Lawyer", 50, "N"),
        ("Engineer", 38, "N"),
        ("Lawyer", 33, "Y"),
        ("Dancer", 20, "Y"),
        ("Writer", 37, "N"),
        ("Writer", 32, "Y"),
        ("Dancer", 25, "N"),
    ]
    schema = Schema(
        attributes=(
            Attribute(name="Job", domain=categorical(JOB)),
            Attribute(name="Age", domain=AGE),
        ),
        class_attribute=Attribute(name="Class", domain=categorical(flat(["Y", "N"]))),
    )
    jobs = [JOB.leaf_code[job] for job, _, _ in rows]
    ages = AGE.encode(np.array([age for _, age, _ in rows]))
    return EncodedTable.from_codes(schema, [jobs, ages], ["YN".index(label) for *_, label in rows])
