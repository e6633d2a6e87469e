"""``hedgerow ledger``: show and manage the budgets of data sets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.console import JsonOption, QuietOption, answer, is_stdout, say
from hedgerow.cli.ledger_plan import plan
from hedgerow.cli.options import LedgerOption, ReasonOption

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.table import Table

    from hedgerow.ledger.ledger import Account, AccountBalance, Entry, Ledger
    from hedgerow.release.booked import ComparedRelease

app = typer.Typer(
    name="ledger",
    help="Show and manage the privacy budgets of data sets.",
    no_args_is_help=True,
)

app.command()(plan)

DatasetArgument = Annotated[
    str, typer.Argument(help="The name in the plan, after 'ledger: dataset' or 'ledger: people'.")
]
_LONGEST = 10**12
"""Largest denominator that is shown as a fraction."""

OtherArgument = Annotated[str, typer.Argument(help="The name of the other data set.")]


class Whose(StrEnum):
    """Unit whose epsilon an account adds up."""

    record = "record"
    person = "person"


@app.command()
def show(
    dataset: Annotated[
        str | None, typer.Argument(help="The data set whose entries to show. By default all sums.")
    ] = None,
    *,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show the cap and the budget spent and left of all data sets, or the entries of one.

    An account of people has a star; its tables are listed below it.

    Example: hedgerow ledger show adult-2026
    """
    book = _open(ledger)
    if dataset is None:
        accounts = book.accounts()
        listed = {"datasets": [account.as_dict() for account in accounts]}
        answer(listed, as_json=json_, show=lambda: _show_all(book, accounts, quiet=quiet))
    else:
        account = book.account(dataset)
        answer(account.as_dict(), as_json=json_, show=lambda: _show_one(account, quiet=quiet))


@app.command()
def cap(
    dataset: DatasetArgument,
    epsilon: Annotated[str, typer.Argument(help="The new cap, such as 4 or 9/2.")],
    *,
    reason: ReasonOption,
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta", help="Use this delta, such as 1e-6. By default the cap of delta stays."
        ),
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Add a data set.")] = False,
    people: Annotated[
        bool,
        typer.Option("--people", help="Add an account of people, for all their tables (--new)."),
    ] = False,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Change the cap on the total budget of a data set.

    Plans that name the data set must state the same cap from then on.

    Example: hedgerow ledger cap adult-2026 6 --reason "agreed by the data board"
    """
    if people and not new:
        from hedgerow.errors import SettingError

        raise SettingError(
            "Only a new account can be one of people.",
            where="--people",
            do="Remove it, or add an account with --new.",
        )
    book = _open(ledger, create=new)
    if new:
        balance = book.open_dataset(dataset, epsilon, reason, delta_cap=delta or 0, people=people)
    else:
        balance = book.set_cap(dataset, epsilon, reason, delta_cap=delta)
    answer(balance.as_dict(), as_json=json_, show=lambda: _show_sums(balance, quiet=quiet))


@app.command()
def spend(
    dataset: DatasetArgument,
    epsilon: Annotated[str, typer.Argument(help="What was spent, such as 1/2.")],
    *,
    note: Annotated[
        str,
        typer.Option("--note", help="Describe the release: what, when, by whom. The text is kept."),
    ],
    delta: Annotated[
        str, typer.Option("--delta", help="Use this delta, such as 1e-6, as spent too.")
    ] = "0",
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Book budget that was spent outside hedgerow, even above the cap.

    Example: hedgerow ledger spend adult-2026 1/2 --note "counts given to the ministry"
    """
    book = _open(ledger)
    entry = book.book_outside(dataset, epsilon, note=note, delta=delta)
    balance = book.balance(dataset)
    result = {**balance.as_dict(), "entry": entry.as_dict()}
    answer(result, as_json=json_, show=lambda: _show_sums(balance, quiet=quiet))


