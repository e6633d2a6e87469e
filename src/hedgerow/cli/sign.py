"""`hedgerow sign` and `hedgerow signing-key`: sign a release, and make keys for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer_done, say
from hedgerow.cli.options import ForceOption, ReleaseArgument


def sign_command(
    release: ReleaseArgument,
    *,
    signing_key: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="Sign the release with the private key in this file (mode 0600)."
        ),
    ],
    force: ForceOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Sign a finished release.

    Adds `signature.json`, the signature of the bytes of certificate.json, which lists the digests
    of all other files; these are not changed. `publish --signing-key` signs at once.

    Example: hedgerow sign release --signing-key hospital.key
    """
    from hedgerow.release.sign import sign

    digest = sign(release, key=signing_key, force=force)

    def show() -> None:
        if not quiet:
            from rich.text import Text

            say(Text(f"{release}: signed by the key {digest}"))

    answer_done({"release": str(release), "signed-by": digest}, as_json=as_json, show=show)


def signing_key_command(
    file: Annotated[
        Path, typer.Argument(help="The new file of the private key; FILE.pub gets the public key.")
    ],
    *,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a pair of keys to sign releases (Ed25519).

    FILE gets mode 0600: keep it secret, with a backup in a safe place. Give FILE.pub to recipients
    by another channel than the releases, or publish it on your web site.

    Example: hedgerow signing-key hospital.key
    """
    from hedgerow.release.signing_keys import make_key_pair

    private, public, digest = make_key_pair(file)

    def show() -> None:
        if not quiet:
            from rich.text import Text

            say(Text(f"{private}: the private key, for you only"))
            say(Text(f"{public}: the public key, for recipients; SHA-256 {digest}"))

    facts = {"private": str(private), "public": str(public), "key-sha256": digest}
    answer_done(facts, as_json=as_json, show=show)
