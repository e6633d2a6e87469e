"""The data dictionary: a description of every column of every released file.

`dictionary.csv` is for people, `datapackage.json` (see :mod:`hedgerow.release.package`) for
programs. Both are built from the public domains, the certificate and the published labels.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hedgerow.model.certificate import Certificate, DescribedAttribute
from hedgerow.model.groups import Groups, Ranges
from hedgerow.model.labels import count_column, leaf_labels, range_labels
from hedgerow.model.schema import Attribute, Schema
from hedgerow.release.records import in_wholes
from hedgerow.release.table import spreadsheet_safe
from hedgerow.taxonomy.domain import CategoricalDomain, DateDomain, NumericDomain
from hedgerow.taxonomy.tree import Taxonomy

DICTIONARY = "dictionary.csv"
MOST_LABELS = 500
"""Maximum number of labels of a column that are listed."""

COLUMNS = ("file", "column", "label", "type", "unit", "low", "high", "meaning")

INTERVALS = "[a, b) is from a to below b, and [a, b] from a to b"


@dataclass(frozen=True, kw_only=True)
class DictionaryColumn:
    """A column of a file: its name, its type, and the meaning of its values.

    Names and labels are those of the files, before `spreadsheet_safe`.

    ``labels`` are the values it may have, each with its meaning; ``n_more`` of them are not
    listed. A column without labels may hold any value of the type from ``low`` to ``high``.
    """

    name: str
    type: Literal["string", "integer", "number", "date"]
    meaning: str
    unit: str = ""
    low: str = ""
    high: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    n_more: int = 0
    required: bool = True


@dataclass(frozen=True, kw_only=True)
class DictionaryFile:
    """A file of a release with its columns; a file without a table has none."""

    path: str
    what: str
    columns: tuple[DictionaryColumn, ...] = ()


def dictionary_text(files: Sequence[DictionaryFile]) -> str:
    """Return the text of `dictionary.csv`: one line per column, and one per label."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for file in files:
        for column in file.columns:
            rows.writerows([spreadsheet_safe(cell) for cell in row] for row in _rows(file, column))
    return text.getvalue()


def _rows(file: DictionaryFile, column: DictionaryColumn) -> Iterator[tuple[str, ...]]:
    place = file.path, column.name
    yield *place, "", column.type, column.unit, column.low, column.high, column.meaning
    for label, meaning in column.labels:
        yield *place, label, "", "", "", "", meaning
    if column.n_more:
        yield *place, "", "", "", "", "", f"and {column.n_more:,} more labels, not listed here"


def count_meaning(certificate: Certificate) -> str:
    """Return the meaning of a count of the release, as the end of a sentence."""
    details, counts = certificate.method.details, certificate.counts
    if str(details.get("rows", "")).startswith("invented"):
        return "how many invented records have this row; the count of a single row says nothing"
    if str(details.get("counts", "")).startswith("true counts"):
        return "how many records of a random sample are in the group; groups too small are missing"
    if counts is None:
        return "how many records of the data are in the group: exact, no noise was added"
    then = f"; then {counts.adjustment}" if counts.adjustment else ""
    return (
        f"how many {counted_in(certificate)} are in the group, with noise that is within"
        f" {counts.within_95:,} either way in 95 of 100 cases{then}"
    )


def release_columns(
    schema: Schema, groups: Groups, certificate: Certificate
) -> tuple[DictionaryColumn, ...]:
    """Return the columns of `release.csv`."""
    described = _described(certificate)
    columns = [
        _range_column(attribute, ranges, described.get(attribute.name))
        for attribute, ranges in zip(schema.attributes, groups.ranges, strict=True)
    ]
    if schema.class_attribute is not None and groups.classes is not None:
        columns.append(value_column(schema.class_attribute, described, role="the class"))
    meaning, unit = count_meaning(certificate), counted_in(certificate)
    columns.append(count_entry(count_column(schema), meaning, unit=unit))
    return tuple(columns)


def record_columns(schema: Schema, certificate: Certificate) -> tuple[DictionaryColumn, ...]:
    """Return the columns of `records.csv`: single values of synthetic records."""
    described = _described(certificate)
    return tuple(value_column(attribute, described) for attribute in schema.used())


def disclosed_columns(schema: Schema, certificate: Certificate) -> tuple[DictionaryColumn, ...]:
    """Return the columns of `disclosed.csv`: values, or labels of groups of values."""
    described = _described(certificate)
    columns = [
        _coarse_column(attribute, described.get(attribute.name)) for attribute in schema.used()
    ]
    if schema.class_attribute is not None:
        last = value_column(schema.class_attribute, described, role="the class, as it is")
        columns[-1] = replace(last, required=False)
    return tuple(columns)


