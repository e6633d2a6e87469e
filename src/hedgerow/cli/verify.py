"""`hedgerow verify`: whether a release is as its publisher wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, say

if TYPE_CHECKING:
    from hedgerow.release.verify import Verification

_MOST_SHOWN = 20


def verify_command(
    release: Annotated[Path, typer.Argument(help="The release folder.", show_default=False)],
    *,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="PUB",
            help="The publisher's public key, from the publisher, to prove the maker.",
        ),
    ] = None,
    expect: Annotated[
        str | None,
        typer.Option(help="The fingerprint that `check` showed: the plan that was agreed on."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say whether a release is as its publisher wrote it; for who has only the folder.

    Files against the digests of the certificate, the certificate against its own digest and its
    schema, facts that follow from others and from the other files, the budget, the fingerprint of
    the plan, and with --key the signature. Extra files, links and repeated keys are refused.
    Without a signature that is checked the answer is "intact, maker not proved", and the guarantee
    is printed as a claim. Exit code 1 where it is not intact, or not by the key.

    Example: hedgerow verify release --key hospital.pub
    """
    from hedgerow.release.verify import verify

    verdict = verify(release, key=key, expect=expect)
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
    told = verdict.certificate
    if told is not None and verdict.intact:
        lines = len(told.budget.spends)
        say(f"{verdict.n_files:,} files, as the certificate says, and no others.")
        if lines:
            say(f"The budget adds up: {lines:,} lines, {told.budget.total} in all.")
        said = told.guarantee.statement
        say(Text(said if verdict.maker == "proved" else f"claims: {said}"))
        for sentence in told.signatures:
            say(Text(sentence if verdict.maker == "proved" else f"claims: {sentence}"))
        if verdict.fingerprint is not None:
            say(f"The plan's fingerprint: {verdict.fingerprint}")
        say(f"The certificate's SHA-256: {verdict.certificate_sha256}")
    for note in verdict.notes:
        say(Text(note))
