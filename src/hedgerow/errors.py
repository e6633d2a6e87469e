"""Every error raised on purpose, as a tree.

A message has three parts: what happened, where, what to do. The facts are attributes
too, so that callers never parse text. **No message shows a record, a true count, a
score or a random draw**: messages get pasted into issues.
"""

from __future__ import annotations

import re
import shlex
from fractions import Fraction
from typing import ClassVar

# What a screen does not show, or shows somewhere else: format characters (among them those
# that turn the direction of text), separators of lines, fillers, and control characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4"
    "\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    r"""Return ``text`` with what nobody would see written out, for people to read.

    >>> print(visible("pay\u202eroll"), visible("Zürich"))
    pay\u202eroll Zürich
    """
    return _UNSEEN.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class HedgerowError(Exception):
    """The root of the tree; ``exit_code`` is what the command line answers with."""

    exit_code: ClassVar[int] = 70

    def __init__(self, what: str, *, where: str | None = None, do: str | None = None) -> None:
        self.what = visible(what)
        self.where = None if where is None else visible(where)
        self.do = None if do is None else visible(do)
        head = f"{self.where}: {self.what}" if self.where else self.what
        super().__init__(f"{head}\n{self.do}" if self.do else head)


class InputError(HedgerowError):
    """What was given cannot be used: a file, a plan, a setting, a value."""

    exit_code = 2


class SettingError(InputError):
    """A setting is out of its range or not among its choices."""

    @classmethod
    def out_of_range(cls, setting: str, value: object, allowed: str) -> SettingError:
        """Name the setting, its value and its range.

        >>> print(SettingError.out_of_range("epsilon", 0, "a number above 0"))
        epsilon: 0 is out of range
        Give a number above 0.
        """
        return cls(f"{value} is out of range", where=setting, do=f"Give {allowed}.")


class PlanError(InputError):
    """The plan file cannot be read or does not say what it must.

    ``paths`` are the places of its mistakes inside the file, such as ``attributes.age.step``.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        do: str | None = None,
        paths: tuple[str, ...] = (),
    ) -> None:
        self.paths = paths
        super().__init__(what, where=where, do=do)


class TaxonomyError(InputError):
    """A taxonomy cannot be read or is not a tree.

    Taxonomies are public, so the message may show their labels, but not where a plan names
    the file: it may hold something else. ``line`` and ``value`` say where in the file and
    which label, where that is known.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        do: str | None = None,
        line: int | None = None,
        value: str | None = None,
    ) -> None:
        self.line = line
        self.value = value
        super().__init__(what, where=where, do=do)


class DataError(InputError):
    """The confidential table cannot be read or does not fit its plan."""


class UnlistedValueError(DataError):
    """A record holds a value outside the public domain, and nothing catches it.

    ``value`` is confidential: for the data's owner, never printed.
    """

    def __init__(
        self, value: object, *, attribute: str, record: int, what: str, where: str, do: str
    ) -> None:
        self.value = value
        self.attribute = attribute
        self.record = record
        super().__init__(f"record {record}, attribute {attribute!r}: {what}", where=where, do=do)


class ReleaseError(InputError):
    """A release folder cannot be read, or one cannot be written where it should go."""


class KeptReleaseError(ReleaseError):
    """A release is complete and booked but has not got its name: ``kept`` is where it lies.

    ``ledger`` is the file that it is booked in, where that is not the user's own ledger.
    """

    def __init__(
        self, what: str, *, where: str | None, kept: str, ledger: str | None = None
    ) -> None:
        self.kept = kept
        super().__init__(what, where=where, do=self.how(kept, ledger))

    @staticmethod
    def how(kept: str, ledger: str | None = None) -> str:
        """Return how a complete release is put in its place.

        >>> KeptReleaseError.how(".out.partial-1f0c22a9", "our ledger.sqlite").split(": ")[1]
        "hedgerow recover .out.partial-1f0c22a9 --ledger 'our ledger.sqlite'"
        """
        booked = "" if ledger is None else f" --ledger {shlex.quote(ledger)}"
        return (
            "The release is complete and booked; put it in its place with:"
            f" hedgerow recover {shlex.quote(kept)}{booked}"
        )


class LaterFormatError(ReleaseError):
    """A file is in a format that a later version of hedgerow writes."""

    def __init__(self, kind: str, version: int, known: int, *, where: str) -> None:
        self.version = version
        super().__init__(
            f"this {kind} is of format {version}, and this version of hedgerow reads up to {known}",
            where=where,
            do="Install the newest hedgerow: pip install --upgrade hedgerow",
        )


class PublishNotice(UserWarning):
    """Something that who publishes should know, although the release is there and in order."""


class ScratchError(InputError):
    """The scratch folder of a run cannot be used: no room, or no right to write."""


class EngineError(InputError):
    """What counts the records failed: no Spark session, a job that died, a worker gone wrong."""


class MissingExtraError(InputError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, *, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(
            f"{feature} needs an optional part of hedgerow",
            do=f"Install it with: pip install 'hedgerow[{extra}]'",
        )


class LedgerError(InputError):
    """The persistent ledger cannot be read or written, or is asked for nonsense."""


class RefusedError(HedgerowError):
    """Refused because privacy is at stake."""

    exit_code = 3


class UnconfirmedPlanError(RefusedError):
    """Nobody has confirmed that the domains of the plan are public knowledge."""


class MissingPrivacyUnitError(RefusedError):
    """The plan does not state what its guarantee protects: a person or a record."""


class ChangedPlanError(RefusedError):
    """The plan is not the one that was checked and agreed on."""


class MostlyNoiseError(RefusedError):
    """By the plan's own number of records the release would be mostly noise."""


class SameRecordsError(RefusedError):
    """These records are on the ledger under another name, or others are under this one."""


class CapError(RefusedError):
    """A release would take a data set over the cap of its ledger."""

    def __init__(self, *, dataset: str, cap: Fraction, spent: Fraction, asked: Fraction) -> None:
        self.dataset = dataset
        self.cap = cap
        self.spent = spent
        self.asked = asked
        self.left = max(cap - spent, Fraction(0))
        super().__init__(
            f"epsilon {asked} is more than the {self.left} left"
            f" (cap {cap}, spent {spent}); nothing was booked",
            where=f"data set {dataset!r}",
            do="Ask for less, or raise the cap with 'hedgerow ledger cap' if those who"
            " answer for the data agree.",
        )


class DeltaCapError(RefusedError):
    """A release would take a data set over the delta that its ledger allows."""

    def __init__(self, *, dataset: str, cap: Fraction, spent: Fraction, asked: Fraction) -> None:
        self.dataset = dataset
        self.cap = cap
        self.spent = spent
        self.asked = asked
        self.left = max(cap - spent, Fraction(0))
        super().__init__(
            f"delta {float(asked):.3g} is more than the {float(self.left):.3g} left"
            f" (delta-cap {float(cap):.3g}, spent {float(spent):.3g}); nothing was booked",
            where=f"data set {dataset!r}",
            do="Use a method of pure epsilon or, if those who answer for the data agree, allow"
            " more: 'delta-cap' in the plan's ledger section, and 'hedgerow ledger cap NAME"
            " EPSILON --delta DELTA' for a data set that is there already.",
        )


class OverdraftError(RefusedError):
    """A mechanism asked for more budget than its path has left."""


class InternalError(HedgerowError):
    """Something that cannot happen has happened."""

    def __init__(self, what: str) -> None:
        super().__init__(
            what,
            where="internal error",
            do="This is a bug in hedgerow. Please report it with the command you ran"
            " (not your data).",
        )
