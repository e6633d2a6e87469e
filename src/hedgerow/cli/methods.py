"""`hedgerow methods`: list the publishing methods and their settings."""

from __future__ import annotations

from typing import Any

from hedgerow.cli.console import JsonOption, QuietOption, answer, say
from hedgerow.cli.options import MethodArgument
from hedgerow.errors import SettingError


def methods_command(
    name: MethodArgument = None,
    *,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the publishing methods and their purpose, or the settings of one.

    Example: hedgerow methods hedge
    """
    from hedgerow.plan.registry import METHODS

    if name is not None and name not in METHODS:
        raise SettingError(
            f"{name!r} is not a method.", where="methods", do=f"Give one of: {', '.join(METHODS)}."
        )
    listed = [method_facts(each) for each in ([name] if name else METHODS)]
    result = listed[0] if name else {"methods": [_without_settings(each) for each in listed]}

    def show() -> None:
        if not quiet:
            _show_one(listed[0]) if name else _show_all(listed)

    answer(result, as_json=as_json, show=show)


def method_facts(name: str) -> dict[str, Any]:
    """Return the purpose of a method, and its settings with their defaults."""
    from hedgerow.cli.settings import option_name, single_valued
    from hedgerow.plan.defaults import (
        DEFAULT_BASKET_METHOD,
        DEFAULT_METHOD,
        DEFAULT_SEQUENCE_METHOD,
    )
    from hedgerow.plan.registry import METHODS
    from hedgerow.plan.settings import PrivateSettings

    settings = METHODS[name]
    single = single_valued(settings)
    return {
        "name": name,
        "for": _purpose(settings.__doc__ or ""),
        "publishes": settings.publishes,
        "private": issubclass(settings, PrivateSettings),
        "default": name in (DEFAULT_METHOD, DEFAULT_BASKET_METHOD, DEFAULT_SEQUENCE_METHOD),
        "settings": [
            {
                "key": field.alias or attribute,
                "option": f"--{option_name(field.alias or attribute)}"
                if (field.alias or attribute) in single
                else None,
                "is": field.description,
                "default": None if field.is_required() else _shown(field.default),
                "required": field.is_required(),
            }
            for attribute, field in settings.model_fields.items()
            if attribute != "method"
        ],
    }


def _purpose(doc: str) -> str:
    """Return the first line of a docstring, without the method's name before it."""
    line = doc.strip().splitlines()[0]
    said = line.partition(": ")[2] or line
    return said[0].upper() + said[1:]


def _shown(default: Any) -> str | None:
    return None if default in (None, {}) else str(default).lower()


def _without_settings(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key != "settings"}


def _show_all(listed: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    titles = (
        ("table", "For tables"),
        ("baskets", "For baskets"),
        ("sequences", "For sequences"),
    )
    for publishes, title in titles:
        table = Table(title=title, title_justify="left", show_header=False, box=None)
        for facts in listed:
            if facts["publishes"] == publishes:
                mark = " (default)" if facts["default"] else ""
                promise = "" if facts["private"] else " Not differentially private."
                table.add_row(f"[bold]{facts['name']}[/bold]{mark}", escape(facts["for"]) + promise)
        say(table)
    say("The settings of one: hedgerow methods NAME")


def _show_one(facts: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    say(f"[bold]{facts['name']}[/bold]: {escape(facts['for'])}")
    if not facts["private"]:
        say("Not differentially private.")
    table = Table()
    for title in ("in a plan", "as an option", "meaning", "default"):
        table.add_column(title)
    for each in facts["settings"]:
        default = "required" if each["required"] else each["default"] or "–"
        option = each["option"] or "only in a plan"
        table.add_row(each["key"], option, escape(each["is"] or ""), escape(default))
    say(table)
