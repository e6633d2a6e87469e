"""The assessment of a raw table: its figures, its page, and the folder for both."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hedgerow.errors import ReleaseError
from hedgerow.evaluation.evaluation import FOR_OWNER, written_for_owner
from hedgerow.model.guarantee import factor_text
from hedgerow.plan.defaults import DEFAULT_METHOD
from hedgerow.plan.model import Plan
from hedgerow.plan.settings import PrivateSettings

FORMAT_VERSION = 1
JSON_FILE, PAGE_FILE = "risk.json", "risk.html"

PeopleFacts: TypeAlias = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class RiskAssessment:
    """Assessment of the risk of a raw table, for the data owner only.

    Returned by `risk`.

    Parameters
    ----------
    facts : dict
        All figures, with the keys of `risk.json`.

    Notes
    -----
    Privacy: none. The figures are computed from the confidential records without noise.

    Examples
    --------
    >>> RiskAssessment(facts={"k": 1})
    RiskAssessment(for the data owner)

    """

    facts: dict[str, Any]

    def __repr__(self) -> str:
        return "RiskAssessment(for the data owner)"

    def as_dict(self) -> dict[str, object]:
        """Return the assessment for JSON."""
        return {"format-version": FORMAT_VERSION, "for": FOR_OWNER, **self.facts}

    def to_json(self) -> str:
        """Return the text of `risk.json`."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def html(self) -> str:
        """Return the text of `risk.html`, one self-contained page."""
        from hedgerow.report.risk import render_risk

        return render_risk(self.facts, for_owner=FOR_OWNER)

    def write(self, folder: str | os.PathLike[str], *, force: bool = False) -> tuple[Path, Path]:
        """Write `risk.html` and `risk.json`, readable by their owner only.

        Parameters
        ----------
        folder : path
            Folder to write to, not that of a release.
        force : bool, default=False
            Replace an existing assessment.

        Returns
        -------
        tuple of pathlib.Path
            The page and the JSON file.

        """
        target = check_risk_folder(folder, force=force)
        page, figures = self.html(), self.to_json()
        try:
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
            return (
                written_for_owner(target / PAGE_FILE, page),
                written_for_owner(target / JSON_FILE, figures),
            )
        except OSError as error:
            raise ReleaseError(
                f"The assessment cannot be written: {(error.strerror or str(error)).lower()}.",
                where=str(target),
                do="Give a folder with free space that you can write to.",
            ) from error


def check_risk_folder(folder: str | os.PathLike[str], *, force: bool) -> Path:
    """Return the folder for an assessment, or refuse it. Call this before the work."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ReleaseError("This is not a folder.", where=str(target), do="Give a folder's name.")
    if (target / "certificate.json").exists():
        raise ReleaseError(
            "The folder holds a release, which others may see.",
            where=str(target),
            do="Give another folder: an assessment is for the data owner only.",
        )
    if not force and any((target / name).exists() for name in (JSON_FILE, PAGE_FILE)):
        raise ReleaseError(
            "The folder holds an assessment already.",
            where=str(target),
            do="Give another folder, or use --force to replace it.",
        )
    return target


def what_instead(plan: Plan) -> dict[str, Any]:
    """Return what the plan would publish instead, and the guarantee of that."""
    settings = plan.publish
    if not isinstance(settings, PrivateSettings):
        return {"method": DEFAULT_METHOD, "epsilon": None, "factor": None, "planned": False}
    return {
        "method": settings.method,
        "epsilon": str(settings.epsilon),
        "factor": factor_text(settings.epsilon),
        "planned": True,
    }
