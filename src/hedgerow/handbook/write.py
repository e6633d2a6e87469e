"""The handbook as a folder of pages: found beside the package or in it, written where asked."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from hedgerow.errors import ReleaseError
from hedgerow.handbook.contents import read_contents, title
from hedgerow.handbook.render import page_html

PAGES = "docs"
BESIDE = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
START = f"{PAGES}/index.md"
PICTURES = frozenset({".svg", ".png", ".jpg", ".json"})
STYLE = "handbook.css"


def source_folder() -> Path:
    """Return the folder that holds ``docs``: in the installed package, or that of a clone."""
    inside = Path(__file__).with_name("pages")
    for folder in (inside, Path(__file__).resolve().parents[3]):
        if (folder / START).is_file():
            return folder
    raise ReleaseError(
        "the documentation is not there",
        where=str(inside),
        do="Install hedgerow from its wheel, or work in a clone.",
    )


def cache_folder() -> Path:
    """Return where the system keeps what can be made again."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given / "hedgerow"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hedgerow"
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local or Path.home() / "AppData" / "Local") / "hedgerow" / "cache"
    return Path.home() / ".cache" / "hedgerow"


def handbook(out: Path | None = None) -> Path:
    """Return the folder of the handbook's pages, written there if they are not there yet.

    Without ``out`` they lie in the user's cache, in a folder of their own for every version of the
    text; a folder ``out`` that holds anything is refused.
    """
    source = source_folder()
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseError(
            "the folder is not empty", where=str(out), do="Give one that is not there yet."
        )
    place = out or cache_folder() / f"docs-{version('hedgerow')}-{_digest(source)}"
    if out is None and (place / START).with_suffix(".html").is_file():
        return place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".docs-") as partial:
            write_pages(source, Path(partial) / "pages")
            _move(Path(partial) / "pages", place)
    except OSError as error:
        raise ReleaseError(
            f"the documentation cannot be written: {(error.strerror or 'no reason').lower()}",
            where=str(place),
            do="Give a folder that you may write to with --out.",
        ) from error
    return place


def _move(made: Path, place: Path) -> None:
    """Move finished pages into place; another run may have been faster, and wrote the same."""
    if place.is_dir() and not any(place.iterdir()):
        place.rmdir()
    try:
        made.rename(place)
    except OSError:
        if not (place / START).with_suffix(".html").is_file():
            raise


def files(source: Path) -> list[Path]:
    """Return the handbook's files: pages, what they show, and the pages beside them."""
    inside = (source / PAGES).rglob("*")
    found = [path for path in inside if path.suffix in PICTURES | {".md"} and path.is_file()]
    return sorted([*found, *(source / name for name in BESIDE if (source / name).is_file())])


def _digest(source: Path) -> str:
    made = sha256((Path(__file__).with_name(STYLE)).read_bytes())
    for path in files(source):
        made.update(path.relative_to(source).as_posix().encode() + b"\0" + path.read_bytes())
    return made.hexdigest()[:12]


def write_pages(source: Path, out: Path) -> None:
    """Write every page of ``source`` as HTML to ``out``, with its pictures."""
    contents = read_contents(source, START)
    for path in files(source):
        name = path.relative_to(source)
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(path, target)
            continue
        text = path.read_text(encoding="utf-8")
        words = title(text, name=path.name)
        made = page_html(contents, name.as_posix(), text, title=words)
        target.with_suffix(".html").write_text(made, encoding="utf-8")
    shutil.copyfile(Path(__file__).with_name(STYLE), out / STYLE)
