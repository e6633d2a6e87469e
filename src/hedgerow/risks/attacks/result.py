"""Figures of an attack run, its page, and the folder that they are written to."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.errors import ReleaseError
from hedgerow.evaluation.evaluation import check_folder, written_for_owner

FORMAT_VERSION = 1
JSON_FILE, PAGE_FILE = "attack.json", "attack.html"
_WHAT = "an attack report"


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackReport:
    """Figures of the attacks on a release, for the data owner only.

    Returned by `attack`.

    Parameters
    ----------
    facts : dict
        All figures, with the keys of `attack.json`.

    Notes
    -----
    Privacy: none. The figures are computed from the confidential records without noise.

    Examples
    --------
    >>> AttackReport(facts={"release": {"name": "visits"}})
    AttackReport('visits', for the data owner)

    """

    facts: dict[str, Any]

    def __repr__(self) -> str:
        return f"AttackReport({self.facts['release']['name']!r}, for the data owner)"

    def to_json(self) -> str:
        """Return the text of `attack.json`."""
        return json.dumps(self.facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def html(self) -> str:
        """Return the text of `attack.html`, one page for a review board."""
        from hedgerow.report.attack import render_attack

        return render_attack(self.facts)

    def write(
        self, folder: str | os.PathLike[str], *, apart_from: Any = None, force: bool = False
    ) -> tuple[Path, Path]:
        """Write `attack.html` and `attack.json`, readable by their owner only.

        Parameters
        ----------
        folder : path
            Folder to write to, outside the release.
        apart_from : Release, BasketRelease or path, optional
            The release; nothing is written into its folder.
        force : bool, default=False
            Replace an existing report.

        Returns
        -------
        tuple of pathlib.Path
            The page and the JSON file.

        """
        target = check_attack_folder(folder, apart_from=apart_from, force=force)
        page, figures = self.html(), self.to_json()
        try:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            return written_for_owner(target / PAGE_FILE, page), written_for_owner(
                target / JSON_FILE, figures
            )
        except OSError as error:
            raise ReleaseError(
                f"The report cannot be written: {(error.strerror or str(error)).lower()}.",
                where=str(target),
                do="Give a folder with free space that you can write to.",
            ) from error


def check_attack_folder(
    folder: str | os.PathLike[str], *, apart_from: Any = None, force: bool = False
) -> Path:
    """Return the folder for a report, or refuse it; call this before the work."""
    return check_folder(
        folder, apart_from=apart_from, force=force, what=_WHAT, files=(JSON_FILE, PAGE_FILE)
    )
