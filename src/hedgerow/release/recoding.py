"""The ranges of a release, which other rows can be recoded to: `recoding.json`.

The file is self-contained: it repeats the public domains, so that neither the plan nor its taxonomy
files are needed to apply it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from hedgerow.errors import InputError, InternalError, ReleaseError
from hedgerow.model.groups import Groups, Ranges, Tree
from hedgerow.model.labels import leaf_labels, range_labels
from hedgerow.model.locate import box_bounds, box_of, check_tree
from hedgerow.model.schema import Schema
from hedgerow.model.table import EncodedTable
from hedgerow.release.recoding_file import StoredRecoding, recoding_text
from hedgerow.release.table import labelled

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True, eq=False)
class Recoding:
    """The public domains of a table and the labelled ranges of a release.

    ``is_cut`` says that every record has exactly one range of each attribute, whatever
    its other values are. Otherwise ``tree`` leads a record to its box, and ``boxes``
    holds, per attribute, the range of every box; a release of boxes without a tree has
    neither, and other rows cannot be recoded.
    """

    schema: Schema
    ranges: tuple[Ranges, ...]
    labels: tuple[list[str], ...]
    is_cut: bool
    tree: Tree | None = None
    boxes: tuple[NDArray[np.int32], ...] | None = None

    def __post_init__(self) -> None:
        for attribute, ranges, labels in zip(
            self.schema.attributes, self.ranges, self.labels, strict=True
        ):
            if self.is_cut:
                ranges.partition_of(attribute.domain.size)
            highest = int(ranges.stop.max(initial=0))  # a release may have no groups
            if highest > attribute.domain.size or len(set(labels)) != len(ranges):
                raise InternalError("Ranges exceed their domain, or two have the same label.")
        if (self.tree is None) != (self.boxes is None) or (self.is_cut and self.tree is not None):
            raise InternalError("Boxes need a tree, and a tree needs boxes.")
        if self.tree is not None and self.boxes is not None:
            self._check_boxes(self.tree, self.boxes)

    def _check_boxes(self, tree: Tree, boxes: tuple[NDArray[np.int32], ...]) -> None:
        """Raise unless the boxes are the leaves of the tree."""
        sizes = [attribute.domain.size for attribute in self.schema.attributes]
        check_tree(tree, sizes)
        first, stop = box_bounds(tree, sizes)
        for at, (ranges, of_boxes) in enumerate(zip(self.ranges, boxes, strict=True)):
            fits = len(of_boxes) == len(first) and of_boxes.max() < len(ranges)
            if (
                not fits
                or not np.array_equal(ranges.first[of_boxes], first[:, at])
                or not np.array_equal(ranges.stop[of_boxes], stop[:, at])
            ):
                raise InternalError("The boxes are not the leaves of the tree.")

    @classmethod
    def of(cls, schema: Schema, groups: Groups) -> Recoding:
        """Return the recoding of a release."""
        labels = tuple(
            range_labels(attribute.domain, ranges)
            for attribute, ranges in zip(schema.attributes, groups.ranges, strict=True)
        )
        return cls(
            schema=schema,
            ranges=groups.ranges,
            labels=labels,
            is_cut=groups.is_cut,
            tree=groups.tree,
            boxes=groups.boxes,
        )

    def apply(self, table: EncodedTable) -> pa.Table:
        """Return the rows of ``table`` with the release's labels, and with their class, if any.

        Privacy: none is added. The result has one row per record of ``table`` and is as
        confidential as that.
        """
        import pyarrow as pa

        columns: dict[str, pa.Array] = {
            attribute.name: labelled(places, labels)
            for attribute, labels, places in zip(
                self.schema.attributes, self.labels, self._places(table), strict=True
            )
        }
        of_class = table.schema.class_attribute
        if of_class is not None and table.classes is not None:
            columns[of_class.name] = labelled(table.classes, leaf_labels(of_class.domain))
        return pa.table(columns)

    def _places(self, table: EncodedTable) -> list[NDArray[np.int32]]:
        """Return the range of each record, per attribute."""
        if self.is_cut:
            return [
                ranges.partition_of(attribute.domain.size)[codes]
                for attribute, ranges, codes in zip(
                    self.schema.attributes, self.ranges, table.codes, strict=True
                )
            ]
        if self.tree is None or self.boxes is None:
            raise ReleaseError(
                "The boxes of this release do not form one cut, and no tree leads to them.",
                do="Compare with a release of another method, such as diffgen or hedge.",
            )
        box = box_of(self.tree, table.codes)
        return [of_boxes[box] for of_boxes in self.boxes]

    def to_json(self) -> str:
        """Return the text of `recoding.json`, one range per line."""
        return recoding_text(
            self.schema,
            self.ranges,
            self.labels,
            tree=self.tree,
            boxes=self.boxes,
            is_cut=self.is_cut,
        )

    @classmethod
    def from_json(cls, text: str, *, where: str = "recoding.json") -> Recoding:
        """Read a recoding back, or raise an error that says what is wrong with it."""
        try:
            stored = StoredRecoding.model_validate_json(text)
            return cls(
                schema=stored.public_schema(),
                ranges=tuple(each.table() for each in stored.attributes),
                labels=tuple([label for _, _, label in each.ranges] for each in stored.attributes),
                is_cut=stored.kind == "cut",
                tree=stored.tree.restored() if stored.tree is not None else None,
                boxes=stored.boxes(),
            )
        except (ValidationError, InputError, InternalError) as error:
            raise ReleaseError(
                "This is not a recoding that this version can read.",
                where=where,
                do="Give a release folder that `hedgerow publish` wrote.",
            ) from error
