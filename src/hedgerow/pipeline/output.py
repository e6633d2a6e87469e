"""Output of a release: its folder and files, and the deprecated keywords for them."""

from __future__ import annotations

import os
import warnings
from collections.abc import MutableMapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hedgerow.errors import SettingError

_KEYWORDS = {
    "records": "records",
    "parquet": "parquet",
    "force": "force",
    "again": "again",
    "sign": "signing_key",
}
"""Deprecated keywords of `publish`, and the fields of `Output` that replace them."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """Folder to write a release to, and the files to write.

    Parameters
    ----------
    folder : path
        Folder of the release.
    records : bool, default=False
        Also write `records.csv`, with synthetic records sampled from the release.
    parquet : bool, default=False
        Also write `release.parquet`.
    force : bool, default=False
        Replace an earlier release in the folder.
    again : bool, default=False
        Make and book another release if this run's own is in the folder already. Without it
        that release is returned, and nothing is read or spent.
    signing_key : path, optional
        File of the private key to sign the release with.

    Raises
    ------
    SettingError
        If the folder is empty text.

    Notes
    -----
    Privacy: none of this changes what is counted. Synthetic records are sampled from the noisy
    counts and cost no budget; another release costs its epsilon again.

    Examples
    --------
    >>> Output(folder="release", records=True).path.name
    'release'

    """

    folder: str | os.PathLike[str]
    records: bool = False
    parquet: bool = False
    force: bool = False
    again: bool = False
    signing_key: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if not os.fspath(self.folder):
            raise SettingError(
                "The name is empty.", where="folder", do="Give the name of a folder."
            )

    @property
    def path(self) -> Path:
        """Folder of the release."""
        return Path(self.folder)


def output_of(
    out: str | os.PathLike[str] | Output | None, settings: MutableMapping[str, Any]
) -> Output | None:
    """Return where to write, taking deprecated keywords out of ``settings``."""
    old = {name: settings.pop(name) for name in _KEYWORDS if name in settings}
    if old:
        warnings.warn(
            f"Deprecated keywords of publish: {', '.join(old)}. Give out=hedgerow.Output(...).",
            DeprecationWarning,
            stacklevel=3,
        )
    fields = {_KEYWORDS[name]: value for name, value in old.items()}
    if out is None:
        if fields.get("signing_key") is not None:
            raise SettingError(
                "A release that is not written cannot be signed.",
                where="sign",
                do="Set 'out' to the folder of the release.",
            )
        return None
    return replace(out if isinstance(out, Output) else Output(folder=out), **fields)