@app.command()
def rename(
    old: Annotated[str, typer.Argument(help="The present name.")],
    new: Annotated[str, typer.Argument(help="The new name: a to z, digits, '.' and '-'.")],
    *,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Rename a data set; its cap, sums and entries are kept.

    Plans with the old name still find the account. No other data set can get that name.

    Example: hedgerow ledger rename "Visits 2026" visits-2026
    """
    balance = _open(ledger).rename(old, new)
    answer(balance.as_dict(), as_json=json_, show=lambda: _show_sums(balance, quiet=quiet))


@app.command("same-people")
def same_people(
    dataset: DatasetArgument,
    other: OtherArgument,
    *,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Merge the accounts of two data sets, because the same people are in both.

    Spent budgets are added and the smaller cap holds. This cannot be undone. Two accounts per
    person become one of people; budgets per record are not added to budgets per person.

    Example: hedgerow ledger same-people visits-2026 visits-copy
    """
    balance = _open(ledger).same_people(dataset, other)
    answer(balance.as_dict(), as_json=json_, show=lambda: _show_sums(balance, quiet=quiet))


@app.command()
def different(
    dataset: DatasetArgument,
    other: OtherArgument,
    *,
    reason: ReasonOption,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """State that two data sets with equal records are of different people.

    Both can be published only after this.

    Example: hedgerow ledger different visits-2026 test-table --reason "synthetic, no people"
    """
    _open(ledger).different(dataset, other, reason)
    result = {"dataset": dataset, "other": other, "different": True}
    words = f"{dataset} and {other} have separate accounts."
    answer(result, as_json=json_, show=lambda: _close(words, quiet=quiet))


@app.command()
def neighbours(
    dataset: DatasetArgument,
    whose: Annotated[
        Whose, typer.Argument(help="The unit whose epsilon was spent: record or person.")
    ],
    *,
    reason: ReasonOption,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """State the privacy unit of an account of an earlier version, once.

    Earlier versions did not record it. By default it is taken to be the record.

    Example: hedgerow ledger neighbours visits-2026 person --reason "all plans had 'person'"
    """
    balance = _open(ledger).tell_neighbours(dataset, whose.value, reason)

    def show() -> None:
        _show_sums(balance, quiet=quiet)
        _show_protected(balance, quiet=quiet)

    answer(balance.as_dict(), as_json=json_, show=show)


@app.command("new-key")
def new_key(
    *,
    reason: ReasonOption,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a new key for a ledger whose key file was lost.

    Tables published so far are no longer recognised under another name.

    Example: hedgerow ledger new-key --reason "the disk with the key broke"
    """
    _open(ledger).new_key(reason)
    words = "Tables are recognised again from their next release on."
    answer({"new-key": True}, as_json=json_, show=lambda: _close(words, quiet=quiet))


@app.command()
def export(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write to this file; - is standard output, the default.",
        ),
    ] = None,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Export the ledger as JSON: its accounts, and the chain of events that proves them.

    Example: hedgerow ledger export -o ledger.json
    """
    exported = _open(ledger).export()
    if out is None or is_stdout(out):
        answer(exported, as_json=True, show=lambda: None)
        return
    _write(out, json.dumps(exported, indent=2, ensure_ascii=False) + "\n")
    result = {"file": str(out), "events": len(exported["events"])}
    answer(result, as_json=json_, show=lambda: _close(f"Exported to {out}.", quiet=quiet))


@app.command()
def restored(
    *,
    reason: ReasonOption,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Accept a restored backup of the ledger, which is older than its key file.

    The ledger keeps the reason. Before publishing, book what was spent since the backup with
    'hedgerow ledger spend'.

    Example: hedgerow ledger restored --reason "disk failure, backup of 1 November"
    """
    from hedgerow.ledger.ledger import Ledger

    Ledger(ledger, create=False, restored=True).restored(reason)
    words = "The backup is accepted. Book what was spent since, with: hedgerow ledger spend"
    answer({"restored": True}, as_json=json_, show=lambda: _close(words, quiet=quiet))


@app.command("verify")
def verify_ledger(
    more: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FOLDER]...", help="More release folders to compare.", show_default=False
        ),
    ] = None,
    *,
    releases: Annotated[
        list[Path] | None,
        typer.Option(
            "--releases",
            metavar="FOLDER",
            help="Compare this release, or all releases in this folder, with the ledger.",
            show_default=False,
        ),
    ] = None,
    ledger: LedgerOption = None,
    json_: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Verify that no event of the ledger was changed or removed.

    With --releases, compares each certificate with the ledger. A release that is not on it was
    booked on another ledger, or this one is an older copy: exit code 1.

    Keep the digest that it prints: 'export' shows it again as long as the ledger is intact.

    Example: hedgerow ledger verify --releases published/
    """
    book = _open(ledger)
    n_events, digest = book.verify()
    notes = book.key_notes()
    found = _compared(book, [*(releases or ()), *(more or ())])
    result = {"whole": True, "events": n_events, "digest": digest, "notes": notes}
    if releases or more:
        result["releases"] = [each.as_dict() for each in found]

    def show_all() -> None:
        _close(
            f"The ledger is intact: {n_events} events, last digest {digest or '-'}.", quiet=quiet
        )
        for note in notes:
            say(_plain(note))
        for each in found:
            if not (quiet and each.passed):
                say(_plain(f"{each.folder}: {each.verdict} ({each.why})"))

    answer(result, as_json=json_, show=show_all)
    if not all(each.passed for each in found):
        raise typer.Exit(1)


def _compared(book: Ledger, folders: list[Path]) -> tuple[ComparedRelease, ...]:
    if not folders:
        return ()
    from hedgerow.release.booked import compared

    return compared(book, folders)


def _open(path: Path | None, *, create: bool = False) -> Ledger:
    from hedgerow.ledger.ledger import Ledger

    return Ledger(path, create=create)


def _write(out: Path, text: str) -> None:
    from hedgerow.errors import ReleaseError

    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReleaseError(
            f"The file cannot be written: {error.strerror}.",
            where=str(out),
            do="Choose a file in a folder that you may write to.",
        ) from error


def _show_all(book: Ledger, accounts: tuple[Account, ...], *, quiet: bool) -> None:
    if not accounts:
        _close("The ledger has no data set yet.", quiet=quiet)
        return
    from fractions import Fraction

    from hedgerow.privacy.budget import delta_text

    with_delta = any(account.delta_cap or account.delta_spent for account in accounts)
    deltas = ("delta-cap", "delta spent") if with_delta else ()
    table = _table(
        "data set", "cap", "spent", "left", *deltas, "per", "released", "booked", "failed"
    )
    for account in accounts:
        states = Counter(entry.state for entry in account.entries)
        amounts = [_amount(x) for x in (account.cap, account.spent, account.left)]
        if with_delta:
            amounts += [delta_text(x) for x in (account.delta_cap, account.delta_spent)]
        counts = [str(states[state]) for state in ("released", "booked", "failed")]
        name = f"{account.name} *" if account.people else account.name
        table.add_row(*map(_plain, [name, *amounts, _per(account), *counts]))
        for each in account.tables() if account.people else ():
            spent = f"{_amount(Fraction(each['epsilon']))} in {each['releases']}"
            table.add_row(*map(_plain, [f"  {each['table']}", "", spent]))
    say(table)
    if any(account.people for account in accounts):
        _close(
            "* people: one account for all tables that they are in, listed below it", quiet=quiet
        )
    _close(f"Ledger: {book.path}", quiet=quiet)


def _show_one(account: Account, *, quiet: bool) -> None:
    with_delta = bool(account.delta_cap or account.delta_spent)
    extra = {
        "delta": with_delta,
        "table": any(entry.table for entry in account.entries),
        "covers": any(entry.covers for entry in account.entries),
    }
    # Both do not fit beside a note: such words then have a table of their own.
    below = extra["table"] and extra["covers"]
    words = ("table", "covers", "note") if below else ()
    shown = [name for name, there in extra.items() if there and name not in words]
    last = () if below else ("note",)
    table = _table("entry", "epsilon", *shown, "state", "method", "booked (UTC)", *last)
    for entry in account.entries:
        table.add_row(*map(_plain, _row(entry, [*shown, "state", "method", "booked", *last])))
    if account.entries:
        say(table)
    if below:
        _show_words(account)
    _show_sums(account, quiet=quiet)
    _show_protected(account, quiet=quiet)


def _show_protected(account: AccountBalance, *, quiet: bool) -> None:
    """Say what the epsilon of an account protects."""
    if account.protects is not None:
        _close(f"protects {account.protects}", quiet=quiet)


def _show_words(account: Account) -> None:
    """Show the table of each entry, what it covers, and its note."""
    table = _table("entry", "table", "covers", "note")
    for entry in account.entries:
        table.add_row(*map(_plain, _row(entry, ["table", "covers", "note"], amount=False)))
    say(table)


def _row(entry: Entry, shown: Sequence[str], *, amount: bool = True) -> list[str]:
    from hedgerow.privacy.budget import delta_text

    covers = "all" if entry.covers is None else entry.covers
    if entry.covers is not None and not entry.parallel:
        covers += " (adds up)"
    cells = {
        "delta": delta_text(entry.delta),
        "table": entry.table or "-",
        "covers": covers,
        "state": entry.state,
        "method": entry.method,
        "booked": entry.booked_at[:16].replace("T", " "),
        "note": entry.note or "-",
    }
    epsilon = [_amount(entry.epsilon)] if amount else []
    return [str(entry.id), *epsilon, *(cells[name] for name in shown)]


def _amount(value: Fraction) -> str:
    """Return an amount as text; a fraction of very long numbers as a decimal only."""
    from hedgerow.privacy.budget import epsilon_text

    is_long = value.denominator > _LONGEST
    return f"about {float(value):.6g}" if is_long else epsilon_text(value)


def _show_sums(account: AccountBalance, *, quiet: bool) -> None:
    if quiet:
        return
    from hedgerow.privacy.budget import delta_text

    amounts = (account.cap, account.spent, account.left)
    cap_, spent, left = (_amount(amount) for amount in amounts)
    say(_plain(f"{account.name}: cap {cap_}, spent {spent}, left {left}"))
    for _, sums in account.covers:
        most = _amount(sums.epsilon)
        say(_plain(f"of that, on parts by {sums.column!r}: at most {most} on any one value"))
    if account.delta_cap or account.delta_spent:
        deltas = (account.delta_cap, account.delta_spent, account.delta_left)
        cap_, spent, left = (delta_text(amount) for amount in deltas)
        say(_plain(f"delta: cap {cap_}, spent {spent}, left {left}"))
    if account.spent > account.cap or account.delta_spent > account.delta_cap:
        say(_plain("The cap is exceeded: nothing more can be published."))


def _per(account: AccountBalance) -> str:
    """Return the unit whose epsilon an account adds up, in one word."""
    if account.is_unrecorded:
        return "not stated"
    return {"record": "record", "person": "person", "both": "person (1 record)"}.get(
        account.neighbours or "", "-"
    )


def _close(words: str, *, quiet: bool) -> None:
    if not quiet:
        say(_plain(words))


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column.startswith("booked ("))
    return table


def _plain(text: str) -> Any:
    """Return ``text`` without markup: names may contain brackets."""
    from rich.text import Text

    return Text(text)
