"""The kinds of values in a plan, each with its check and its messages.

A field's description completes the sentence "Give …": messages, the JSON schema and the reference
page use the same text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from hedgerow.errors import SettingError
from hedgerow.plan.numbers import NotANumberError, exact_number, plain_number
from hedgerow.plan.parse import MAX_DEPTH
from hedgerow.privacy.budget import parse_delta, parse_epsilon

MAX_CELLS = 10_000_000
MAX_TEXT = 1_000
ROOT = "*"
MAX_H = 100_000
MAX_SPLITS = 10_000_000
MAX_CLUSTERS = 20
MAX_TREE_DEPTH = 1_000
MAX_FAN_OUT = 20
MAX_LENGTH = 100_000
MAX_K = 1_000_000
MAX_HEIGHT = 16
MAX_COUNTED_CELLS = 1_048_576
MAX_DEGREE = 4
MAX_RECORDS = 10**12
# Above this, doubles in the data no longer distinguish adjacent whole numbers.
MAX_BOUND = 10**15
# Control characters, halves of surrogate pairs, line and paragraph separators.
_UNWRITABLE = ("Cc", "Cs", "Zl", "Zp")


class PlanModel(BaseModel):
    """Base of all parts of a plan: frozen, no unknown keys, kebab-case in files."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=lambda name: name.replace("_", "-"),
        validate_by_alias=True,
        validate_by_name=True,
        hide_input_in_errors=True,
    )


