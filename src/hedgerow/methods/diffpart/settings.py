"""Settings of DiffPart."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, StrictBool, model_validator

from hedgerow.plan.fields import Factor, Length, Width, mistake
from hedgerow.plan.settings import PrivateSettings

if TYPE_CHECKING:
    from hedgerow.model.method import BasketMethod


class DiffPartSettings(PrivateSettings):
    """DiffPart: baskets by private top-down partitioning over a taxonomy of the items."""

    publishes: ClassVar[Literal["table", "baskets"]] = "baskets"

    method: Literal["diffpart"] = Field("diffpart", description="the publishing method: diffpart")
    false_positives: Width = Field(
        Fraction(1, 20),
        description="how many partitions without records may pass a test by noise alone, on"
        " average; unless faithful",
    )
    max_length: Length | None = Field(
        None, description="the most items of a record, longer ones are cut; unless faithful"
    )
    faithful: StrictBool = Field(
        False, description="true to run the algorithm as the paper prints it, else false"
    )
    c1: Factor | None = Field(
        None, description="the factor of the threshold of counts; if faithful"
    )
    c2: Factor | None = Field(None, description="the factor of the threshold of tests; if faithful")

    def applying(self) -> dict[str, Any]:
        """Return the settings of the variant that is run."""
        others = {name.replace("_", "-") for name in self._of_the_other_variant()}
        return {name: value for name, value in super().applying().items() if name not in others}

    def _of_the_other_variant(self) -> tuple[str, ...]:
        return ("false_positives", "max_length") if self.faithful else ("c1", "c2")

    @model_validator(mode="after")
    def _check_variant(self) -> Self:
        for name in self._of_the_other_variant():
            if name in self.model_fields_set and getattr(self, name) is not None:
                raise mistake(
                    "The faithful variant has no such setting."
                    if self.faithful
                    else "Only the faithful variant has this setting.",
                    "Remove it, or change faithful.",
                    key=(name.replace("_", "-"),),
                )
        return self

    def build(self, *, has_class: bool) -> BasketMethod:
        """Return the method with these settings."""
        from hedgerow.methods.diffpart.diffpart import DiffPart

        return DiffPart(
            faithful=self.faithful,
            false_positives=self.false_positives,
            max_length=self.max_length,
            c1=self.c1,
            c2=self.c2,
        )
