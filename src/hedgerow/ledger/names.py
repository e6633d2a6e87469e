"""Names of data sets: plain, so that no two look alike.

Two names for one data set would be two budgets for it. Capitals, accents, invisible characters and
letters of other scripts that look alike all make a second name out of one, so a new name is
lower-case ASCII letters, digits, ``.`` and ``-``. Existing names of other kinds stay usable.
"""

from __future__ import annotations

import re
import unicodedata

from hedgerow.errors import LedgerError

MAX_NAME = 100

EXAMPLE = "visits-2026"

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", re.ASCII)
# Letters of other scripts that look like ASCII ones, for the proposed name.
_ALIKE = str.maketrans(
    "абвеікмнорстуухјѕԁɡһӏοαενρτυχικμηß",
    "a6beikmhopctyyxjsdghloaevptuxikuns",
)


def is_plain(name: str) -> bool:
    """Return whether ``name`` is plain, and at most 100 characters long.

    >>> is_plain("visits-2026"), is_plain("Visits 2026"), is_plain("-")
    (True, False, False)
    """
    return len(name) <= MAX_NAME and _PLAIN.fullmatch(name) is not None


def plain_name(text: str) -> str:
    """Return the plain name that is nearest to ``text``.

    >>> plain_name("Patients 2026.csv"), plain_name("Été_2026"), plain_name("??")
    ('patients-2026.csv', 'ete-2026', 'visits-2026')
    """
    return nearest_plain(text)[0] or EXAMPLE


def nearest_plain(text: str) -> tuple[str, bool]:
    """Return the nearest plain name, and whether a letter or digit was lost on the way."""
    split = unicodedata.normalize("NFKD", text).casefold().translate(_ALIKE)
    seen = [c for c in split if unicodedata.category(c) not in {"Mn", "Me", "Cf", "Cc"}]
    lost = any(c.isalnum() and not c.isascii() for c in seen)
    kept = "".join(c if c.isascii() and (c.isalnum() or c == ".") else "-" for c in seen)
    joined = re.sub(r"-*\.[-.]*", ".", re.sub(r"-+", "-", kept))
    return joined[:MAX_NAME].strip("-."), lost


def check_new_name(name: str) -> str:
    """Return ``name`` if a new data set may have it; otherwise raise with a better one."""
    if is_plain(name):
        return name
    raise LedgerError(
        "The name of a data set is lower-case letters from a to z, digits, '.' and '-', 1 to"
        f" {MAX_NAME} characters.",
        where=f"data set {shown_name(name)}",
        do=(
            f"Use the name {plain_name(name)!r}. Rename an account with another kind of name with:"
            " hedgerow ledger rename OLD NEW"
        ),
    )


def known_as(name: str) -> str:
    """Return the form in which a ledger kept ``name`` before names had to be plain."""
    return unicodedata.normalize("NFC", name)


def sound(name: str) -> str:
    """Return the part of a name that a hasty reader notices.

    >>> sound("adult-2026") == sound("Adult.2026") == sound("adult_2026")
    True
    """
    return re.sub(r"[-.]", "", nearest_plain(name)[0])


def shown_name(name: str) -> str:
    """Return ``name`` in quotes, at most 60 characters of it, without invisible ones."""
    return ascii(name if len(name) <= 60 else f"{name[:57]}...")