def counted_in(certificate: Certificate) -> str:
    """Return the unit of the counts of a release: records or people."""
    person = certificate.guarantee.person
    return "people" if person is not None and person.counts_people else "records"


def count_entry(name: str, meaning: str, *, unit: str = "records") -> DictionaryColumn:
    """Return the entry of a column of counts."""
    return DictionaryColumn(
        name=name, type="integer", unit=unit, low="0", meaning=f"the count: {meaning}"
    )


def text_column(name: str, meaning: str) -> DictionaryColumn:
    """Return the entry of a column of texts."""
    return DictionaryColumn(name=name, type="string", meaning=meaning)


def value_column(
    attribute: Attribute, described: dict[str, DescribedAttribute], *, role: str = ""
) -> DictionaryColumn:
    """Return the entry of a column that holds single values of an attribute."""
    domain, described_as = attribute.domain, described.get(attribute.name)
    meaning = _meaning(described_as, role or "a value")
    unit = (described_as.unit or "") if described_as is not None else ""
    if isinstance(domain, NumericDomain):
        return DictionaryColumn(
            name=attribute.name,
            type=_type(domain),
            meaning=f"{meaning}; the lower edge of a cell of its grid",
            unit=unit,
            low=domain.written(domain.low),
            high=domain.written(domain.high),
            required=not domain.missing,
        )
    labels = [(label, "") for label in leaf_labels(domain)]
    return _labelled(attribute.name, labels, meaning=meaning, unit=unit)


def _range_column(
    attribute: Attribute, ranges: Ranges, described_as: DescribedAttribute | None
) -> DictionaryColumn:
    """Return the entry of a column that holds labels of ranges."""
    domain = attribute.domain
    unit = (described_as.unit or "") if described_as is not None else ""
    if isinstance(domain, NumericDomain):
        things = "dates" if isinstance(domain, DateDomain) else "numbers"
        return DictionaryColumn(
            name=attribute.name,
            type="string",
            meaning=_meaning(described_as, f"a range of {things}: {INTERVALS}"),
            unit=unit,
            low=domain.written(domain.low),
            high=domain.written(domain.high),
        )
    sizes = (ranges.stop - ranges.first).tolist()
    named = zip(range_labels(domain, ranges), sizes, strict=True)
    labels = [(label, _size_words(n, domain.size)) for label, n in named]
    meaning = _meaning(described_as, "a value, or the label of several")
    return _labelled(attribute.name, labels, meaning=meaning, unit=unit)


def _type(domain: NumericDomain) -> Literal["integer", "number", "date"]:
    if isinstance(domain, DateDomain):
        return "date"
    return "integer" if in_wholes(domain) else "number"


def _coarse_column(
    attribute: Attribute, described_as: DescribedAttribute | None
) -> DictionaryColumn:
    """Return the entry of a column whose values may be of any level of its taxonomy."""
    domain = attribute.domain
    if not isinstance(domain, CategoricalDomain):
        whole = Ranges.of([(0, domain.size)])
        return _range_column(attribute, whole, described_as)
    labels = list(_node_labels(domain.taxonomy))
    meaning = _meaning(
        described_as, "a value, or the label of several, as each record's risk asks for"
    )
    unit = (described_as.unit or "") if described_as is not None else ""
    return _labelled(attribute.name, labels, meaning=meaning, unit=unit)


def _node_labels(taxonomy: Taxonomy) -> Iterator[tuple[str, str]]:
    sizes = (taxonomy.stop - taxonomy.first).tolist()
    seen: set[str] = set()
    for label, size in zip(taxonomy.labels, sizes, strict=True):
        if label not in seen:
            seen.add(label)
            yield label, _size_words(size, taxonomy.n_leaves)


def _labelled(
    name: str, labels: list[tuple[str, str]], *, meaning: str, unit: str
) -> DictionaryColumn:
    return DictionaryColumn(
        name=name,
        type="string",
        meaning=meaning,
        unit=unit,
        labels=tuple(labels[:MOST_LABELS]),
        n_more=max(len(labels) - MOST_LABELS, 0),
    )


def _size_words(n_values: int, of: int) -> str:
    if n_values == 1:
        return ""
    return "all values" if n_values == of else f"{n_values:,} values"


def _meaning(described_as: DescribedAttribute | None, words: str) -> str:
    own = described_as.meaning if described_as is not None else None
    return f"{own}; {words}" if own else words


def _described(certificate: Certificate) -> dict[str, DescribedAttribute]:
    return {each.name: each for each in certificate.data.attributes}
