"""A release whose last step failed, put in its place.

A run writes to a hidden folder and gives it its name at the very end. Where that fails (the
destination was taken meanwhile, the process was killed), the release is complete and booked, and
making it again would spend the same once more. It is recovered instead, once, and only if the
ledger knows its booking.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hedgerow.errors import LedgerError, ReleaseError
from hedgerow.ledger.ledger import Entry, Ledger
from hedgerow.model.certificate import Certificate
from hedgerow.pipeline.retry import booked_entry, certificate_digest
from hedgerow.release.folder import load_certificate
from hedgerow.release.leftovers import destination_of, only_user
from hedgerow.release.verify import check_intact
from hedgerow.release.write import check_destination, place_folder

_GIVE = "Give the hidden folder that the run named, '.NAME.partial-XXXXXXXX', as it left it."


def recover(
    folder: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    ledger: str | os.PathLike[str] | None = None,
) -> Path:
    """Finish a release whose final move failed.

    Parameters
    ----------
    folder : path
        The hidden folder that the run reported: the user's own, of mode 0700, with all files
        that its certificate lists and no others.
    out : path, optional
        Folder of the release. By default that of the run.
    force : bool, default=False
        Replace an existing release in ``out``.
    ledger : path, optional
        Ledger of the release. By default the user's.

    Returns
    -------
    pathlib.Path
        Folder of the finished release.

    Raises
    ------
    ReleaseError
        If the folder is not a complete release, is in use, or is accessible to other users.
    LedgerError
        If the ledger has no entry for it in the state ``booked``. An entry works once: it is
        ``released`` afterwards.

    Notes
    -----
    Privacy: no noise is drawn and no data are read. The release was made under its booking.

    Examples
    --------
    >>> recover("release")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    hedgerow.errors.ReleaseError: .../release: ...

    """
    hidden = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link
    meant = destination_of(hidden)
    if meant is None:
        raise ReleaseError("This is not a folder that a run left.", where=str(hidden), do=_GIVE)
    _check_private(hidden)
    with only_user(hidden) as free:
        if not free:
            raise ReleaseError(
                "A run is still at work in it.", where=str(hidden), do="Wait until it has ended."
            )
        certificate = load_certificate(hidden)
        check_intact(hidden)
        kept = Ledger(None if ledger is None else Path(ledger), create=False)
        entry = _check_booked(certificate, kept, hidden)
        destination = check_destination(meant if out is None else out, force=force)
        digest = certificate_digest(hidden)
        place_folder(hidden, destination, force=force)
        try:
            kept.released(entry.id, digest)
        except BaseException:  # another run was faster, or the ledger cannot be written
            destination.chmod(0o700)
            destination.rename(hidden)
            raise
    return destination


def _check_private(hidden: Path) -> None:
    """Refuse what others may have touched: the ledger will vouch for it."""
    try:
        found = hidden.lstat()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReleaseError(
            f"The folder cannot be read: {reason}.", where=str(hidden), do=_GIVE
        ) from error
    own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    if not stat.S_ISDIR(found.st_mode) or not own or stat.S_IMODE(found.st_mode) != 0o700:
        raise ReleaseError(
            "This is not a folder of your own that nobody else may enter (mode 0700).",
            where=str(hidden),
            do="What others could have changed cannot be recovered.",
        )


def _check_booked(certificate: Certificate, ledger: Ledger, hidden: Path) -> Entry:
    if certificate.ledger is None or not certificate.guarantee.private:
        raise ReleaseError(
            "Its certificate names no booking.", where=str(hidden), do="Publish it again."
        )
    entry = booked_entry(certificate, ledger)
    if entry is None:
        raise LedgerError(
            "The ledger has no such booking as its certificate names.",
            where=str(hidden),
            do="Name the ledger that the run was booked on, with --ledger FILE.",
        )
    if entry.state != "booked":
        raise LedgerError(
            f"Its entry {entry.id} of the ledger is {entry.state} already.",
            where=str(hidden),
            do="Nothing more can be released for it; publish again if it must be.",
        )
    return entry
