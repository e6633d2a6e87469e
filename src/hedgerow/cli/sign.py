"""`hedgerow sign` and `hedgerow signing-key`: who made a release, proved by a signature."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer_done, say


def sign_command(
    release: Annotated[Path, typer.Argument(help="The release folder.", show_default=False)],
    *,
    key: Annotated[
        Path, typer.Option(metavar="KEY", help="The file of your private key, mode 0600.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Replace a signature that is there already.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Sign a release that is in its place; nothing of it changes.

    `signature.json` comes to its files: the signature of the exact bytes of certificate.json,
    which holds the digests of all others. `publish --sign` does it at once.

    Example: hedgerow sign release --key hospital.key
    """
    from hedgerow.release.sign import sign

    named = sign(release, key=key, force=force)

    def show() -> None:
        if not quiet:
            from rich.text import Text

            say(Text(f"{release}: signed by the key {named}"))

    answer_done({"release": str(release), "signed-by": named}, as_json=as_json, show=show)


def signing_key_command(
    file: Annotated[
        Path, typer.Argument(help="The file of the private key; FILE.pub is the public one.")
    ],
    *,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a key pair to sign releases with (Ed25519).

    FILE gets mode 0600: keep it, and a copy in a safe place. FILE.pub is for recipients: give it
    to them by another way than the releases, or publish it where they know you from.

    Example: hedgerow signing-key hospital.key
    """
    from hedgerow.release.signing_keys import make_key_pair

    private, public, named = make_key_pair(file)

    def show() -> None:
        if not quiet:
            from rich.text import Text

            say(Text(f"{private}: the private key, for you alone"))
            say(Text(f"{public}: the public key, for recipients; SHA-256 {named}"))

    made = {"private": str(private), "public": str(public), "key-sha256": named}
    answer_done(made, as_json=as_json, show=show)
