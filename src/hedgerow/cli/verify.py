"""`hedgerow verify`: check that a release has not been modified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say
from hedgerow.cli.options import ExpectOption, ReleaseArgument

if TYPE_CHECKING:
    from hedgerow.release.verify import Verification

_MOST_SHOWN = 20


def verify_command(
    release: ReleaseArgument,
    *,
    public_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check the signature with this public key, which must come from the publisher.",
        ),
    ] = None,
    expect: ExpectOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check that a release has not been modified since it was published.

    Needs only the folder. Checks the files against the digests in the certificate, the certificate
    against its own digest and schema, facts that follow from other facts or files, the budget, the
    fingerprint of the plan and, with --public-key, the signature. Refuses extra files, links and
    repeated keys. Without a checked signature the answer is "intact, maker not proved", and the
    guarantee is printed as a claim. Exits with 1 if the release is modified or not by that key.

    Example: hedgerow verify release --public-key hospital.pub
    """
    from hedgerow.release.verify import verify

    verdict = verify(release, key=public_key, expect=expect)
    answer(verdict.as_dict(), as_json=as_json, show=lambda: _show(verdict, quiet=quiet))
    if not verdict.passed:
        raise typer.Exit(1)


def _show(verdict: Verification, *, quiet: bool) -> None:
    from rich.text import Text

    say(Text(f"{verdict.folder}: {verdict.statement}", style="bold"))
    for fault in verdict.faults[:_MOST_SHOWN]:
        say(Text(f"  {fault.file}: {fault.what}"))
    if len(verdict.faults) > _MOST_SHOWN:
        say(f"  and {len(verdict.faults) - _MOST_SHOWN:,} more")
    if quiet:
        return
    certificate = verdict.certificate
    if certificate is not None and verdict.intact:
        lines = len(certificate.budget.spends)
        say(f"{verdict.n_files:,} files, all listed in the certificate.")
        if lines:
            say(f"The budget adds up: {lines:,} lines, {certificate.budget.total} in total.")
        said = certificate.guarantee.statement
        say(Text(said if verdict.maker == "proved" else f"claims: {said}"))
        for sentence in certificate.signatures:
            say(Text(sentence if verdict.maker == "proved" else f"claims: {sentence}"))
        if verdict.fingerprint is not None:
            say(f"The plan's fingerprint: {verdict.fingerprint}")
        say(f"The certificate's SHA-256: {verdict.certificate_sha256}")
    for note in verdict.notes:
        say(Text(note))
