"""`hedgerow certificate`: describe a release for a registry or a data catalogue."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer_done, is_stdout
from hedgerow.cli.options import ReleaseArgument

if TYPE_CHECKING:
    from hedgerow.release.publisher import PublisherKind

_FORMATS = ("registry", "croissant")


def certificate_command(
    release: ReleaseArgument,
    *,
    wanted: Annotated[
        str,
        typer.Option("--as", metavar="KIND", help="Write this kind: registry or croissant."),
    ],
    publisher: Annotated[
        str | None, typer.Option(help="Name the publisher of the release.")
    ] = None,
    publisher_kind: Annotated[
        str | None,
        typer.Option(help="State the sector: Government, Industry or Nonprofit (registry)."),
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="State the region of the data (registry).")
    ] = None,
    use: Annotated[str | None, typer.Option(help="State the intended use (registry).")] = None,
    url: Annotated[
        str | None, typer.Option(help="State the base URL of the files (croissant).")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="State the licence, preferably as a URL (croissant).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write to this new file; - is standard output, the default.",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Describe a release for a registry or a data catalogue, from its certificate.

    registry (YAML): a draft entry for OpenDP's registry of deployments, for you to complete.
    croissant (JSON): metadata with which machine learning tools find and load the release.
    Facts that are not in the certificate are given as options. The release must be intact; it is
    not changed.

    Example: hedgerow certificate release --as croissant -o croissant.json
    """
    from hedgerow.errors import SettingError
    from hedgerow.release.publisher import Publisher

    if wanted not in _FORMATS:
        raise SettingError(
            f"{wanted!r} is not a kind of description.",
            where="--as",
            do=f"Give one of: {', '.join(_FORMATS)}.",
        )
    known = Publisher(
        name=publisher,
        kind=cast("PublisherKind | None", publisher_kind),
        region=region,
        use=use,
        url=url,
        licence=licence,
    )
    facts = _facts(release, wanted, known)
    text = _written(facts, as_yaml=wanted == "registry" and not as_json)
    if out is None or is_stdout(out):
        sys.stdout.write(text)
        return
    _write(out, text, release)

    def show() -> None:
        if not quiet:
            typer.echo(f"{out}: {release} as {wanted}")

    answer_done({"file": str(out), "as": wanted}, as_json=as_json, show=show)


def _facts(release: Path, wanted: str, publisher: Any) -> dict[str, Any]:
    from hedgerow.release.croissant import croissant
    from hedgerow.release.folder import load_certificate
    from hedgerow.release.registry import registry_entry
    from hedgerow.release.verify import check_intact

    certificate = load_certificate(release)
    check_intact(release)
    if wanted == "registry":
        return registry_entry(certificate, publisher)
    return croissant(release, certificate, publisher)


def _written(facts: dict[str, Any], *, as_yaml: bool) -> str:
    if not as_yaml:
        return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    import yaml

    return yaml.safe_dump(facts, sort_keys=False, allow_unicode=True, width=100)


def _write(output: Path, text: str, release: Path) -> None:
    from hedgerow.errors import ReleaseError

    if output.resolve().is_relative_to(release.resolve()):
        raise ReleaseError(
            "The file is in the release folder, which must not get another file.",
            where=str(output),
            do="Choose a file outside of it.",
        )
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise ReleaseError(
            f"The file cannot be written: {(error.strerror or str(error)).lower()}.",
            where=str(output),
            do="Choose a new file in a folder that you may write to.",
        ) from error
