"""All errors raised on purpose, as a tree.

A message has three parts: what happened, where, and what to do. The facts are attributes too, so
that callers need not parse text. **No message shows a record, a true count, a score or a random
draw**: messages get pasted into issues.
"""

from __future__ import annotations

import re
import shlex
from fractions import Fraction
from typing import ClassVar

# Characters that a screen does not show, or shows elsewhere: format characters (among them those
# that change the direction of text), line separators, fillers and control characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4"
    "\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    r"""Return ``text`` with invisible characters written as escapes.

    >>> print(visible("pay\u202eroll"), visible("Zürich"))
    pay\u202eroll Zürich
    """
    return _UNSEEN.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class HedgerowError(Exception):
    """Root of all errors; ``exit_code`` is the exit code of the command line."""

    exit_code: ClassVar[int] = 70

    def __init__(self, what: str, *, where: str | None = None, do: str | None = None) -> None:
        self.what = visible(what)
        self.where = None if where is None else visible(where)
        self.do = None if do is None else visible(do)
        head = f"{self.where}: {self.what}" if self.where else self.what
        super().__init__(f"{head}\n{self.do}" if self.do else head)


class InputError(HedgerowError):
    """A file, a plan, a setting or a value cannot be used."""

    exit_code = 2


class SettingError(InputError):
    """A setting is out of its range or not among its choices."""

    @classmethod
    def out_of_range(cls, setting: str, value: object, allowed: str) -> SettingError:
        """Name the setting, its value and its range.

        >>> print(SettingError.out_of_range("epsilon", 0, "a number above 0"))
        epsilon: 0 is out of range.
        Give a number above 0.
        """
        return cls(f"{value} is out of range.", where=setting, do=f"Give {allowed}.")


class PlanError(InputError):
    """The plan file cannot be read or has mistakes.

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

    Taxonomies are public, so the message may show their labels, but not where a plan names the
    file, which may hold something else. ``line`` and ``value`` are the line of the file and the
    label, where known.
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
    """A record holds a value outside the public domain, and no catch-all value is declared.

    ``value`` is confidential: for the data's owner, never printed.
    """

    def __init__(
        self, value: object, *, attribute: str, record: int, what: str, where: str, do: str
    ) -> None:
        self.value = value
        self.attribute = attribute
        self.record = record
        super().__init__(f"Record {record}, attribute {attribute!r}: {what}", where=where, do=do)


class ReleaseError(InputError):
    """A release folder cannot be read, or cannot be written to its destination."""


class KeptReleaseError(ReleaseError):
    """A release is complete and booked, but its ``kept`` folder could not be renamed.

    ``ledger`` is the file in which it is booked, if that is not the user's own ledger.
    """

    def __init__(
        self, what: str, *, where: str | None, kept: str, ledger: str | None = None
    ) -> None:
        self.kept = kept
        super().__init__(what, where=where, do=self.how(kept, ledger))

    @staticmethod
    def how(kept: str, ledger: str | None = None) -> str:
        """Return the advice that completes the release.

        >>> KeptReleaseError.how(".out.partial-1f0c22a9", "our ledger.sqlite").split(": ")[1]
        "hedgerow recover .out.partial-1f0c22a9 --ledger 'our ledger.sqlite'"
        """
        booked = "" if ledger is None else f" --ledger {shlex.quote(ledger)}"
        return (
            "The release is complete and booked. Move it to its destination with: hedgerow"
            f" recover {shlex.quote(kept)}{booked}"
        )


class LaterFormatError(ReleaseError):
    """A file is in a format that a later version of hedgerow writes."""

    def __init__(self, kind: str, version: int, known: int, *, where: str) -> None:
        self.version = version
        super().__init__(
            f"This {kind} has format {version}, and this version of hedgerow reads formats up"
            f" to {known}.",
            where=where,
            do="Install the newest hedgerow: pip install --upgrade hedgerow",
        )


class PublishNotice(UserWarning):
    """A notice for the publisher of a release that is complete and valid."""


class ScratchError(InputError):
    """The scratch folder of a run cannot be used: it is full or not writable."""


class EngineError(InputError):
    """The counting engine failed: no Spark session, a failed job or a failed worker."""


class MissingExtraError(InputError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, *, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(
            f"{feature} needs an optional part of hedgerow.",
            do=f"Install it with: pip install 'hedgerow[{extra}]'",
        )


class LedgerError(InputError):
    """The persistent ledger cannot be read or written, or a request to it is invalid."""


class RefusedError(HedgerowError):
    """Refused because privacy is at stake."""

    exit_code = 3


class UnconfirmedPlanError(RefusedError):
    """The plan is not confirmed: nobody has stated that its domains are public knowledge."""


class MissingPrivacyUnitError(RefusedError):
    """The plan does not state what its guarantee protects: a person or a record."""


class ChangedPlanError(RefusedError):
    """The plan differs from the one that was checked and agreed on."""


class VoidSignatureError(ChangedPlanError):
    """The plan differs from the one that was signed; ``differences`` lists how, as text."""

    def __init__(
        self, what: str, *, where: str, do: str, differences: tuple[str, ...] = ()
    ) -> None:
        self.differences = differences
        super().__init__(what, where=where, do=do)


class MostlyNoiseError(RefusedError):
    """The release would be mostly noise, by the plan's number of records."""


class SameRecordsError(RefusedError):
    """These records are on the ledger under another name, or other records under this name."""


class CapError(RefusedError):
    """A release would exceed the cap of its data set."""

    def __init__(self, *, dataset: str, cap: Fraction, spent: Fraction, needed: Fraction) -> None:
        self.dataset = dataset
        self.cap = cap
        self.spent = spent
        self.needed = needed
        self.left = max(cap - spent, Fraction(0))
        super().__init__(
            f"Epsilon {needed} is more than the {self.left} left"
            f" (cap {cap}, spent {spent}). Nothing was booked.",
            where=f"data set {dataset!r}",
            do="Spend less, or raise the cap with 'hedgerow ledger cap' if those who"
            " answer for the data agree.",
        )


class DeltaCapError(RefusedError):
    """A release would exceed the delta cap of its data set."""

    def __init__(self, *, dataset: str, cap: Fraction, spent: Fraction, needed: Fraction) -> None:
        self.dataset = dataset
        self.cap = cap
        self.spent = spent
        self.needed = needed
        self.left = max(cap - spent, Fraction(0))
        super().__init__(
            f"Delta {float(needed):.3g} is more than the {float(self.left):.3g} left"
            f" (delta-cap {float(cap):.3g}, spent {float(spent):.3g}). Nothing was booked.",
            where=f"data set {dataset!r}",
            do="Use a method of pure epsilon or, if those who answer for the data agree, allow"
            " more: 'delta-cap' in the plan's ledger section, and 'hedgerow ledger cap NAME"
            " EPSILON --delta DELTA' for a data set that exists already.",
        )


class OverdraftError(RefusedError):
    """A mechanism needs more budget than its path has left."""


class InternalError(HedgerowError):
    """An internal error: a state that should be impossible."""

    def __init__(self, what: str) -> None:
        super().__init__(
            what,
            where="internal error",
            do="This is a bug in hedgerow. Please report it with the command you ran"
            " (not your data).",
        )
