"""Options for the settings of methods, derived from the models that check plan files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hedgerow.cli.former import HedgerowCommand
from hedgerow.errors import PlanError
from hedgerow.plan.disclose import DISCLOSE_METHODS
from hedgerow.plan.registry import METHODS

Section: TypeAlias = Literal["publish", "disclose"]
"""The part of a plan that settings belong to."""

GENERAL = ("method", "epsilon", "against")
"""Settings with an option of their own on every command, whatever the method."""

PANEL = "Settings of the methods"
_TRUE_TO = re.compile(r"true to (.*?), else false")
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_PAIRS = {"faithful": "--faithful/--improved", "relaxed": "--relaxed/--strict"}
"""Settings that are true or false, and the two names of their option."""

_NAMES = {
    "version": "draw-by",
    "key": "record-id",
    "memory": "history",
    "width": "slice-width",
}
"""Settings whose key in a plan is the name of an option with another meaning."""

_DISCLOSE_NAMES = {"share": "match-share", "rate": "utility-rate"}
"""Settings of ``disclose`` whose key has another meaning under ``publish``."""

_PLACES = ("memory", "risk.weights")
"""Settings that are paths: options are relative to the working folder, not to the plan's."""


@dataclass(frozen=True, kw_only=True)
class SettingOption:
    """An option for a setting of one or more methods.

    ``key`` is the path of the setting in the plan's section, such as ``risk.model``; ``names``
    are the methods that have it.
    """

    key: str
    option: str
    names: tuple[str, ...]
    is_flag: bool
    help: str

    @property
    def parameter(self) -> str:
        """Name of the command's parameter."""
        return "set_" + re.sub(r"[-.]", "_", self.key)

    @property
    def written(self) -> str:
        """The option as it is typed; two names for a choice of true or false."""
        return _PAIRS.get(self.option, f"--{self.option}") if self.is_flag else f"--{self.option}"


def option_name(key: str, section: Section = "publish") -> str:
    """Return the name of a setting's option, without dashes; usually the key in the plan.

    >>> option_name("leaf-table"), option_name("risk.at-most"), option_name("memory")
    ('leaf-table', 'at-most', 'history')
    """
    last = key.rpartition(".")[2]
    names = {**_NAMES, **_DISCLOSE_NAMES} if section == "disclose" else _NAMES
    return names.get(last, last)


def setting_options(section: Section) -> dict[str, SettingOption]:
    """Return the options of all methods, by key: settings with a single value."""
    methods: Mapping[str, type[BaseModel]] = METHODS if section == "publish" else DISCLOSE_METHODS
    names: dict[str, list[str]] = {}
    helps: dict[str, list[str]] = {}
    flags: dict[str, bool] = {}
    for method, settings in methods.items():
        for key, field in _single_fields(settings):
            if key in GENERAL:
                continue
            names.setdefault(key, []).append(method)
            flags[key] = bool in _types(field)
            if field.description and field.description not in helps.setdefault(key, []):
                helps[key].append(field.description)
    return {
        key: SettingOption(
            key=key,
            option=option_name(key, section),
            names=tuple(listed),
            is_flag=flags[key],
            help=_help(helps[key], [] if len(listed) == len(methods) else listed),
        )
        for key, listed in names.items()
    }


def _help(descriptions: list[str], names: list[str]) -> str:
    """Return a help line from what completes the sentence "Give ...", and the methods.

    >>> _help(["true to round at random, else false"], ["approx"])
    'Round at random (approx).'
    """
    words = "; or ".join(descriptions)
    flag = _TRUE_TO.fullmatch(words)
    sentence = flag[1][:1].upper() + flag[1][1:] if flag else f"Give {words}"
    return f"{sentence} ({', '.join(names)})." if names else f"{sentence}."


@cache
def single_valued(settings: type[BaseModel]) -> frozenset[str]:
    """Return the keys of the settings that are written as one word: no list and no mapping."""
    properties = settings.model_json_schema(by_alias=True)["properties"]
    return frozenset(key for key, shown in properties.items() if _is_single(shown))


def _single_fields(settings: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the single-valued settings and their keys, those of nested mappings too."""
    single = single_valued(settings)
    for name, field in settings.model_fields.items():
        key = field.alias or name
        inner = field.annotation
        if key in single:
            yield key, field
        elif isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from ((f"{key}.{below}", each) for below, each in _single_fields(inner))


def _is_single(shown: Mapping[str, Any]) -> bool:
    """Return whether a JSON schema allows a text, a number, true or false."""
    parts = [shown, *shown.get("anyOf", ())]
    kinds: set[str] = set()
    for part in parts:
        kind = part.get("type", ())
        kinds |= {kind} if isinstance(kind, str) else set(kind)
    return bool(kinds - {"object", "array", "null"})


def _types(field: FieldInfo) -> set[Any]:
    return {field.annotation, *get_args(field.annotation)}


def takes_settings(command: Callable[..., Any], section: Section) -> Callable[..., Any]:
    """Give a command an option for each setting of each method of a section.

    The command gets those that are set as ``settings``, nested as in a plan file.
    """
    options = setting_options(section)

    @wraps(command)
    def run(**arguments: Any) -> Any:
        values = {key: arguments.pop(option.parameter) for key, option in options.items()}
        written = {
            key: _plain(key, value)
            for key, value in values.items()
            if value is not None and not (value is False and options[key].option not in _PAIRS)
        }
        with _named_as_options(section, {key: options[key] for key in written}):
            return command(**arguments, settings=_nested(written))

    shown = inspect.signature(command, eval_str=True)
    own = [each for name, each in shown.parameters.items() if name != "settings"]
    added = [_parameter(option) for option in options.values()]
    run.__signature__ = shown.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in [*own, *added]}
    return run


def _parameter(option: SettingOption) -> inspect.Parameter:
    kind = bool | None if option.is_flag else str | None
    shown = typer.Option(
        option.written,
        help=option.help,
        rich_help_panel=PANEL,
        metavar=None if option.is_flag else "VALUE",
    )
    return inspect.Parameter(
        option.parameter,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind, shown],
    )


def _plain(key: str, value: str | bool) -> str | bool | int:
    """Return an integer as one and a path from here; the plan checks any other text."""
    if isinstance(value, str) and key in _PLACES:
        return str(Path(value).absolute())
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return value


def _nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with paths as keys as nested mappings.

    >>> _nested({"risk.model": 2, "lambda": "1/2"})
    {'risk': {'model': 2}, 'lambda': '1/2'}
    """
    nested: dict[str, Any] = {}
    for key, value in settings.items():
        section, _, last = key.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[last] = value
    return nested


@contextmanager
def _named_as_options(section: Section, options: Mapping[str, SettingOption]) -> Iterator[None]:
    """Report a mistake in an option under the name of the option."""
    try:
        yield
    except PlanError as error:
        keys = [path.removeprefix(f"{section}.") for path in error.paths]
        of_settings = (error.where or "").startswith("settings")
        if not of_settings or len(keys) != 1 or keys[0] not in options:
            raise
        name = f"--{options[keys[0]].option}"
        raise PlanError(error.what, where=name, do=error.do, paths=error.paths) from error


class PublishingCommand(HedgerowCommand):
    """A command whose help lists its own options, then those of each method on one line."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the general options, and the methods with the names of theirs."""
        options = {each.parameter: each for each in setting_options("publish").values()}
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
            formatter.write_dl([(name, names or "none") for name, names in rows])
