"""The whole draft: read the table once, propose, write it down, and check that it loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.drafting.baskets import (
    basket_plan_text,
    basket_settings,
    item_frequencies,
    looks_like_baskets,
    refuse_class,
)
from hedgerow.drafting.form import form_of, table_form_text
from hedgerow.drafting.match import taxonomies_in
from hedgerow.drafting.profile import MISSING_TEXTS, RARE, Profile, profiles_of
from hedgerow.drafting.propose import Proposal, proposals
from hedgerow.drafting.text import Sections, ledger_section, plan_text, relative_path
from hedgerow.errors import DataError, HedgerowError, InternalError
from hedgerow.model.card import card
from hedgerow.model.reading import PLAIN, Reading
from hedgerow.plan.load import plan_of
from hedgerow.plan.model import Plan
from hedgerow.plan.numbers import plain_number
from hedgerow.plan.parse import parse_text
from hedgerow.plan.registry import DEFAULT_BASKET_METHOD, DEFAULT_METHOD
from hedgerow.plan.settings import PrivateSettings
from hedgerow.read.open import holds_text, is_url, open_table
from hedgerow.read.source import Source

_OFTEN_MISSING = 0.1


@dataclass(frozen=True, kw_only=True, repr=False)
class Draft:
    """A proposed plan: its YAML text with comments, the plan it loads as, and notes.

    The text is shaped by the data and confidential until it is confirmed: it is not shown unless
    it is asked for.
    """

    text: str
    plan: Plan
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Draft({len(self.plan.attributes)} attributes, confidential: see .text)"

    def _repr_html_(self) -> str:
        named = ", ".join(self.plan.attributes) or "items"
        told = "Confidential: shaped by the data. Read .text and correct it before you confirm it"
        return card("Draft of a plan", [("attributes", named)], warning=told)


def draft_plan(
    data: Any,
    *,
    query: str | None = None,
    taxonomies: str | Path | None = None,
    class_name: str | None = None,
    method: str | None = None,
    epsilon: object = 1,
    base: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Draft:
    """Return a proposed plan for ``data``: a table (file, URL or dataframe) or a basket file.

    ``taxonomies`` is a folder of taxonomy files, ``base`` the folder where the plan will
    lie. ``method`` is hedge unless given, and diffpart for baskets. The plan is not
    confirmed, so nothing can be published with it as it is.

    Privacy: **the draft is confidential.** It is shaped by the data, without any noise.
    It leaves out values in fewer than 20 records and rounds bounds outwards to make a
    slip less harmful, which is no guarantee.
    """
    folder = base or Path()
    files, notes = taxonomies_in(Path(taxonomies)) if taxonomies else ([], [])
    if query is None and looks_like_baskets(data):
        refuse_class(class_name)
        settings = basket_settings(method or DEFAULT_BASKET_METHOD, epsilon)
        found = item_frequencies(Path(data), progress=progress)
        text = basket_plan_text(found, files, publish=settings, base=folder)
        return Draft(text=text, plan=_loaded(text, folder), notes=tuple(notes))
    publish = _publish(method or DEFAULT_METHOD, epsilon)
    with ExitStack() as stack:
        form = _form(data)
        source = open_table(data, query=query, reading=form or PLAIN)
        if isinstance(source, AbstractContextManager):
            stack.enter_context(source)
        profiles = _profiles(source, class_name, progress)
        unnamed = len(source.columns) - len(profiles)
    proposed = proposals(profiles, files, class_name=class_name)
    _check_class(proposed, class_name)
    sections = Sections(
        data=_place(data, folder),
        query=query,
        reading=None if form is None else table_form_text(form),
        missing=_missing_policy(proposed, profiles),
        missing_values=_missing_values(profiles),
        proposals=proposed,
        unnamed=unnamed,
        publish=publish,
        ledger=ledger_section(data, publish),
        is_publishable=_is_publishable(proposed),
    )
    text = plan_text(sections, base=folder)
    notes += _notes(proposed)
    if form is not None and form.malformed == "drop":
        notes.append("some records are malformed, and this plan leaves them out")
    return Draft(text=text, plan=_loaded(text, folder), notes=tuple(notes))


def _form(data: Any) -> Reading | None:
    """Return how a text file looks to be written; nothing for what is none."""
    if not isinstance(data, str | Path) or is_url(data):
        return None
    return form_of(Path(data)) if holds_text(Path(data)) else None


def _publish(method: str, epsilon: object) -> str:
    """Return the ``publish`` section, checked by itself before the data is read."""
    attributes = {"x": {"values": ["a"]}, "y": {"role": "class", "values": ["b"]}}
    settings = {"method": method, "epsilon": epsilon}
    plan = plan_of({"attributes": attributes, "publish": settings}, where="settings")
    section = f"method: {method}"
    if isinstance(plan.publish, PrivateSettings):
        section += f", epsilon: {plain_number(plan.publish.epsilon)}"
    return section


def _profiles(
    source: Source, class_name: str | None, progress: Callable[[float], None] | None
) -> dict[str, Profile]:
    columns = [name for name in source.columns if name.strip() and name.isprintable()]
    if class_name is not None and class_name not in columns:
        raise DataError(
            f"there is no column {class_name!r} to be the class",
            where=source.name,
            do="Name a column of the table; names are case-sensitive.",
        )
    profiles = profiles_of(source, columns, progress=progress)
    if not any(profile.n_records for profile in profiles.values()):
        raise DataError(
            "the table has no records", where=source.name, do="Draft from a table that has some."
        )
    # A file without a header: its first record gave the columns their names.
    if sum(name in profile.counts for name, profile in profiles.items()) > 1:
        raise DataError(
            "the first line looks like a record, not like column names",
            where=source.name,
            do="Put a line of column names at the top of the file, or name the columns in the plan"
            " ('reading: {header: [age, job]}').",
        )
    return profiles


def _check_class(proposed: Sequence[Proposal], class_name: str | None) -> None:
    for one in proposed:
        if one.name == class_name and not one.values and one.match is None:
            raise DataError(
                f"no value of the column {class_name!r} is in {RARE} records or more",
                where="class",
                do="Choose a class with few values that many records share.",
            )


def _place(data: Any, base: Path) -> str | None:
    if isinstance(data, Path):
        return relative_path(data, base)
    if not isinstance(data, str):
        return None
    return data if "://" in data or data.startswith("sqlite:") else relative_path(data, base)


def _missing_policy(proposed: Sequence[Proposal], profiles: Mapping[str, Profile]) -> str:
    """Keep missing values as values where dropping would cost many records."""
    read = [profiles[one.name] for one in proposed if one.role == "predictor"]
    often = any(profile.missing_share > _OFTEN_MISSING for profile in read)
    return "value" if often else "drop"


def _missing_values(profiles: Mapping[str, Profile]) -> list[str]:
    seen = {"", "?"}.union(*(profile.missing_texts for profile in profiles.values()))
    return [text for text in MISSING_TEXTS if text in seen]


def _is_publishable(proposed: Sequence[Proposal]) -> bool:
    roles = {one.role for one in proposed}
    return {"predictor", "class"} <= roles


def _notes(proposed: Sequence[Proposal]) -> list[str]:
    if any(one.role == "class" for one in proposed):
        return []
    return ["no column looks like a class: name one with --class"]


def _loaded(text: str, base: Path) -> Plan:
    try:
        parsed = parse_text(text, kind="YAML", where="draft")
        return plan_of(parsed.data, where="draft", base=base)
    except HedgerowError:
        # The message may quote a value of the table, so it is not passed on.
        raise InternalError("the drafted plan does not load") from None
