"""Subjects of evaluation: a release of any origin, and the confidential data."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from hedgerow.encode.baskets import encode_baskets
from hedgerow.encode.covers import codes_named
from hedgerow.encode.owned_baskets import joined_baskets
from hedgerow.encode.schema import schema_of
from hedgerow.encode.table import encode_table
from hedgerow.encode.universe import separators_of, universe_of
from hedgerow.errors import DataError, InternalError, ReleaseError, SettingError
from hedgerow.evaluation.people import PeopleOfRecords, encode_with_people
from hedgerow.evaluation.placing import is_pointlike
from hedgerow.evaluation.plain import read_plain
from hedgerow.evaluation.weighted_sets import WeightedSets
from hedgerow.model.baskets import EncodedBaskets
from hedgerow.model.certificate import Certificate, CertifiedCover, CertifiedPerson, listed
from hedgerow.model.groups import Groups
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.model.schema import CoverRule, Schema
from hedgerow.model.table import EncodedTable
from hedgerow.model.universe import ItemsPlace, Universe
from hedgerow.plan.load import load_plan, plan_of
from hedgerow.plan.model import Plan
from hedgerow.progress import Progress
from hedgerow.read.items import open_items
from hedgerow.read.open import open_table
from hedgerow.read.owned_items import open_owned_items
from hedgerow.release.baskets import BasketRelease
from hedgerow.release.folder import load_certificate, vouch
from hedgerow.release.generalise import OptionalPlan
from hedgerow.release.release import Release
from hedgerow.release.sequences import SequenceRelease
from hedgerow.release.write import CERTIFICATE

DISCLOSED = "disclosed.csv"
"""Table of a disclosure; the plan names its domains."""

ReleaseShape = Literal["cut", "tree", "boxes", "records"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableSubject:
    """Release of a table, and the records it is compared with (confidential).

    ``certificate`` is ``None`` for a plain table of another tool; ``test`` are records that were
    kept out of the release, if any; ``people`` has the person of each record, if the release
    protects people and the data name them.
    """

    name: str
    schema: Schema
    groups: Groups
    certificate: Certificate | None
    table: EncodedTable
    test: EncodedTable | None
    people: PeopleOfRecords | None = None

    @property
    def shape(self) -> ReleaseShape:
        """Shape of the release: how it divides the domain, if it does."""
        if self.groups.is_cut:
            return "cut"
        if self.groups.tree is not None:
            return "tree"
        return "records" if is_pointlike(self.groups) else "boxes"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BasketSubject:
    """Release of set-valued data, and the records it is compared with (confidential)."""

    name: str
    certificate: Certificate | None
    release: WeightedSets
    records: WeightedSets
    labels: tuple[str, ...]
    ordered: bool = False


EvaluatedSubject = TableSubject | BasketSubject


def subject_of(
    release: Any, data: Any, *, test: Any = None, plan: OptionalPlan = None, progress: Progress
) -> EvaluatedSubject:
    """Return a release and its data, read with the domains of the release.

    ``release`` is a release or its folder; with a ``plan`` that names the domains, it may be any
    table or basket file, or the folder of a disclosure. A release names its own domains; a plan
    in addition says only how the data are read.
    """
    progress("reading the release", None)
    known = _plan(plan)
    loaded = _loaded(release)
    if isinstance(loaded, BasketRelease) or (
        loaded is None and known is not None and known.items is not None
    ):
        if test is not None:
            raise SettingError(
                "Set-valued data has no classification task.",
                where="test",
                do="Leave out the test file.",
            )
        return _baskets(loaded, release, data, known, progress)
    says_nothing = known is not None and known.reading is None and known.covers is None
    if loaded is not None and says_nothing:
        raise SettingError(
            "The release folder names its own domains, and the plan has no section 'reading'.",
            where="plan",
            do="Leave the plan out, or give it a section 'reading'.",
        )
    if loaded is None and known is None:
        raise SettingError(
            "A plain file does not name its domains.",
            where="plan",
            do="Give --plan PLAN, or a release folder with its certificate.",
        )
    return _table(loaded, release, data, test=test, plan=known, progress=progress)


def _plan(plan: OptionalPlan) -> Plan | None:
    if isinstance(plan, Plan) or plan is None:
        return plan
    return plan_of(plan) if isinstance(plan, Mapping) else load_plan(Path(plan))


def _loaded(release: object) -> Release | BasketRelease | None:
    """Return the release, or None for a plain table."""
    if isinstance(release, Release | BasketRelease):
        return release
    if not isinstance(release, str | os.PathLike):
        return None
    path = Path(release)
    if "://" not in str(release) and not path.exists():
        raise ReleaseError(
            "There is no such file or folder.", where=str(path), do="Check the path of the release."
        )
    if not path.is_dir() or not (path / CERTIFICATE).exists() or (path / DISCLOSED).exists():
        return None
    items = load_certificate(path).data.items
    if items is not None:
        return SequenceRelease.load(path) if items.ordered else BasketRelease.load(path)
    return Release.load(path)


def _table(
    loaded: Release | None,
    release: Any,
    data: Any,
    *,
    test: Any,
    plan: Plan | None,
    progress: Progress,
) -> TableSubject:
    certificate: Certificate | None
    if loaded is not None:
        schema, groups, certificate = loaded.schema, loaded.groups, loaded.certificate
        name = loaded.certificate.data.name
    elif plan is not None:
        file, certificate = _plain_file(release)
        schema, groups = read_plain(file, schema_of(plan))
        name = _name(release)
    else:
        raise InternalError("There is neither a release nor a plan.")
    reading = PLAIN if plan is None else plan.how_to_read()
    promised = None if certificate is None else certificate.guarantee.person
    cover = None if certificate is None else certificate.covers
    part = _Part(schema=schema, cover=cover, plan=plan)
    table, people = _encoded(data, part, reading, "reading the data", progress, promised=promised)
    held_out = None
    if test is not None:
        held_out, _ = _encoded(test, part, reading, "reading the test rows", progress)
    return TableSubject(
        name=name,
        schema=schema,
        groups=groups,
        certificate=certificate,
        table=table,
        test=held_out,
        people=people,
    )


def _plain_file(release: Any) -> tuple[Any, Certificate | None]:
    """Return the table to read, and its certificate if it is a disclosure."""
    if isinstance(release, str | os.PathLike) and (Path(release) / DISCLOSED).is_file():
        certificate = load_certificate(Path(release))
        vouch(Path(release) / DISCLOSED, certificate)
        return Path(release) / DISCLOSED, certificate
    return release, None


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Reading of the records that a release was made from, and its part of them."""

    schema: Schema
    cover: CertifiedCover | None
    plan: Plan | None


