"""The whole draft: read the table once, propose, write the plan, and check that it loads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hedgerow.drafting.baskets import (
    basket_plan_text,
    basket_settings,
    item_frequencies,
    lines_unit,
    looks_like_baskets,
    refuse_class,
    refuse_no_lines,
)
from hedgerow.drafting.candidates import candidates_in
from hedgerow.drafting.file_forms import file_form_of, file_form_text, file_notes
from hedgerow.drafting.form import column_numbers, form_of, table_form_text
from hedgerow.drafting.labels import apply_labels
from hedgerow.drafting.match import taxonomies_in
from hedgerow.drafting.owned_baskets import BasketColumns, BasketsFound, baskets_in
from hedgerow.drafting.profile import RARE, Profile, profiles_of
from hedgerow.drafting.propose import Context, Proposal, proposals
from hedgerow.drafting.settle import dates_of, settle_marks
from hedgerow.drafting.table_unit import table_unit
from hedgerow.drafting.text import (
    PlaceLines,
    Sections,
    check_texts,
    fits_a_plan,
    ledger_section,
    plan_text,
    relative_path,
)
from hedgerow.drafting.unit import StatedUnit
from hedgerow.errors import DataError, HedgerowError, InternalError
from hedgerow.model.card import card
from hedgerow.model.database import asked_of
from hedgerow.model.reading import MISSING_MARKERS, PLAIN, NumberMarks, Reading
from hedgerow.plan.defaults import table_choice, written_choice
from hedgerow.plan.fields import MAX_TEXT
from hedgerow.plan.load import plan_mapping, plan_of
from hedgerow.plan.model import Plan
from hedgerow.plan.numbers import plain_number
from hedgerow.plan.parse import parse_text
from hedgerow.plan.settings import PrivateSettings
from hedgerow.progress import Progress, no_progress
from hedgerow.read.labelled import value_labels
from hedgerow.read.open import holds_text, is_url, open_table
from hedgerow.read.source import Source

_OFTEN_MISSING = 0.1
_OTHER_PURPOSES = (
    "Other purposes: 'for: classification' to predict the class; 'for: table', without a method,"
    " for a generalised table to read (hedge)."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Draft:
    """A proposed plan: its YAML text with comments, the plan it loads as, and notes.

    The text is shaped by the data and confidential until it is confirmed, so the ``repr`` does not
    show it.
    """

    text: str
    plan: Plan
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Draft({len(self.plan.attributes)} attributes, confidential: see .text)"

    def _repr_html_(self) -> str:
        named = ", ".join(self.plan.attributes) or "items"
        notice = "Confidential: shaped by the data. Read and correct .text before you confirm it."
        return card("Draft of a plan", [("attributes", named)], warning=notice)


def draft(
    data: Any,
    *,
    query: str | None = None,
    table: str | None = None,
    taxonomies: str | Path | None = None,
    class_name: str | None = None,
    items: str | None = None,
    record: str | None = None,
    order: str | None = None,
    ordered: bool = False,
    method: str | None = None,
    purpose: str | None = None,
    epsilon: object = 1,
    person: str | Sequence[str] | None = None,
    records_per_person: int | str | None = None,
    one_record_per_person: bool = False,
    protects_records: bool = False,
    base: Path | None = None,
    progress: Progress = no_progress,
) -> Draft:
    """Propose a plan for a table, for baskets or for sequences.

    Parameters
    ----------
    data : path, URL or dataframe
        A table, or a file of baskets or sequences.
    query, table : str, optional
        With a database URL in ``data``: the query to run, or the table to read.
    taxonomies : path, optional
        Folder of taxonomy files to choose from.
    class_name : str, optional
        Column of the class.
    items : str, optional
        Column of a table that holds items: lists, or one item to a row.
    record : str, optional
        Column that identifies the record of a row, with one item to a row.
    order : str, optional
        Column that orders the rows of a sequence.
    ordered : bool, default=False
        Treat records as sequences.
    method : str, optional
        Publishing method. By default weave for rows and hedge for a table to read or, with few
        records, to predict one class; coterie for baskets and chain for sequences.
    purpose : str, optional
        Purpose of the release of a table: general, classification, counting or clustering for
        rows, or table for a generalised table that people read.
    epsilon : int, float, str or Fraction, default=1
        Privacy budget.
    person : str or sequence of str, optional
        Columns that identify the person of a record.
    records_per_person : int or "auto", optional
        With ``person``: maximum number of records of one person that are used.
    one_record_per_person : bool, default=False
        State that nobody can have more than one record.
    protects_records : bool, default=False
        Protect each record, not the person.
    base : path, optional
        Folder in which the plan will be saved; paths in it are relative to this folder.
    progress : callable, optional
        Called with the name of a step and the fraction of it that is done.

    Returns
    -------
    Draft
        The plan as text with comments, the plan itself, and notes. It is not confirmed, so
        nothing can be published with it. Without a statement of the privacy unit its ``to_do``
        asks for one.

    Raises
    ------
    DataError
        If the data cannot be read, have no records, or lack a named column.
    SettingError
        If settings exclude each other.

    Notes
    -----
    Privacy: **the draft is confidential.** It is computed from the data without noise. Values
    that occur in fewer than 20 records are omitted and bounds are rounded outwards, which
    limits the harm of a slip and is not a guarantee.

    Examples
    --------
    >>> import pyarrow as pa
    >>> visits = pa.table({"age": [20, 70] * 500, "ward": ["A", "B"] * 500})
    >>> draft(visits, one_record_per_person=True)
    Draft(2 attributes, confidential: see .text)

    """

    def reading(fraction: float) -> None:
        progress("reading", fraction)

    folder = base or Path()
    check_texts(data=data, query=query, table=table, items=items, record=record, order=order)
    origin, data = data, asked_of(data, query=query, table=table)
    files, notes = taxonomies_in(Path(taxonomies)) if taxonomies else ([], [])
    stated = StatedUnit.of(
        person,
        records_per_person,
        one_record_per_person=one_record_per_person,
        protects_records=protects_records,
    )
    columns = BasketColumns.of(items, record, order, ordered=ordered)
    if columns is not None:
        refuse_class(class_name, purpose)
        settings = basket_settings(method, epsilon, ordered=columns.ordered)
        form = _form(data)
        place = _place_lines(origin, data, form, query=query, table=table, base=folder)
        owned = _baskets_of(data, form, columns, stated, reading)
        ends = (settings, ledger_section(origin, settings))
        text = owned.text(place, files, ends=ends, base=folder)
        notes += owned.unit.notes()
        return Draft(text=text, plan=_loaded(text, folder), notes=tuple(notes))
    if ordered:
        refuse_no_lines(data)
    if ordered or looks_like_baskets(data):
        refuse_class(class_name, purpose)
        settings = basket_settings(method, epsilon, ordered=ordered)
        unit = lines_unit(stated, ordered=ordered)
        found = item_frequencies(Path(data), progress=reading)
        text = basket_plan_text(
            found, files, publish=settings, base=folder, unit=unit, ordered=ordered
        )
        return Draft(text=text, plan=_loaded(text, folder), notes=tuple(notes))
    provisional = method or table_choice(purpose, None).method
    publish, needs_class, may_count = _publish(provisional, epsilon, purpose)
    form, profiles, unnamed = _read(data, class_name, reading)
    marks = settle_marks(profiles)
    if form is None or file_form_text(data, form) is not None:
        marks = NumberMarks()  # no line of the plan speaks for all columns
    context = Context(files=files, marks=marks, dates=dates_of(profiles), names=tuple(profiles))
    candidates = candidates_in(profiles, dates=context.dates, files=files, but=class_name)
    context = replace(context, candidates=candidates, person=stated.person)
    proposed = proposals(profiles, context, class_name=class_name)
    _check_class(proposed, class_name)
    if form is not None:
        form = replace(form, decimal=marks.decimal, thousands=marks.thousands)
    unit = table_unit(
        partial(_opened, data, form), stated, proposed, context, profiles, may_count=may_count
    )
    sections = Sections(
        place=_place_lines(origin, data, form, query=query, table=table, base=folder),
        missing=_missing_policy(proposed, profiles),
        missing_values=MISSING_MARKERS,
        n_records=max(profile.n_records for profile in profiles.values()),
        proposals=proposed,
        unit=unit,
        unnamed=unnamed,
        publish=publish,
        ledger=ledger_section(origin, publish),
        is_publishable=_is_publishable(proposed, needs_class=needs_class),
    )
    if method is None:
        sections = _with_default(sections, epsilon, purpose, base=folder)
    text = plan_text(sections, base=folder)
    notes += [*_notes(proposed, form), *file_notes(data), *(p.note for p in proposed if p.note)]
    if unnamed:
        notes.append(f"{unnamed} columns are left out: a plan cannot hold their names.")
    notes += unit.notes()
    return Draft(text=text, plan=_loaded(text, folder), notes=tuple(notes))


def _read(
    data: Any, class_name: str | None, progress: Callable[[float], None] | None
) -> tuple[Reading | None, dict[str, Profile], int]:
    """Return the form of the file, the profiles of its columns, and the number of unnamed ones."""
    form = _form(data)
    profiles, unnamed = _profiles_in(data, form, class_name, progress)
    is_lines = form is not None and form.format is None and form.header is True
    if form is not None and is_lines and _begins_with_a_record(profiles):
        form = replace(form, header=column_numbers(len(profiles) + unnamed))
        profiles, unnamed = _profiles_in(data, form, class_name, progress)
    if not any(profile.n_records for profile in profiles.values()):
        raise DataError(
            "The table has no records.", where="data", do="Draft from a table that has some."
        )
    return form, profiles, unnamed


def _profiles_in(
    data: Any,
    form: Reading | None,
    class_name: str | None,
    progress: Callable[[float], None] | None,
) -> tuple[dict[str, Profile], int]:
    with _opened(data, form) as source:
        profiles = _profiles(source, class_name, progress)
        apply_labels(profiles, value_labels(source))
        return profiles, len(source.columns) - len(profiles)


@contextmanager
def _opened(data: Any, form: Reading | None) -> Iterator[Source]:
    with ExitStack() as stack:
        source = open_table(data, reading=form or PLAIN)
        if isinstance(source, AbstractContextManager):
            stack.enter_context(source)
        yield source


def _begins_with_a_record(profiles: Mapping[str, Profile]) -> bool:
    """Return whether the names of a file's columns are like its values: it has no header."""
    names = sum(name in profile.counts for name, profile in profiles.items())
    return names > 1 and 4 * names >= len(profiles)


