"""The options of `publish` and `check` for the methods' own settings, read from the registry."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from typing import Annotated, Any, get_args

import typer
from pydantic.fields import FieldInfo
from typer.core import TyperCommand

from hedgerow.errors import PlanError
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import MethodSettings

GENERAL = ("method", "epsilon")
"""Settings with an option of their own on every command, whatever the method."""

PANEL = "Settings of the methods"
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_PAIRS = {"faithful": "--faithful/--improved", "relaxed": "--relaxed/--strict"}
"""Settings that are true or false, and the two names of their option."""


@dataclass(frozen=True, kw_only=True)
class MethodOption:
    """An option for a setting that one method has, or several: ``key`` is as plans spell it."""

    key: str
    names: tuple[str, ...]
    is_flag: bool
    help: str

    @property
    def parameter(self) -> str:
        """The name of the option inside the program."""
        return "set_" + self.key.replace("-", "_")

    @property
    def written(self) -> str:
        """The option as people write it."""
        return _PAIRS.get(self.key, f"--{self.key}") if self.is_flag else f"--{self.key}"


def method_options() -> dict[str, MethodOption]:
    """Return the options of all methods by their key: every setting that is a single value."""
    names: dict[str, list[str]] = {}
    helps: dict[str, list[str]] = {}
    flags: dict[str, bool] = {}
    for method, settings in METHODS.items():
        single = single_valued(settings)
        for name, field in settings.model_fields.items():
            key = field.alias or name
            if key in GENERAL or key not in single:
                continue
            names.setdefault(key, []).append(method)
            flags[key] = bool in _types(field)
            if field.description and field.description not in helps.setdefault(key, []):
                helps[key].append(field.description)
    return {
        key: MethodOption(
            key=key, names=tuple(listed), is_flag=flags[key], help="; or ".join(helps[key])
        )
        for key, listed in names.items()
    }


@cache
def single_valued(settings: type[MethodSettings]) -> frozenset[str]:
    """Return the keys of the settings that are written as one word: no list and no mapping."""
    properties = settings.model_json_schema(by_alias=True)["properties"]
    return frozenset(key for key, shown in properties.items() if _is_single(shown))


def _is_single(shown: Mapping[str, Any]) -> bool:
    parts = [shown, *shown.get("anyOf", ())]
    kinds = {part.get("type") for part in parts}
    return not kinds & {"object", "array"} and not any("$ref" in part for part in parts)


def _types(field: FieldInfo) -> set[Any]:
    return {field.annotation, *get_args(field.annotation)}


def takes_method_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command an option for every setting of every method.

    The command gets those that were given as ``settings``, with the keys of a plan file.
    """
    options = method_options()

    @wraps(command)
    def run(**given: Any) -> Any:
        settings = {}
        for key, option in options.items():
            value = given.pop(option.parameter)
            if value is not None:
                settings[key] = _plain(value)
        with _told_as_options(settings):
            return command(**given, settings=settings)

    shown = inspect.signature(command, eval_str=True)
    own = [each for name, each in shown.parameters.items() if name != "settings"]
    added = [_parameter(option) for option in options.values()]
    run.__signature__ = shown.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in [*own, *added]}
    return run


def _parameter(option: MethodOption) -> inspect.Parameter:
    kind = bool | None if option.is_flag else str | None
    shown = typer.Option(
        option.written,
        help=f"{', '.join(option.names)}: {option.help}.",
        rich_help_panel=PANEL,
        metavar=None if option.is_flag else "VALUE",
    )
    return inspect.Parameter(
        option.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind, shown],
    )


def _plain(value: str | bool) -> str | bool | int:
    """Return a whole number as one; the plan judges any other text."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value


@contextmanager
def _told_as_options(settings: Mapping[str, Any]) -> Iterator[None]:
    """Let a mistake in an option be told by the option's own name."""
    try:
        yield
    except PlanError as error:
        keys = [path.removeprefix("publish.") for path in error.paths]
        told = (error.where or "").startswith("settings")
        if not told or len(keys) != 1 or keys[0] not in settings:
            raise
        raise PlanError(error.what, where=f"--{keys[0]}", do=error.do, paths=error.paths) from error


class MethodCommand(TyperCommand):
    """A command whose help lists its own options first, then those of each method in a line."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the general options, and the methods with the names of theirs."""
        options = {option.parameter: option for option in method_options().values()}
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            listed = [
                each.get_help_record(ctx)
                for each in self.get_params(ctx)
                if each.param_type_name == kind and each.name not in options
            ]
            with formatter.section(title):
                formatter.write_dl([record for record in listed if record is not None])
        rows = [
            (name, " ".join(each.written for each in options.values() if name in each.names))
            for name in METHODS
        ]
        with formatter.section(f"{PANEL} (`hedgerow methods NAME` explains them)"):
            formatter.write_dl([(name, told or "none of its own") for name, told in rows])
