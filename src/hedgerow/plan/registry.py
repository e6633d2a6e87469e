"""The list of publishing methods, one line each.

The line names the class of the method's settings, in the method's own folder. The plan file, its
messages and JSON schema, the options of the command line and the documentation follow from that
class; its ``build`` creates the method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from hedgerow.plan.defaults import (
    DEFAULT_BASKET_METHOD,
    DEFAULT_METHOD,
    DEFAULT_SEQUENCE_METHOD,
    written_choice,
)
from hedgerow.plan.settings import MethodSettings

_HOMES = {
    "hedge": "methods.hedge.settings:HedgeSettings",
    "weave": "methods.weave.settings:WeaveSettings",
    "diffgen": "methods.diffgen.settings:DiffGenSettings",
    "diffmulti": "methods.diffmulti.settings:DiffMultiSettings",
    "coterie": "methods.coterie.settings:CoterieSettings",
    "diffpart": "methods.diffpart.settings:DiffPartSettings",
    "basic": "baselines.basic.settings:BasicSettings",
    "chain": "methods.chain.settings:ChainSettings",
    "basic-table": "baselines.basic_table.settings:BasicTableSettings",
    "rps": "baselines.rps.settings:RpsSettings",
    "dpcube": "baselines.dpcube.settings:DPCubeSettings",
    "privbayes": "baselines.privbayes.settings:PrivBayesSettings",
    "supermodular": "disclosure.private.settings:SupermodularSettings",
    "truthful": "disclosure.private.settings:TruthfulSettings",
    "sample": "disclosure.private.settings:SampleSettings",
    "mondrian": "baselines.kanonymity.settings:MondrianSettings",
    "tds": "baselines.kanonymity.settings:TdsSettings",
    "full-domain": "baselines.kanonymity.settings:FullDomainSettings",
}
"""Every method, with the class of its settings below ``hedgerow``."""


class _Methods(Mapping[str, type[MethodSettings]]):
    """The settings of every method by its name, loaded at first use."""

    def __init__(self) -> None:
        self._loaded: dict[str, type[MethodSettings]] = {}
        self._further: dict[str, type[MethodSettings]] = {}

    def __getitem__(self, name: str) -> type[MethodSettings]:
        if name in self._further:
            return self._further[name]
        if name not in self._loaded:
            module, _, settings = _HOMES[name].partition(":")
            found = getattr(import_module(f"hedgerow.{module}"), settings)
            self._loaded[name] = found
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        yield from (*_HOMES, *self._further)

    def __len__(self) -> int:
        return len(_HOMES) + len(self._further)

    def add(self, settings: type[MethodSettings]) -> None:
        """Add a method from outside the package, under the name in its settings."""
        self._further[settings.name()] = settings

    def remove(self, name: str) -> None:
        """Remove a method from outside the package."""
        del self._further[name]


METHODS = _Methods()


def with_method(plan: Any) -> Any:
    """Return a plan's content with the default method for its data, if it names none."""
    if not isinstance(plan, Mapping):
        return plan
    publish = plan.get("publish")
    if not isinstance(publish, Mapping) or "method" in publish:
        return plan
    items = plan.get("items")
    if items is None:
        return {**plan, "publish": {"method": written_choice(plan, publish).method, **publish}}
    ordered = isinstance(items, Mapping) and items.get("ordered") is True
    method = DEFAULT_SEQUENCE_METHOD if ordered else DEFAULT_BASKET_METHOD
    return {**plan, "publish": {"method": method, **publish}}


def method_of(value: Any) -> str | None:
    """Return the method in a ``publish`` section, or the default one."""
    if isinstance(value, MethodSettings):
        return value.method
    if isinstance(value, Mapping):
        method = value.get("method", DEFAULT_METHOD)
        return method if isinstance(method, str) else None
    return DEFAULT_METHOD  # not a mapping: the method's own check reports it


class _ByMethod:
    """Instruction to pydantic to check ``publish`` with the class of its method."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {name: handler.generate_schema(model) for name, model in METHODS.items()}
        return core_schema.tagged_union_schema(choices, discriminator=method_of)


AnySettings = Annotated[MethodSettings, _ByMethod]