def _form(data: Any) -> Reading | None:
    """Return the apparent form of a file; ``None`` for other data."""
    if not isinstance(data, str | Path) or is_url(data):
        return None
    if (form := file_form_of(Path(data))) is not None:
        return form
    return form_of(Path(data)) if holds_text(Path(data)) else None


def _with_default(
    sections: Sections, epsilon: object, purpose: str | None, *, base: Path
) -> Sections:
    """Return the draft with the default method for what it says, and the reason for it."""
    described = plan_mapping(_loaded(plan_text(sections, base=base), base))
    choice = written_choice(described, {"epsilon": epsilon, "for": purpose})
    publish, needs_class, _ = _publish(choice.method, epsilon, purpose)
    return replace(
        sections,
        publish=publish,
        why_method=choice.reason if purpose else f"{choice.reason} {_OTHER_PURPOSES}",
        is_publishable=_is_publishable(sections.proposals, needs_class=needs_class),
    )


def _publish(method: str, epsilon: object, purpose: str | None) -> tuple[str, bool, bool]:
    """Return the checked ``publish`` section, and whether it needs a class and may count people."""
    attributes = {"x": {"values": ["a"]}, "y": {"role": "class", "values": ["b"]}}
    settings = {"method": method, "epsilon": epsilon}
    if purpose is not None:
        settings["for"] = purpose
    plan = plan_of({"attributes": attributes, "publish": settings}, where="settings")
    section, may_count = f"method: {method}", False
    if purpose is not None:
        section += f", for: {purpose}"
    if isinstance(plan.publish, PrivateSettings):
        may_count = all(
            plan.publish.refuses_people(has_class=each) is None for each in (True, False)
        )
        section += f", epsilon: {plain_number(plan.publish.epsilon)}"
    needs_class = plan.publish is not None and plan.publish.class_needed()
    return section, needs_class, may_count


