"""Follow every link of a folder of pages, and see that nothing is loaded from another host."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """What a page links to, what it loads, and the places in it that others may link to."""

    LOADS = frozenset({("script", "src"), ("img", "src"), ("link", "href"), ("source", "src")})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in one tag."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            elif (tag, name) in self.LOADS and value:
                self.loads.append(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.append(value)


def broken(html: Path) -> list[str]:
    """Return every link that leads nowhere, and everything that another host would be asked for."""
    made = [path for path in html.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in made}
    wrong = []
    for path, page in pages.items():
        where = path.relative_to(html).as_posix()
        wrong += [f"{where} loads {each}" for each in page.loads if _elsewhere(each)]
        for link in [*page.links, *page.loads]:
            if _elsewhere(link):
                if not re.fullmatch(r"(https://[\w.-]+\.[a-z]+(/\S*)?|mailto:\S+@\S+)", link):
                    wrong.append(f"{where} links to {link}, which is no address")
            elif not _leads(link, path, pages):
                wrong.append(f"{where} links to {link}, which is not there")
    for path in html.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        asked = re.findall(r"(?:url\(\s*[\"']?|@import\s+[\"'])((?:https?:)?//[^\"')]+)", text)
        wrong += [f"{path.relative_to(html).as_posix()} loads {each}" for each in asked]
    return sorted(set(wrong))


def _elsewhere(link: str) -> bool:
    parts = urlsplit(link)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def _leads(link: str, path: Path, pages: dict[Path, Links]) -> bool:
    parts = urlsplit(link)
    if parts.scheme == "data":
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    place = unquote(parts.fragment)
    if target in pages and place:
        return place in pages[target].places
    return target.is_file()
