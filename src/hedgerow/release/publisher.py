"""Facts of a release that only its publisher knows, which other metadata formats need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from hedgerow.errors import SettingError

PublisherKind: TypeAlias = Literal["Government", "Industry", "Nonprofit"]
KINDS: tuple[PublisherKind, ...] = ("Government", "Industry", "Nonprofit")


@dataclass(frozen=True, kw_only=True)
class Publisher:
    """The publisher of a release, its purpose and its terms; unknown facts are ``None``."""

    name: str | None = None
    kind: PublisherKind | None = None
    region: str | None = None
    use: str | None = None
    url: str | None = None
    licence: str | None = None

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise SettingError(
                f"{self.kind!r} is not one of the kinds.",
                where="publisher-kind",
                do=f"Give one of {', '.join(KINDS)}.",
            )

    def need(self, *names: str) -> None:
        """Refuse to go on if a fact is missing that a format requires."""
        options = {"name": "--publisher", "kind": "--publisher-kind"}
        missing = [options.get(name, f"--{name}") for name in names if not getattr(self, name)]
        if missing:
            raise SettingError(
                "The format requires facts that the certificate does not contain.",
                where=", ".join(missing),
                do="Give these options.",
            )