def _profiles(
    source: Source, class_name: str | None, progress: Callable[[float], None] | None
) -> dict[str, Profile]:
    columns = [name for name in source.columns if fits_a_plan(name)]
    if class_name is not None and class_name not in columns:
        raise DataError(
            f"The table has no column {class_name!r} for the class.",
            where=source.name,
            do="Name a column of the table; names are case-sensitive.",
        )
    if not columns:
        raise DataError(
            "No column has a name that a plan can hold.",
            where=source.name,
            do=f"Give columns names of printable characters, at most {MAX_TEXT:,} of them.",
        )
    return profiles_of(source, columns, progress=progress)


def _check_class(proposed: Sequence[Proposal], class_name: str | None) -> None:
    for one in proposed:
        if one.name == class_name and not one.settings:
            raise DataError(
                f"No value of the column {class_name!r} occurs in at least {RARE} records.",
                where="class",
                do="Choose a class with few values that many records share.",
            )


def _place_lines(
    origin: Any,
    data: Any,
    form: Reading | None,
    *,
    query: str | None,
    table: str | None,
    base: Path,
) -> PlaceLines:
    return PlaceLines(
        data=_place(origin, base),
        query=query,
        table=table,
        reading=None if form is None else file_form_text(data, form) or table_form_text(form),
    )


