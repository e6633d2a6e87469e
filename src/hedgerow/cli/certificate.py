"""`hedgerow certificate`: a release described in a format that others ask for."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer_done, is_stdout

if TYPE_CHECKING:
    from hedgerow.release.publisher import PublisherKind

_FORMATS = ("registry", "croissant")


def certificate_command(
    release: Annotated[Path, typer.Argument(help="The release folder.", show_default=False)],
    *,
    wanted: Annotated[
        str, typer.Option("--as", metavar="FORMAT", help="registry (YAML) or croissant (JSON).")
    ],
    publisher: Annotated[str | None, typer.Option(help="Who gives the release out.")] = None,
    publisher_kind: Annotated[
        str | None, typer.Option(help="For the registry: Government, Industry or Nonprofit.")
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="For the registry: which region the data are of.")
    ] = None,
    use: Annotated[str | None, typer.Option(help="For the registry: the intended use.")] = None,
    url: Annotated[
        str | None, typer.Option(help="For croissant: the address that the files are below.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="For croissant: the licence of the release, best a URL.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A new file; without it, or with -, it is printed.",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Describe a release in a format that others ask for, from its certificate.

    registry: an entry for OpenDP's registry of deployments, a draft for you to complete.
    croissant: metadata by which tools for machine learning find and load the release. What no
    certificate says is asked for by options. The release must be intact, and stays as it is.

    Example: hedgerow certificate release --as croissant -o croissant.json
    """
    from hedgerow.errors import SettingError
    from hedgerow.release.publisher import Publisher

    if wanted not in _FORMATS:
        raise SettingError(
            f"{wanted!r} is no such format", where="--as", do=f"Give one of {', '.join(_FORMATS)}."
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
    if output is None or is_stdout(output):
        sys.stdout.write(text)
        return
    _write(output, text, release)

    def show() -> None:
        if not quiet:
            typer.echo(f"{output}: {release} as {wanted}")

    answer_done({"file": str(output), "as": wanted}, as_json=as_json, show=show)


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
            "lies in the release folder, which would not be intact with another file",
            where=str(output),
            do="Give a file beside it.",
        )
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise ReleaseError(
            f"the file cannot be written: {(error.strerror or str(error)).lower()}",
            where=str(output),
            do="Give a new file in a folder that you may write to.",
        ) from error
