"""Noisy weights of single values, which a method may publish beside its boxes: `marginals.json`.

They state how records are distributed inside the ranges of a box, so that sampled records follow
the data more closely than a uniform distribution. Numbers are stored exactly: records sampled from
a release that was read back follow exactly the same distribution.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hedgerow.errors import InternalError, ReleaseError
from hedgerow.model.labels import leaf_labels
from hedgerow.model.schema import Schema

FORMAT_VERSION = 1

Marginals = tuple[NDArray[np.float64], ...]
Weight = Annotated[float, Field(ge=0)]


class _Stored(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False
    )


class _StoredMarginal(_Stored):
    name: str
    weights: tuple[tuple[Weight, ...], ...] = Field(min_length=1)


class _StoredMarginals(_Stored):
    format_version: Literal[1] = Field(alias="format-version")
    classes: tuple[str, ...] | None
    attributes: tuple[_StoredMarginal, ...]


def check_marginals(schema: Schema, marginals: Marginals) -> None:
    """Raise unless every attribute has one usable array of weights."""
    target = schema.class_attribute
    columns = {1} if target is None else {1, target.domain.size}
    if len(marginals) != len(schema.attributes):
        raise InternalError("The number of marginals differs from that of the attributes.")
    for attribute, weights in zip(schema.attributes, marginals, strict=True):
        if weights.ndim != 2 or len(weights) != attribute.domain.size:
            raise InternalError("A marginal does not have one row per value of its attribute.")
        if weights.shape[1] not in columns:
            raise InternalError("A marginal must have one column, or one per class.")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InternalError("A marginal has negative or infinite weights.")


def marginals_text(schema: Schema, marginals: Marginals) -> str:
    """Return the text of `marginals.json`, one line per attribute and class."""
    check_marginals(schema, marginals)
    target = schema.class_attribute
    by_class = any(weights.shape[1] > 1 for weights in marginals)
    classes = leaf_labels(target.domain) if target is not None and by_class else None
    blocks = []
    for attribute, weights in zip(schema.attributes, marginals, strict=True):
        rows = ",\n".join(f"      {json.dumps(_numbers(column))}" for column in weights.T)
        name = json.dumps(attribute.name, ensure_ascii=False)
        blocks.append(f'    {{"name": {name}, "weights": [\n{rows}\n    ]}}')
    head = f'  "format-version": {FORMAT_VERSION},\n'
    head += f'  "classes": {json.dumps(classes, ensure_ascii=False)},\n'
    return "{\n" + head + '  "attributes": [\n' + ",\n".join(blocks) + "\n  ]\n}\n"


def _numbers(column: NDArray[np.float64]) -> list[int | float]:
    """Return exact numbers, integers without a decimal point."""
    return [int(each) if each.is_integer() else each for each in column.tolist()]


def marginals_from(text: str, schema: Schema, *, where: str = "marginals.json") -> Marginals:
    """Read marginals back, or raise an error that says what is wrong with them."""
    try:
        stored = _StoredMarginals.model_validate_json(text)
        names = [each.name for each in stored.attributes]
        if names != [attribute.name for attribute in schema.attributes]:
            raise InternalError("The marginals belong to other attributes.")
        marginals = tuple(_restored(each) for each in stored.attributes)
        check_marginals(schema, marginals)
    except (ValidationError, InternalError) as error:
        raise ReleaseError(
            "These are not marginals that this version can read.",
            where=where,
            do="Give a release folder that `hedgerow publish` wrote.",
        ) from error
    return marginals


def _restored(stored: _StoredMarginal) -> NDArray[np.float64]:
    if len({len(column) for column in stored.weights}) > 1:
        raise InternalError("The number of weights of an attribute differs between classes.")
    return np.ascontiguousarray(np.array(stored.weights, dtype=np.float64).T)
