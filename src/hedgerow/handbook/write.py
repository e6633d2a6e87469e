"""The handbook as a folder of HTML pages, written once to the cache or to a given folder."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from hedgerow.errors import ReleaseError
from hedgerow.handbook.render import page_html, read_contents

PAGES = "docs"
BESIDE = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
START = f"{PAGES}/index.md"
PICTURES = frozenset({".svg", ".png", ".jpg", ".json"})
STYLE = Path(__file__).with_name("handbook.css")


def source_folder() -> Path:
    """Return the folder that holds ``docs``: in the installed package, or that of a clone."""
    inside = Path(__file__).with_name("pages")
    for folder in (inside, Path(__file__).resolve().parents[3]):
        if (folder / START).is_file():
            return folder
    raise ReleaseError(
        "The documentation is missing.",
        where=str(inside),
        do="Install hedgerow from its wheel, or run it from a clone of the repository.",
    )


def cache_folder() -> Path:
    """Return the folder of this system for files that can be written again."""
    from_environment = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if from_environment.is_absolute():
        return from_environment / "hedgerow"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hedgerow"
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or Path.home() / "AppData" / "Local") / "hedgerow" / "cache"
    return Path.home() / ".cache" / "hedgerow"


def handbook(out: Path | None = None) -> Path:
    """Return the folder of the handbook's pages, which are written if they are missing.

    The default is the user's cache, with one folder per version of the text. A folder ``out``
    that is not empty is refused.
    """
    source = source_folder()
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(
            "The folder is not empty.", where=str(out), do="Give a folder that does not exist yet."
        )
    place = out or cache_folder() / f"docs-{version('hedgerow')}-{_digest(source)}"
    if out is None and _is_complete(place):
        return place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".docs-") as partial:
            write_pages(source, Path(partial) / "pages")
            _move(Path(partial) / "pages", place)
    except OSError as error:
        raise ReleaseError(
            f"The documentation cannot be written: {(error.strerror or 'no reason').lower()}.",
            where=str(place),
            do="Give a writable folder with --out.",
        ) from error
    return place


def _is_complete(place: Path) -> bool:
    return (place / START).with_suffix(".html").is_file()


def _move(pages: Path, place: Path) -> None:
    """Move finished pages into place, unless another run has just put the same pages there."""
    if place.is_dir() and not any(place.iterdir()):
        place.rmdir()
    try:
        pages.rename(place)
    except OSError:
        if not _is_complete(place):
            raise


def files(source: Path) -> list[Path]:
    """Return the files of the handbook: pages and pictures of ``docs``, and the pages beside it."""
    inside = (source / PAGES).rglob("*")
    found = [path for path in inside if path.suffix in PICTURES | {".md"} and path.is_file()]
    return sorted([*found, *(source / name for name in BESIDE if (source / name).is_file())])


def _digest(source: Path) -> str:
    digest = sha256(STYLE.read_bytes())
    for path in files(source):
        digest.update(path.relative_to(source).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def write_pages(source: Path, out: Path) -> None:
    """Write every page of ``source`` as HTML to ``out``, with its pictures."""
    contents = read_contents(source, START)
    for path in files(source):
        name = path.relative_to(source)
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            html = page_html(contents, name.as_posix(), path.read_text(encoding="utf-8"))
            target.with_suffix(".html").write_text(html, encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    shutil.copyfile(STYLE, out / STYLE.name)
