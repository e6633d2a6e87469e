"""Evaluation: its figures, its page and the folders it may be written to."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.errors import ReleaseError

FORMAT_VERSION = 1
FOR_OWNER = (
    "For the data owner only. Not private: computed from the confidential records without noise."
)
JSON_FILE, PAGE_FILE = "evaluation.json", "evaluation.html"


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Evaluation of a release: utility and risk figures, for the data owner only.

    Returned by `evaluate`.

    Parameters
    ----------
    facts : dict
        All figures, with the keys of `evaluation.json`.

    Notes
    -----
    Privacy: none. The figures are computed from the confidential records without noise.

    Examples
    --------
    >>> Evaluation(facts={"release": {"name": "visits"}})
    Evaluation('visits', for the data owner)

    """

    facts: dict[str, Any]

    def __repr__(self) -> str:
        return f"Evaluation({self.facts['release']['name']!r}, for the data owner)"

    def to_json(self) -> str:
        """Return the text of `evaluation.json`."""
        return json.dumps(self.facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def html(self) -> str:
        """Return the text of `evaluation.html`, a self-contained page with plots."""
        from hedgerow.report.evaluation import render

        return render(self.facts)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        apart_from: object = None,
        force: bool = False,
    ) -> tuple[Path, Path]:
        """Write `evaluation.html` and `evaluation.json`, readable by their owner only.

        Parameters
        ----------
        folder : path
            Folder to write to, outside the release.
        apart_from : Release, BasketRelease or path, optional
            The release; nothing is written into its folder.
        force : bool, default=False
            Replace an existing evaluation.

        Returns
        -------
        tuple of pathlib.Path
            The page and the JSON file.

        """
        target = check_folder(folder, apart_from=apart_from, force=force)
        page, figures = self.html(), self.to_json()
        try:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            return written_for_owner(target / PAGE_FILE, page), written_for_owner(
                target / JSON_FILE, figures
            )
        except OSError as error:
            raise ReleaseError(
                f"The evaluation cannot be written: {(error.strerror or str(error)).lower()}.",
                where=str(target),
                do="Give a writable folder with enough space.",
            ) from error


def check_folder(
    folder: str | os.PathLike[str],
    *,
    apart_from: object = None,
    force: bool = False,
    what: str = "an evaluation",
    files: tuple[str, ...] = (JSON_FILE, PAGE_FILE),
) -> Path:
    """Return the folder for the owner's ``files``, or refuse; call it before the work."""
    target = Path(folder)
    resolved = target.resolve()
    if isinstance(apart_from, str | os.PathLike) and Path(apart_from).is_dir():
        release = Path(apart_from).resolve()
        if release == resolved or release in resolved.parents:
            raise ReleaseError(
                "The folder belongs to the release, which others may see.",
                where=str(target),
                do=f"Give a folder beside the release: {what} is for the data owner only.",
            )
    if target.exists() and not target.is_dir():
        raise ReleaseError(
            "This is not a folder.", where=str(target), do="Give the name of a folder."
        )
    if (target / "certificate.json").exists():
        raise ReleaseError(
            "The folder holds a release, which others may see.",
            where=str(target),
            do=f"Give another folder: {what} is for the data owner only.",
        )
    if not force and any((target / name).exists() for name in files):
        raise ReleaseError(
            f"The folder holds {what} already.",
            where=str(target),
            do="Give another folder, or --force to replace it.",
        )
    return target


def written_for_owner(path: Path, text: str) -> Path:
    """Write a complete file that only its owner may read, or none."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()
    return path