def mistake(what: str, do: str = "", *, key: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """Return the error to raise from a check; ``key`` leads from the checked part on."""
    return PydanticCustomError("plan", "{what}", {"what": what, "do": do, "key": key})


def shown(value: object) -> str:
    """Return ``value`` for a message: quoted, without control characters, short."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def respelt(value: object, **names: str) -> object:
    """Return a section with former names of keys replaced by the current ones."""
    if not isinstance(value, Mapping):
        return value
    old = {key for key, new in names.items() if key in value and new not in value}
    return {names[key] if key in old else key: each for key, each in value.items()}


def check_printable(text: str) -> str:
    """Refuse texts that no file or screen can hold: control characters, half characters."""
    if any(unicodedata.category(letter) in _UNWRITABLE for letter in text):
        raise mistake(
            "The text holds a control character.",
            "Remove it: tabs, line ends and NUL count as well.",
        )
    if len(text) > MAX_TEXT:
        raise mistake(f"The text is longer than {MAX_TEXT:,} characters.", "Give a shorter text.")
    return text


def _text(value: object) -> object:
    # Whole numbers have one spelling, so 7 can only mean "7"; 1.0 and true could mean several
    # texts.
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise mistake("This is not a text.", "Write it in quotes.")
    return value


def _not_empty(text: str) -> str:
    if not text.strip():
        raise mistake("The text is empty.", "Give a text.")
    return text


def _check_place(text: str) -> str:
    """Refuse a path, URL or query that no system call and no file in UTF-8 can hold."""
    if any(letter == "\0" or unicodedata.category(letter) == "Cs" for letter in text):
        raise mistake(
            "The text holds a NUL or half a character.",
            "Remove it; only whole characters are allowed.",
        )
    return text


def _label(text: str) -> str:
    if text != text.strip():
        raise mistake("The text has blanks around it.", "Remove them; values are compared without.")
    if text == ROOT:
        raise mistake(f"{ROOT!r} stands for all values together.", "Give the values themselves.")
    return text


def _number(value: object) -> Fraction:
    try:
        number = exact_number(value)
    except NotANumberError as error:
        raise mistake(str(error), "Give a number such as 5, 0.5 or '1/2'.") from None
    if abs(number) > MAX_BOUND:
        raise mistake("The number is too large.", "Give a number between -1e15 and 1e15.")
    return number


def _positive(number: Fraction) -> Fraction:
    if number <= 0:
        raise mistake(f"{shown(plain_number(number))} is out of range.", "Give a number above 0.")
    return number


def _epsilon(value: Any) -> Fraction:
    try:
        return parse_epsilon(value)
    except SettingError as error:
        raise mistake(error.what, error.do or "") from None


def _delta(value: Any) -> Fraction:
    try:
        return parse_delta(value)
    except SettingError as error:
        raise mistake(error.what, error.do or "") from None


def _portion(number: Fraction) -> Fraction:
    if not 0 < number < 1:
        raise mistake(
            f"{shown(plain_number(number))} is out of range.",
            "Give a number above 0 and below 1.",
        )
    return number


def _pair(value: object) -> object:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise mistake("This is not a pair of numbers.", "Give [low, high], for example [0, 100].")
    return value


def _rising_pair(pair: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    low, high = pair
    if low >= high:
        raise mistake(
            f"The lower bound ({shown(plain_number(low))}) is not below the upper bound"
            f" ({shown(plain_number(high))}).",
            "Give [low, high] with low < high.",
        )
    return pair


def _rising_edges(edges: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    if len(edges) < 2:
        raise mistake(
            "The list has fewer than two edges.", "Give at least two numbers, increasing."
        )
    if len(edges) > MAX_CELLS + 1:
        raise mistake(f"The list makes more than {MAX_CELLS:,} cells.", "Give fewer edges.")
    for place, (left, right) in enumerate(pairwise(edges), start=1):
        if left >= right:
            raise mistake(
                f"Edge {place + 1} is not above the one before it.",
                "Give strictly increasing numbers.",
            )
        if float(left) == float(right):
            raise mistake(
                "Two edges are closer than the floating-point numbers of the data.",
                "Give edges further apart.",
            )
    return edges


def _steps(value: object) -> int | Literal["all", "auto"]:
    allowed = f"Give a whole number from 0 to {MAX_H:,}, auto or all."
    if value == "all":
        return "all"
    if value == "auto":
        return "auto"
    if isinstance(value, bool) or not isinstance(value, int):
        raise mistake("This is neither a whole number nor 'auto' or 'all'.", allowed)
    if not 0 <= value <= MAX_H:
        raise mistake(f"{shown(value)} is out of range.", allowed)
    return value


def _some(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise mistake(
            "The list is empty.", "List every value, or leave the column out: 'role: drop'."
        )
    return values


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise mistake(f"The list has {shown(value)} twice.", "List each value once.")
        seen.add(value)
    return values


def _tree(value: object) -> str | dict[str, Any]:
    if isinstance(value, str):
        return _not_empty(check_printable(value))
    if not isinstance(value, Mapping) or not value:
        raise mistake(
            "This is neither a file nor a tree.",
            "Give the path of a taxonomy file, a nested mapping, or a builder; a flat list"
            " belongs in 'values'.",
        )
    tree = _plain(value, depth=0)
    return tree if isinstance(tree, dict) else {}


def _plain(value: object, *, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise mistake(
            f"The tree is nested more than {MAX_DEPTH} levels deep.", "Keep it in a file."
        )
    if isinstance(value, Mapping):
        return {
            check_printable(str(key)): _plain(child, depth=depth + 1)
            for key, child in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(child, depth=depth + 1) for child in value]
    if isinstance(value, str):
        return check_printable(value)
    if isinstance(value, Decimal | float):
        return _finite(value)
    if value is None or isinstance(value, bool | int):
        return value
    raise mistake("A value is neither text nor number.", "Write it in quotes.")


def plain_content(value: object) -> Any:
    """Return JSON-like content with plain numbers, or raise if it holds anything else."""
    return _plain(value, depth=0)


def _finite(value: Decimal | float) -> float:
    number = float(value)
    if number - number != 0:  # nan or infinite
        raise mistake("A number is not finite.", "Give finite numbers.")
    return number


def _not_negative(number: Fraction) -> Fraction:
    if number < 0:
        raise mistake(
            f"{shown(plain_number(number))} is out of range.", "Give 0 or a number above."
        )
    return number


def _share(number: Fraction) -> Fraction:
    if not 0 <= number < 1:
        raise mistake(
            f"{shown(plain_number(number))} is out of range.", "Give a number from 0, below 1."
        )
    return number


def _between(low: int, high: int) -> tuple[Any, Any]:
    """Return the check and the schema of whole numbers from ``low`` to ``high``."""

    def check(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise mistake(
                f"{shown(value)} is out of range.",
                f"Give a whole number from {low} to {high:,}.",
            )
        return value

    schema = {"type": "integer", "minimum": low, "maximum": high}
    return PlainValidator(check), WithJsonSchema(schema)


_NUMBER_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^\s*[+-]?[0-9.]+([eE][+-]?[0-9]+|\s*/\s*[0-9]+)?\s*$"},
    ]
}
_TEXT_SCHEMA: dict[str, Any] = {"type": ["string", "integer"], "maxLength": MAX_TEXT}

Text = Annotated[
    str, AfterValidator(check_printable), BeforeValidator(_text), WithJsonSchema(_TEXT_SCHEMA)
]
Name = Annotated[
    str,
    AfterValidator(_not_empty),
    AfterValidator(check_printable),
    BeforeValidator(_text),
    WithJsonSchema({**_TEXT_SCHEMA, "minLength": 1}),
]
Label = Annotated[Name, AfterValidator(_label)]
Place = Annotated[
    str,
    AfterValidator(_not_empty),
    AfterValidator(_check_place),
    WithJsonSchema({"type": "string", "minLength": 1}),
]
Number = Annotated[
    Fraction,
    BeforeValidator(_number),
    PlainSerializer(plain_number),
    WithJsonSchema(_NUMBER_SCHEMA),
]
Width = Annotated[Number, AfterValidator(_positive)]
Factor = Annotated[Number, AfterValidator(_not_negative)]
Portion = Annotated[Number, AfterValidator(_portion)]
Share = Annotated[Number, AfterValidator(_share)]
FanOut: TypeAlias = Annotated[int, *_between(2, MAX_FAN_OUT)]
Length: TypeAlias = Annotated[int, *_between(1, MAX_LENGTH)]
Letters: TypeAlias = Annotated[int, *_between(1, MAX_TEXT)]
Anonymity: TypeAlias = Annotated[int, *_between(1, MAX_K)]
Splits: TypeAlias = Annotated[int, *_between(0, MAX_SPLITS)]
Clusters: TypeAlias = Annotated[int, *_between(2, MAX_CLUSTERS)]
TreeDepth: TypeAlias = Annotated[int, *_between(1, MAX_TREE_DEPTH)]
Height: TypeAlias = Annotated[int, *_between(1, MAX_HEIGHT)]
Cells: TypeAlias = Annotated[int, *_between(2, MAX_COUNTED_CELLS)]
Degree: TypeAlias = Annotated[int, *_between(1, MAX_DEGREE)]
Records: TypeAlias = Annotated[int, *_between(1, MAX_RECORDS)]
Epsilon = Annotated[
    Fraction,
    BeforeValidator(_epsilon),
    PlainSerializer(plain_number),
    WithJsonSchema(_NUMBER_SCHEMA),
]
Delta = Annotated[
    Fraction,
    BeforeValidator(_delta),
    PlainSerializer(plain_number),
    WithJsonSchema(_NUMBER_SCHEMA),
]
Bounds = Annotated[tuple[Number, Number], BeforeValidator(_pair), AfterValidator(_rising_pair)]
Edges = Annotated[tuple[Number, ...], AfterValidator(_rising_edges)]
Values = Annotated[tuple[Label, ...], AfterValidator(_some), AfterValidator(_distinct)]
Texts = Annotated[tuple[Text, ...], AfterValidator(_distinct)]
TaxonomyGiven = Annotated[
    str | dict[str, Any],
    PlainValidator(_tree),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "object", "minProperties": 1}]}
    ),
]
Steps = Annotated[
    int | Literal["all", "auto"],
    PlainValidator(_steps),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_H},
                {"enum": ["auto", "all"]},
            ]
        }
    ),
]