def _baskets_of(
    data: Any,
    form: Reading | None,
    columns: BasketColumns,
    stated: StatedUnit,
    progress: Callable[[float], None] | None,
) -> BasketsFound:
    with ExitStack() as stack:
        source = open_table(data, reading=form or PLAIN)
        if isinstance(source, AbstractContextManager):
            stack.enter_context(source)
        return baskets_in(source, columns, stated=stated, progress=progress)


def _place(data: Any, base: Path) -> str | None:
    if isinstance(data, Path):
        return relative_path(data, base)
    if not isinstance(data, str):
        return None
    return data if "://" in data or data.startswith("sqlite:") else relative_path(data, base)


def _missing_policy(proposed: Sequence[Proposal], profiles: Mapping[str, Profile]) -> str:
    """Return ``value`` if dropping records with missing values would lose many, else ``drop``."""
    shares = [_missing(one, profiles[one.name]) for one in proposed if one.role == "predictor"]
    often = max(shares, default=0) > _OFTEN_MISSING or sum(shares) > 2 * _OFTEN_MISSING
    return "value" if often else "drop"


def _missing(one: Proposal, profile: Profile) -> float:
    texts = set(one.settings.get("missing-values", ()))
    unread = sum(n for word, n in profile.known.items() if word in texts)
    return profile.missing_share + unread / max(profile.n_records, 1)


def _is_publishable(proposed: Sequence[Proposal], *, needs_class: bool) -> bool:
    roles = {one.role for one in proposed}
    return "predictor" in roles and ("class" in roles or not needs_class)


def _notes(proposed: Sequence[Proposal], form: Reading | None) -> list[str]:
    notes = []
    if not any(one.role == "class" for one in proposed):
        notes.append("No column looks like a class. Name one with --class if there is one.")
    if form is not None and form.encoding != "utf-8":
        notes.append(
            f"The file is not UTF-8 and was read as {form.encoding}. If letters in the plan"
            " look wrong (Polish or Czech files are windows-1250, Russian ones windows-1251),"
            " save it as UTF-8 and draft again."
        )
    if form is not None and form.malformed == "drop":
        notes.append("Some records are malformed, and this plan leaves them out.")
    if form is not None and form.format is None and isinstance(form.header, tuple):
        notes.append("The first line looks like a record, so the columns are numbered.")
    return notes


def _loaded(text: str, base: Path) -> Plan:
    try:
        parsed = parse_text(text, kind="YAML", where="draft")
        return plan_of(parsed.data, where="draft", base=base)
    except HedgerowError:
        # The message may quote a value of the table, so it is not repeated.
        raise InternalError("The drafted plan does not load.") from None