def _encoded(
    data: Any,
    part: _Part,
    reading: Reading,
    step: str,
    progress: Progress,
    *,
    promised: CertifiedPerson | None = None,
) -> tuple[EncodedTable, PeopleOfRecords | None]:
    """Return the records and, if the release protects people, the person of each."""
    source = open_table(data, reading=reading)
    schema = covered(part.schema, part.cover, part.plan, source.columns)
    target = schema.class_attribute
    if target is not None and target.name not in source.columns:
        schema = replace(schema, class_attribute=None)

    def report(part: float) -> None:
        progress(step, part)

    people: PeopleOfRecords | None = None
    if promised is not None and set(promised.columns) <= set(source.columns):
        table, people = encode_with_people(source, schema, promised, progress=report)
    else:
        table = encode_table(source, schema, progress=report)
    if not len(table):
        raise DataError(
            "There are no complete records to compare with.",
            where=source.name,
            do="Give the table that the release was made from.",
        )
    return table, people


def _baskets(
    loaded: BasketRelease | None, release: Any, data: Any, plan: Plan | None, progress: Progress
) -> BasketSubject:
    universe = _universe(loaded, plan)
    if loaded is not None:
        sets, name = WeightedSets.of_release(loaded.baskets), loaded.certificate.data.name
    else:
        encoded = encode_baskets(open_items(release, universe.place), universe)
        sets, name = WeightedSets.of_records(encoded), _name(release)
    records = _raw_baskets(data, universe, plan, progress)
    if not len(records):
        raise DataError(
            "No record has an item of the universe.",
            where="evaluation",
            do="Give the data that the release was made from.",
        )
    return BasketSubject(
        name=name,
        certificate=None if loaded is None else loaded.certificate,
        release=sets,
        records=WeightedSets.of_records(records),
        labels=universe.taxonomy.leaf_labels,
        ordered=universe.place.ordered,
    )


def _raw_baskets(
    data: Any, universe: Universe, plan: Plan | None, progress: Progress
) -> EncodedBaskets:
    """Return the baskets that a release estimates, one per person if they are joined."""

    def report(part: float) -> None:
        progress("reading the data", part)

    reading = PLAIN if plan is None else plan.how_to_read()
    rule = None if plan is None else plan.people_rule()
    if rule is not None and rule.join is not None:
        owned = open_owned_items(data, universe.place, rule, reading=reading)
        return joined_baskets(owned, universe, progress=report)
    source = open_items(data, universe.place, reading=reading)
    return encode_baskets(source, universe, progress=report)


def _universe(loaded: BasketRelease | None, plan: Plan | None) -> Universe:
    """Return the universe of the release, or of the plan, which says where items are."""
    if loaded is None:
        if plan is None:
            raise InternalError("There is neither a release nor a plan.")
        return universe_of(plan)
    ordered = isinstance(loaded, SequenceRelease)
    if plan is not None:
        place = replace(universe_of(plan).place, ordered=ordered)
        return Universe(taxonomy=loaded.taxonomy, place=place)
    place = ItemsPlace(
        column=None,
        record=None,
        ordered=ordered,
        separators=separators_of("auto", loaded.taxonomy),
    )
    return Universe(taxonomy=loaded.taxonomy, place=place)


def _name(release: object) -> str:
    return Path(release).name if isinstance(release, str | os.PathLike) else "a table"


def covered(
    schema: Schema, cover: CertifiedCover | None, plan: Plan | None, columns: Collection[str]
) -> Schema:
    """Return the schema that reads only the records that the release covers.

    The plan says how the column is read; without a plan it must be an attribute of the release.
    Data without the column are taken to be the covered part.
    """
    if cover is None or schema.cover is not None:
        return schema
    if plan is not None and plan.covers is not None:
        return replace(schema, cover=_planned(cover, plan))
    for attribute in schema.used():
        if attribute.name == cover.column:
            codes = codes_named(attribute, cover.values)
            rule = CoverRule(attribute=attribute, codes=codes, values=cover.values)
            return replace(schema, cover=rule)
    if cover.column not in columns:
        return schema
    raise SettingError(
        f"The release covers only records whose {cover.column!r} is {listed(cover.values)},"
        " and does not say how that column is read.",
        where="evaluation",
        do="Give the plan of the release with --plan, or data that hold only that part,"
        " without the column.",
    )


def _planned(cover: CertifiedCover, plan: Plan) -> CoverRule:
    rule = schema_of(plan).cover
    if rule is None or (rule.attribute.name, rule.values) != (cover.column, cover.values):
        raise SettingError(
            f"The plan covers another part than the release, whose {cover.column!r} is"
            f" {listed(cover.values)}.",
            where="plan: covers",
            do="Give the plan that the release was made with.",
        )
    return rule
