"""A signature written into the plan file itself, which is replaced whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hedgerow.errors import InternalError, RefusedError
from hedgerow.pipeline.confirm import Signing, signing_of
from hedgerow.plan.load import checked
from hedgerow.plan.model import Plan
from hedgerow.plan.parse import KeyPath, format_of, parse_text, read_plan_text
from hedgerow.plan.rewrite import replace_file, rewritten
from hedgerow.plan.signature import ITEMS

_BOM = b"\xef\xbb\xbf"


def confirm_file(
    path: str | Path,
    *,
    by: str,
    approve: bool = False,
    why: str | None = None,
    sources: Mapping[str, str] | None = None,
    all_public: bool = False,
    dry_run: bool = False,
) -> Signing:
    """Sign the plan in a file and write the signature into it; see `confirm`.

    Comments, order and spelling of everything else stay. With ``dry_run`` nothing is written.
    """
    file = Path(path)
    text = read_plan_text(file)
    plan = _plan_in(text, file)
    signing = signing_of(
        plan, by=by, approve=approve, why=why, sources=sources, all_public=all_public
    )
    new = rewritten(
        text,
        kind=format_of(file),
        keys=signing.keys,
        sources={_path_of(plan, name): said for name, said in signing.sources.items()},
        where=str(file),
    )
    if _plan_in(new, file) != signing.plan:
        raise InternalError("The plan that was written is not the plan that was signed.")
    if not dry_run:
        _replace(file, before=text, after=new)
    return signing


def _plan_in(text: str, file: Path) -> Plan:
    parsed = parse_text(text, kind=format_of(file), where=str(file))
    return checked(parsed.data, where=str(file), lines=parsed.lines, base=file.parent)


def _path_of(plan: Plan, name: str) -> KeyPath:
    is_items = name == ITEMS and plan.items is not None
    return (ITEMS,) if is_items else ("attributes", name)


def _replace(file: Path, *, before: str, after: str) -> None:
    """Replace the file, a link by its target, unless it was changed since it was read."""
    target = file.resolve()
    if read_plan_text(target) != before:
        raise RefusedError(
            "The file was changed while it was being signed. Nothing was written.",
            where=str(file),
            do="Look at it, then confirm it again.",
        )
    with target.open("rb") as opened:
        mark = "\ufeff" if opened.read(len(_BOM)) == _BOM else ""
    replace_file(target, mark + after)
