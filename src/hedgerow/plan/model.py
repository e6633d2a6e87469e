"""The plan: the content of the data, its public domains, and the settings of a release.

A plan is public. Everything in it is an assumption that the certificate repeats, and none of it may
be taken from the data unless a person confirms that it is public knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    SerializeAsAny,
    StrictBool,
    model_validator,
)

from hedgerow.model.card import card
from hedgerow.model.database import select_all
from hedgerow.model.people import Join, PeopleRule
from hedgerow.model.reading import DEFAULT_MARKERS, PLAIN, Reading
from hedgerow.model.unit import PrivacyUnit
from hedgerow.plan.approval import ApprovedPlan, Confirmation
from hedgerow.plan.attribute import AttributePlan
from hedgerow.plan.basket_people import check_person_of_items
from hedgerow.plan.covers import CoversPlan, check_covers
from hedgerow.plan.defaults import written_choice
from hedgerow.plan.derive import check_sources
from hedgerow.plan.disclose import AnyDisclosePlan, check_disclosed_attributes
from hedgerow.plan.fields import (
    Delta,
    Epsilon,
    Name,
    Place,
    PlanModel,
    Records,
    Texts,
    mistake,
    shown,
)
from hedgerow.plan.items import ItemsPlan
from hedgerow.plan.people import (
    PeopleSettings,
    Person,
    RecordsPerPerson,
    check_person,
    people_rule,
)
from hedgerow.plan.reading import ReadingPlan, check_marks
from hedgerow.plan.registry import METHODS, AnySettings, with_method
from hedgerow.plan.settings import PrivateSettings

MAX_ATTRIBUTES = 10_000
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|sqlite:")


class LedgerPlan(PlanModel):
    """The account of the persistent ledger on which releases of this data set are booked."""

    dataset: Name | None = Field(None, description="the name of the data set in the ledger")
    people: Name | None = Field(
        None,
        description=(
            "the name of the people in the ledger, for all tables with records of them, instead of"
            " dataset; the plan must protect persons"
        ),
    )
    cap: Epsilon = Field(description="the largest total that all releases together may spend")
    delta_cap: Delta | None = Field(
        None,
        description=(
            "the largest delta of all releases together, from 0 to below 1; with 0, or without it,"
            " methods with a delta are refused"
        ),
    )
    file: Place | None = Field(None, description="the path of the ledger file")

    @property
    def name(self) -> str:
        """Name of the account."""
        return self.dataset or self.people or ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.dataset is None and self.people is None:
            raise mistake(
                "This setting is missing.",
                "Give the name of the data set in the ledger, or, instead, 'people': the name"
                " of the people for all tables with records of them.",
                key=("dataset",),
            )
        if self.dataset is not None and self.people is not None:
            raise mistake(
                "A data set is named as well.",
                "Keep 'people' for all tables of the same people, or 'dataset' for this one"
                " alone: a release is booked on one account.",
                key=("people",),
            )
        return self


def _check_attributes(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    if not value:
        raise mistake("The list is empty.", "Give every column of the table a line.")
    if len(value) > MAX_ATTRIBUTES:
        raise mistake(
            f"The list has more than {MAX_ATTRIBUTES:,} attributes.",
            "Leave out columns that you drop.",
        )
    return value


def _check_questions(value: object) -> object:
    if isinstance(value, str):
        raise mistake("This is a text.", "Give a list of questions, or remove the line.")
    return value


class Plan(PlanModel):
    """Plan: what to read, what is public about it, what to protect and how to publish.

    Read one with `load_plan`; all functions also take a mapping with the keys of a plan file.
    docs/plan.md describes the keys.

    Parameters
    ----------
    data, query, table : str, optional
        File or database URL of the data, with the query or the table to read.
    reading : ReadingPlan, optional
        Format of the file.
    missing : {"drop", "value"}, default="drop"
        Drop records with a missing value, or keep missing as a value.
    missing_values : tuple of str
        Texts that stand for a missing value.
    records : int, optional
        Approximate number of records, if it is public.
    attributes : dict of str to AttributePlan
        Columns of a table, with their domains and roles.
    items : ItemsPlan, optional
        Universe of baskets or sequences, in place of attributes.
    person : tuple of str, optional
        Columns that identify the person of a record.
    records_per_person : int or "auto", optional
        Maximum number of records of one person that are used.
    count : {"records", "people"}, optional
        Unit of the published counts.
    join : {"union"}, optional
        Join the baskets of a person into one.
    one_record_per_person : bool, optional
        State that nobody can have more than one record.
    protects : {"records"}, optional
        Protect each record instead of each person.
    to_do : tuple of str
        Open questions of a draft.
    confirmed : bool or ConfirmedPlan, default=False
        Statement that all domains are public knowledge, and who made it.
    covers : CoversPlan, optional
        Part of the data that the release covers.
    publish : MethodSettings, optional
        Method and settings of `publish`.
    disclose : DisclosePlan, optional
        Method and settings of `disclose`.
    ledger : LedgerPlan, optional
        Name of the data set and cap of its budget.
    approved : ApprovedPlan, optional
        Who approved the release.

    Notes
    -----
    Privacy: a plan must contain public knowledge only. Its fingerprint and domains are
    published with the release.

    Examples
    --------
    >>> Plan(attributes={"age": {"numeric": [0, 99]}}).predictors
    ('age',)

    """

    # Not in the repr, because a database URL may hold a password.
    data: Place | None = Field(
        None, repr=False, description="the path or the database URL of the table"
    )
    query: Place | None = Field(
        None,
        repr=False,
        description="the SQL query that selects the table, with a database URL in data",
    )
    table: Name | None = Field(
        None, description="the name of the table in a database, instead of a query"
    )
    reading: ReadingPlan | None = Field(
        None,
        description=(
            "a mapping with the form of a text file (encoding, delimiter, decimal, thousands,"
            " header, quote, malformed) and limits of reading (seconds, megabytes)"
        ),
    )
    missing: Literal["drop", "value"] = Field(
        "drop",
        description="drop (leave out records with a missing value) or value (a value of its own)",
    )
    missing_values: Texts = Field(
        DEFAULT_MARKERS, description="the list of texts that mean a missing value"
    )
    records: Records | None = Field(
        None,
        description=(
            "the approximate, public number of records: check and publish compute with it, and"
            " never count them"
        ),
    )
    attributes: Annotated[dict[Name, AttributePlan], BeforeValidator(_check_attributes)] = Field(
        {}, description="a mapping of column names to roles and domains"
    )
    items: ItemsPlan | None = Field(
        None,
        description="a mapping with the universe of items, for set-valued data: no attributes",
    )
    person: Person | None = Field(
        None,
        description=(
            "the column, or list of columns, that identifies the person of a record; never"
            " released. The guarantee is then for a person with all their records"
        ),
    )
    records_per_person: RecordsPerPerson | None = Field(
        None,
        description=(
            "the largest number of records of one person that count, or auto: chosen privately,"
            " for a twentieth of epsilon"
        ),
    )
    count: Literal["records", "people"] | None = Field(
        None,
        description=(
            "the unit of the counts of a release: records (the default), or people, whose records"
            " share the weight of one person"
        ),
    )
    join: Join | None = Field(
        None,
        description=(
            "union, for baskets: all items of a person are one basket, instead of"
            " records-per-person"
        ),
    )
    one_record_per_person: StrictBool | None = Field(
        None,
        description="true if nobody can have more than one record: protects each person",
    )
    protects: Literal["records"] | None = Field(
        None,
        description=(
            "records: the guarantee is for each record. A person with ten records has ten times"
            " the privacy loss"
        ),
    )
    to_do: Annotated[Texts, BeforeValidator(_check_questions)] = Field(
        (),
        description=(
            "the list of open questions about the plan; remove each one once it is answered. A"
            " plan with an open question cannot be confirmed"
        ),
    )
    confirmed: Confirmation = Field(
        False,
        description="false, true (confirmed by hand, not tied to this plan), or the signature that"
        " 'hedgerow confirm' writes: a mapping with by, on and plan",
    )
    covers: CoversPlan | None = Field(
        None,
        description="a mapping {column: month, values: [2026-11]}: only records with these values"
        " are published, and the ledger adds up by part",
    )
    publish: SerializeAsAny[AnySettings] | None = Field(
        None, description="a mapping with the publishing method and its settings"
    )
    disclose: SerializeAsAny[AnyDisclosePlan] | None = Field(
        None, description="a mapping with the settings of the disclosure of single records"
    )
    ledger: LedgerPlan | None = Field(
        None, description="a mapping with the data set's name and cap in the ledger"
    )

    approved: ApprovedPlan | None = Field(
        None,
        description=(
            "a mapping with who approved the release: by, on and why, all public, and plan, the"
            " fingerprint that 'hedgerow confirm' writes"
        ),
    )

    _base: Path = PrivateAttr(default_factory=Path)

    def _repr_html_(self) -> str:
        published = self.publish or self.disclose
        facts: list[tuple[str, object]] = [
            ("predictors", ", ".join(self.predictors) or None),
            ("class", self.class_name),
            ("items", None if self.items is None else "a universe of items"),
            ("method", None if published is None else published.method),
            ("epsilon", getattr(published, "epsilon", None)),
            ("privacy unit", self.privacy_unit),
            ("data set", None if self.ledger is None else self.ledger.name),
            ("confirmed by", getattr(self.confirmed, "by", None)),
            ("approved by", None if self.approved is None else self.approved.by),
        ]
        waits = "" if self.confirmed else "Not confirmed: nobody stated that the domains are public"
        return card("Plan", facts, warning=waits)

    @property
    def base(self) -> Path:
        """The folder from which relative paths in the plan start: the plan file's own."""
        return self._base

    @property
    def predictors(self) -> tuple[str, ...]:
        """Names of the predictors, in the order of the plan."""
        return tuple(name for name, plan in self.attributes.items() if plan.role == "predictor")

    @property
    def class_name(self) -> str | None:
        """Name of the class attribute, if there is one."""
        return next((name for name, plan in self.attributes.items() if plan.role == "class"), None)

    @property
    def privacy_unit(self) -> PrivacyUnit | None:
        """The privacy unit that the plan states, or ``None``."""
        if self.person is not None:
            return "person"
        if self.one_record_per_person:
            return "one record per person"
        return self.protects

    def why_method(self) -> str | None:
        """Return why a table is published by its method; ``None`` where there is no rule."""
        if not isinstance(self.publish, PrivateSettings) or self.items is not None:
            return None
        mapping = self.model_dump(mode="json", by_alias=True)
        default = written_choice(mapping, mapping["publish"])
        if self.publish.method == default.method:
            return default.reason
        return f"The plan names the method {self.publish.method}; {default.reason}"

    @property
    def protects_people(self) -> bool:
        """Return whether neighbouring tables differ by a person, with all or the only record."""
        return self.person is not None or bool(self.one_record_per_person)

    def people_rule(self) -> PeopleRule | None:
        """Return the rule of the protected persons, or ``None`` if records are protected.

        With ``auto`` its bound is the largest that may be chosen.
        """
        return people_rule(self._of_people())

    def _of_people(self) -> PeopleSettings:
        return PeopleSettings(
            person=self.person,
            records_per_person=self.records_per_person,
            count=self.count,
            one_record_per_person=self.one_record_per_person,
            join=self.join,
            protects=self.protects,
        )

    def how_to_read(self) -> Reading:
        """Return the public rules that turn bytes into records."""
        rules = PLAIN if self.reading is None else self.reading.reading()
        columns = tuple(
            (name, attribute.marks(rules))
            for name, attribute in self.attributes.items()
            if attribute.decimal is not None or attribute.thousands is not None
        )
        return replace(rules, columns=columns) if columns else rules

    @property
    def table_query(self) -> str | None:
        """Return the query that selects the table from a database, or ``None`` for a file."""
        return self.query if self.table is None else select_all(self.table)

    def resolve(self, place: str) -> Path:
        """Return the absolute path of a path written in the plan."""
        return self._base / place

    def at(self, base: Path) -> Self:
        """Return the same plan with relative paths that start from ``base``."""
        copy = self.model_copy()
        copy._base = base
        return copy

    @model_validator(mode="before")
    @classmethod
    def _with_method(cls, content: Any) -> Any:
        return with_method(content)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_source()
        self._check_kind()
        self._check_reading()
        self._check_one_class()
        self._check_missing()
        self._check_answered()
        check_sources(self.attributes)
        check_person_of_items(self._of_people(), self.items)
        released = {name for name, each in self.attributes.items() if each.is_released}
        check_person(self._of_people(), released)
        check_covers(
            self.covers,
            self.attributes,
            for_tables=self.items is None and self.disclose is None,
            of_people=self.protects_people,
        )
        self._check_people_account()
        if self.publish is not None:
            self._check_method(self.publish.method, publishes=self.publish.publishes)
        if self.publish is not None and self.items is None:
            self._check_publish(needs_class=self.publish.class_needed())
        if self.disclose is not None:
            self._check_disclose()
        return self

    def _check_people_account(self) -> None:
        private = isinstance(self.publish, PrivateSettings)
        if self.ledger is None or self.ledger.people is None or not private:
            return
        if not self.protects_people:
            raise mistake(
                "This plan protects records, and an epsilon per record is several times larger"
                " per person.",
                "Give 'person: COLUMN' and 'records-per-person', or, if nobody has more than"
                " one record, 'one-record-per-person: true'; or book on 'dataset: NAME'.",
                key=("ledger", "people"),
            )

    def _check_source(self) -> None:
        is_database = bool(_URL.match(self.data or ""))
        keys = [key for key in ("query", "table") if getattr(self, key) is not None]
        if keys and not is_database:
            raise mistake(
                f"A {keys[0]} needs a database.",
                "Put the database URL in data, for example postgresql://host/name.",
                key=(keys[0],),
            )
        if len(keys) > 1:
            raise mistake("A query is set as well.", "Keep one of the two.", key=("table",))
        if is_database and not keys:
            raise mistake(
                "A database needs a query, or the name of a table.",
                "Give the SELECT that returns the table, or 'table: NAME'.",
                key=("query",),
            )

    def _check_kind(self) -> None:
        if self.items is None and not self.attributes:
            raise mistake(
                "This setting is missing.",
                "Give a mapping of column names to roles and domains, or, for set-valued data,"
                " 'items'.",
                key=("attributes",),
            )
        if self.items is not None and self.attributes:
            raise mistake(
                "Attributes are set as well.",
                "Keep 'attributes' for a table, 'items' for set-valued data.",
                key=("items",),
            )

    def _check_reading(self) -> None:
        if self.reading is not None:
            self.reading.check(is_basket_file=self.items is not None and self.items.is_file)
        for name, marks in self.how_to_read().columns:
            check_marks(marks.decimal, marks.thousands, key=("attributes", name, "thousands"))

    def _check_method(self, method: str, *, publishes: str) -> None:
        kind = "table" if self.items is None else self.items.publishes
        if publishes == kind:
            return
        others = [name for name, other in METHODS.items() if other.publishes == kind]
        described = {"table": "attributes", "baskets": "items", "sequences": "ordered items"}[kind]
        raise mistake(
            f"The method {method!r} does not publish {described}.",
            f"Give one of: {', '.join(others)}.",
            key=("publish", "method"),
        )

    def _check_disclose(self) -> None:
        if self.items is not None:
            raise mistake(
                "Records of items cannot be disclosed one by one.",
                "Remove this section; it is for tables with attributes.",
                key=("disclose",),
            )
        if not self.predictors:
            raise mistake(
                "No attribute is a predictor, so there is nothing to disclose.",
                "Give at least one attribute a domain and no other role.",
                key=("attributes",),
            )
        if self.disclose is not None:
            roles = {name: attribute.role for name, attribute in self.attributes.items()}
            check_disclosed_attributes(self.disclose, roles)

    def _check_one_class(self) -> None:
        classes = [name for name, plan in self.attributes.items() if plan.role == "class"]
        if len(classes) > 1:
            raise mistake(
                f"This is a second class, after {shown(classes[0])}.",
                "Keep one attribute with 'role: class'.",
                key=("attributes", classes[1], "role"),
            )

    def _check_missing(self) -> None:
        for name, plan in self.attributes.items():
            texts = {*self.missing_values, *(plan.missing_values or ())}
            for place, value in enumerate(plan.values or ()):
                if value in texts:
                    raise mistake(
                        f"{shown(value)} means a missing value, by missing-values.",
                        "Remove it from this list, or set 'missing-values' without it.",
                        key=("attributes", name, "values", place),
                    )

    def _check_answered(self) -> None:
        if self.confirmed and self.to_do:
            raise mistake(
                f"The plan is confirmed, and a question is open: {shown(self.to_do[0])}.",
                "Answer it in the plan and remove it from this list, then confirm the plan.",
                key=("to-do", 0),
            )
        for name, attribute in self.attributes.items():
            if self.confirmed and attribute.date is not None and attribute.date.format == "ask":
                raise mistake(
                    "The format of these dates is not answered yet.",
                    "Give the format, such as dd/mm/yyyy or mm/dd/yyyy, then confirm the plan.",
                    key=("attributes", name, "date", "format"),
                )

    def _check_publish(self, *, needs_class: bool) -> None:
        if not self.predictors:
            raise mistake(
                "No attribute is a predictor, so there is nothing to publish.",
                "Give at least one attribute a domain and no other role.",
                key=("attributes",),
            )
        if needs_class and self.class_name is None:
            raise mistake(
                "This method needs a class.",
                "Give one attribute 'role: class' and its values.",
                key=("publish",),
            )
