"""What only the publisher knows of a release: no certificate says it, and other formats ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from hedgerow.errors import SettingError

PublisherKind: TypeAlias = Literal["Government", "Industry", "Nonprofit"]
KINDS: tuple[PublisherKind, ...] = ("Government", "Industry", "Nonprofit")


@dataclass(frozen=True, kw_only=True)
class Publisher:
    """Who gives out a release, for what and under which terms; what is not known is ``None``."""

    name: str | None = None
    kind: PublisherKind | None = None
    region: str | None = None
    use: str | None = None
    url: str | None = None
    licence: str | None = None

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise SettingError(
                f"{self.kind!r} is none of the kinds",
                where="publisher-kind",
                do=f"Give one of {', '.join(KINDS)}.",
            )

    def need(self, *names: str) -> None:
        """Refuse where something is not said that a format cannot do without."""
        options = {"name": "--publisher", "kind": "--publisher-kind"}
        missing = [options.get(name, f"--{name}") for name in names if not getattr(self, name)]
        if missing:
            raise SettingError(
                "the format asks for what no certificate says, and it is not given",
                where=", ".join(missing),
                do="Say it with these options.",
            )
