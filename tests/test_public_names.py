"""Every public name has a docstring with NumPy's sections, and it fits the signature."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import pytest

import hedgerow

NAMES = [name for name in hedgerow.__all__ if name != "__version__"]
FUNCTIONS = [name for name in NAMES if inspect.isroutine(getattr(hedgerow, name))]
RESULTS = {
    "AttackReport",
    "BasketRelease",
    "Certificate",
    "Comparison",
    "Disclosure",
    "Evaluation",
    "Forecast",
    "Plan",
    "Release",
    "RiskAssessment",
    "SequenceRelease",
    "Generaliser",
}
"""Classes that a function returns, or whose errors are those of reading one: no Raises."""


def sections(doc: str) -> dict[str, str]:
    """The sections of a docstring by title; the first, untitled one is under ''."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", doc, flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def described(section: str) -> list[str]:
    """The names that a section Parameters describes, in order."""
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    names = [name.strip() for line in lines for name in line.partition(" : ")[0].split(",")]
    return [name.lstrip("*") for name in names]


def parameters(target: Any) -> list[str]:
    """The names of a signature, without those of deprecated keywords."""
    return [name for name in inspect.signature(target).parameters if name != "self"]


def doc_of(name: str) -> dict[str, str]:
    return sections(inspect.getdoc(getattr(hedgerow, name)) or "")


def test_the_names_are_listed_once_and_in_order():
    assert hedgerow.__all__ == sorted(hedgerow.__all__)
    assert dir(hedgerow) == hedgerow.__all__
    assert set(RESULTS) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_its_own(name):
    target = getattr(hedgerow, name)
    assert target.__name__ == name
    assert target.__doc__, "inherited docstrings do not count"


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_has_the_sections(name):
    found = doc_of(name)
    wanted = {"Parameters", "Notes", "Examples"}
    if name in FUNCTIONS:
        wanted |= {"Returns", "Raises"}
    elif name not in RESULTS:
        wanted |= {"Raises"}
    assert wanted <= set(found)
    assert "Privacy:" in found["Notes"]
    assert ">>>" in found["Examples"]
    order = [title for title in found if title]
    known = ["Parameters", "Returns", "Raises", "Notes", "Examples"]
    assert order == [title for title in known if title in order]


@pytest.mark.parametrize("name", NAMES)
def test_the_first_line_is_a_sentence(name):
    first = doc_of(name)[""].splitlines()[0]
    assert first[0].isupper()
    assert first.endswith(".")
    assert len(first) <= 100


@pytest.mark.parametrize("name", NAMES)
def test_the_parameters_are_those_of_the_signature(name):
    assert described(doc_of(name)["Parameters"]) == parameters(getattr(hedgerow, name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_those_of_the_signature(name):
    text = doc_of(name)["Parameters"]
    for parameter in inspect.signature(getattr(hedgerow, name)).parameters.values():
        stated = re.search(rf"^{parameter.name} : .*default=(.+)$", text, flags=re.M)
        if stated is not None:
            assert stated[1] == str(parameter.default) or stated[1] == f'"{parameter.default}"'


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(FUNCTIONS)))
def test_public_methods_have_a_first_line(name):
    own = vars(getattr(hedgerow, name))
    fields = (
        {each.name for each in dataclasses.fields(getattr(hedgerow, name))}
        if (dataclasses.is_dataclass(getattr(hedgerow, name)))
        else set()
    )
    for attribute, value in own.items():
        if attribute.startswith("_") or attribute in fields:
            continue
        target = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
        if inspect.isfunction(target) and target.__module__.startswith("hedgerow"):
            first = (target.__doc__ or "").strip().partition("\n")[0]
            assert first.endswith("."), f"{name}.{attribute}"


def test_a_missing_section_and_a_wrong_parameter_are_found():
    text = "One line.\n\nParameters\n----------\na, b : int\n    Two.\n\nNotes\n-----\nNone.\n"
    found = sections(text)
    assert set(found) == {"", "Parameters", "Notes"}
    assert described(found["Parameters"]) == ["a", "b"]


def test_help_says_the_name_of_the_function():
    shown = inspect.getdoc(hedgerow.draft)
    assert shown is not None
    assert hedgerow.draft.__name__ == hedgerow.draft.__qualname__ == "draft"
    assert next(iter(inspect.signature(hedgerow.draft).parameters)) == "data"
