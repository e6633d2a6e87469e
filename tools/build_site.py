"""Build the documentation site and look it over: ``python tools/build_site.py [--look]``.

The pages are those of docs/, which read well on a code host too; this program lays them out in
.site/source with a table of contents from their own numbered lists, and lets Sphinx make
.site/html of them, warnings being errors. Then every link is followed, and nothing may be loaded
from another host. The plain pages that `hedgerow docs` opens are checked in the same way. With
``--look`` every page is opened in Chromium with axe-core, see pages.py.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from site_links import broken

from hedgerow.handbook.render import listed_pages
from hedgerow.handbook.write import write_pages

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".site"
BESIDE = {"CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
BESIDE |= {"CHANGELOG.md": "changelog.md"}
"""Pages beside docs/ that the site has too, by the name they have there."""
BUILDERS = "builders.md"
API = "api.md"
MORE = (
    ("The library", API),
    ("Contributing", "contributing.md"),
    ("Security", "security.md"),
    ("Changelog", "changelog.md"),
)
"""What builders find on the site besides: pages that are not in docs/, or are made for it."""


def lay_out(source: Path) -> None:
    """Copy all pages to ``source``, with links and tables of contents as Sphinx wants them."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source)
    shutil.copytree(ROOT / "website" / "static", source / "_static")
    for name in ("conf.py", API):
        shutil.copy(ROOT / "website" / name, source)
    for name, here in BESIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        (source / here).write_text(_beside(text), encoding="utf-8")
    for page in source.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        depth = len(page.relative_to(source).parts) - 1
        page.write_text(_beside(text, depth) + contents(page, text), encoding="utf-8")


def _beside(text: str, depth: int = 0) -> str:
    """Return a page ``depth`` folders down with its links to pages beside docs/ adapted."""
    for name, here in BESIDE.items():
        text = re.sub(rf"\]\((?:\.\./)*{name}", f"]({'../' * depth}{here}", text)
    return text


def contents(page: Path, text: str) -> str:
    """Return the hidden table of contents for the pages that a page's numbered lists lead to."""
    below = listed_pages(_beside(text))
    if page.name == BUILDERS:
        below += [*MORE]
    lines = [f"{words} <{name}>" for words, name in below if (page.parent / name).is_file()]
    shown = "\n".join(lines)
    return f"\n\n```{{toctree}}\n:hidden:\n\n{shown}\n```\n" if lines else ""


def build(source: Path, html: Path) -> int:
    """Let Sphinx make the site; a warning is an error."""
    shutil.rmtree(html, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
    doctrees = source.parent / "doctrees"
    shutil.rmtree(doctrees, ignore_errors=True)
    return subprocess.run([*command, "-d", doctrees, source, html], check=False).returncode


def pages_of(html: Path) -> dict[str, Path]:
    """Return the pages of a folder that people read, by their names without the ending."""
    aside = {"_modules", "_static"}
    made = sorted(path for path in html.rglob("*.html") if not aside & set(path.parts))
    return {path.relative_to(html).with_suffix("").as_posix(): path for path in made}


def look(names: dict[str, Path], *, shots: Path | None, only: list[str]) -> list[str]:
    """Return what is wrong on pages in Chromium; nothing, and a word, where there is none."""
    from pages import NotThereError, complaints
    from pages import look as look_at

    chosen = {name: path for name, path in names.items() if not only or name in only}
    flat = {name.replace("/", "-"): path for name, path in chosen.items()}
    try:
        found = look_at(flat, scratch=ROOT / ".pages", shots=shots)
    except NotThereError as error:
        print(f"not looked at in a browser: {error}")
        return []
    print(f"{len(found)} views of {len(flat)} pages in Chromium")
    return complaints(found)


def main() -> int:
    """Build the site, check it, and say what is wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--look", action="store_true", help="open every page in Chromium")
    options.add_argument("--only", nargs="*", default=[], help="of these pages, without .html")
    options.add_argument("--shots", type=Path, help="a folder for pictures of the pages")
    given = options.parse_args()
    source, html = PLACE / "source", PLACE / "html"
    lay_out(source)
    if code := build(source, html):
        return code
    plain = PLACE / "plain"
    shutil.rmtree(plain, ignore_errors=True)
    write_pages(ROOT, plain)
    wrong = [*broken(html), *broken(plain)]
    if given.look and not wrong:
        both = pages_of(html) | {f"plain/{name}": path for name, path in pages_of(plain).items()}
        wrong += look(both, shots=given.shots, only=given.only)
    size = sum(path.stat().st_size for path in html.rglob("*") if path.is_file())
    print(*wrong, f"{html.relative_to(ROOT)}: {size / 1e6:.1f} MB", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
