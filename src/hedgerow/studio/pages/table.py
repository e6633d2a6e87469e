"""The page Table: a draft from a file or a database, then column after column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.errors import HedgerowError, InputError
from hedgerow.studio.columns import (
    ROLES,
    PlanColumn,
    answering,
    confirming,
    confirming_fact,
    lines_of,
    named,
    number,
    open_questions,
    plan_columns,
    table_facts,
    to_look_at,
    with_domain,
    with_role,
    with_source,
)
from hedgerow.studio.contents import tables_in
from hedgerow.studio.itemsform import (
    MOST_LISTED,
    SEPARATORS,
    UNIVERSES,
    ShownItems,
    items_edits,
)
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.riskpart import last_risk, risk_values, show_risk, start_risk, whole_risk
from hedgerow.studio.shell import (
    Page,
    Sent,
    change,
    page_answer,
    plan_name,
    shown_plan,
    studio_of,
    view,
)
from hedgerow.studio.yamledit import Drop, Edit, Put

KINDS = ("numeric", "values", "taxonomy", "date", "edges")
DATE_STEPS = ("day", "week", "month", "quarter", "year")
_PASSWORD = re.compile(r"://[^/@]*:[^/@]+@|[?&]password=", re.IGNORECASE)
_OF_PEOPLE = (
    "person",
    "records-per-person",
    "count",
    "join",
    "one-record-per-person",
    "protects",
)


def _show(request: Request) -> Response:
    if plan_name(request) is None:
        return _choose(request)
    file = shown_plan(request)
    risk = risk_values(file, last_risk(request, file))
    return page_answer(request, "table.html.j2", **_values(file), **risk)


def _choose(request: Request) -> Response:
    studio = studio_of(request)
    runs = studio.runs.all("draft")
    running = [run for run in runs if run.is_running]
    data = request.query_params.get("data", "")
    taken = set(studio.folder.files(".yaml"))
    return page_answer(
        request,
        "draft.html.j2",
        tables=tables_in(studio.folder),
        data=data,
        proposed=_free_name(data, taken),
        run=running[0] if running else None,
        database="new" in request.query_params,
    )


def _free_name(data: str, taken: set[str]) -> str:
    """Return a free name for a plan, beside its table if that is in the folder."""
    folder, _, file = data.rpartition("/")
    base = f"{folder}/" if folder and not data.startswith("/") else ""
    first = f"{base}plan.yaml"
    if first not in taken:
        return first
    stem = re.sub(r"[^a-z0-9-]+", "-", file.partition(".")[0].lower()).strip("-") or "table"
    names = [f"{base}plan-{stem}{end}.yaml" for end in ("", *(f"-{n}" for n in range(2, 1000)))]
    return next(name for name in names if name not in taken)


def _draft(request: Request, form: Sent) -> Response:
    """Start ``draft`` as a separate process; only that process opens the table."""
    studio = studio_of(request)
    data = form.get("url").strip() or form.get("path").strip() or form.get("data")
    if not data:
        raise InputError("No table is chosen.", where="data", do="Choose a file or a database.")
    if _PASSWORD.search(data):
        raise InputError(
            "The address contains a password, which all users of this computer could see.",
            where="data",
            do="Omit it, and keep it in ~/.pgpass or in the variable PGPASSWORD.",
        )
    plan = form.need("plan").strip()
    studio.folder.inside(plan)
    words = ["draft", "-o", plan]
    options = {"class": "--class", "query": "--query", "table": "--table"}
    options |= {"items": "--items", "record": "--record-id", "order": "--order"}
    for name, option in options.items():
        if form.get(name).strip():
            words += [f"{option}={form.get(name).strip()}"]
    for name in ("ordered", "force"):
        if form.get(name) == "yes":
            words.append(f"--{name}")
    words += ["--", data]
    run = studio.runs.start("draft", words, about={"next": f"/table?plan={quote(plan)}"})
    return page_answer(request, "_run.html.j2", run=run)


def _values(file: PlanFile) -> dict[str, Any]:
    """Return the values of the page for a plan."""
    columns, facts = plan_columns(file), table_facts(file)
    data = file.data
    try:
        file.plan()
        mistake = None
    except HedgerowError as error:
        mistake = error
    return {
        "file": file,
        "columns": columns,
        "facts": facts,
        "questions": open_questions(file),
        "data": data,
        "look": to_look_at(file),
        "mistake": mistake,
        "roles": ROLES,
        "kinds": KINDS,
        "date_steps": DATE_STEPS,
        "counts": {role: sum(each.role == role for each in columns) for role in ROLES},
        "items": ShownItems.of(data),
        "universes": UNIVERSES,
        "separators": SEPARATORS,
        "most_listed": MOST_LISTED,
        "confirmed": bool(data.get("confirmed")),
        "check": ["hedgerow", "check", file.name],
    }


def _saved(file: PlanFile, edits: Sequence[Edit], form: Sent) -> PlanFile:
    """Save edits; changes of a confirmed plan remove its confirmation."""
    changes = any(isinstance(edit, Put | Drop) and edit.path[-1] != "source" for edit in edits)
    if changes and file.data.get("confirmed") is True:
        edits = [*edits, Put(path=("confirmed",), value=False)]
    return file.save(edits, version=form.need("version"))


def _column(request: Request) -> Response:
    file = shown_plan(request)
    column = named(file, request.query_params.get("name", ""))
    return page_answer(request, "_column.html.j2", column=column, **_values(file))


def _save_column(request: Request, form: Sent) -> Response:
    file = shown_plan(request)
    name = form.need("name")
    column = named(file, name)
    edits = _column_edits(column, form)
    saved = _saved(file, edits, form)
    if form.get("then") == "confirm":
        marks = confirming(saved, name)
        saved = saved.save(marks, version=saved.version) if marks else saved
    return _answer(request, saved, [name])


def _column_edits(column: PlanColumn, form: Sent) -> list[Edit]:
    role, kind = form.need("role"), form.get("kind")
    if role not in ("predictor", "class"):
        edits = with_role(column, role)
    elif kind not in KINDS:
        raise InputError(
            "No type is chosen.", where=column.name, do="Choose the type of the column."
        )
    else:
        edits = with_domain(column, role, kind, _domain(column, kind, form))
    for key in ("unit", "meaning"):
        text = form.get(key).strip()
        if text != str(column.entry.get(key, "")):
            path = ("attributes", column.name, key)
            edits.append(Put(path=path, value=text) if text else Drop(path=path))
    return [*edits, *with_source(column, form.get("source").strip())]


def _domain(column: PlanColumn, kind: str, form: Sent) -> dict[str, Any]:
    if kind == "numeric":
        ends = [number(form.get(key), f"{column.name}: {key}") for key in ("low", "high")]
        step = number(form.get("step") or "1", f"{column.name}: step")
        is_default = step == 1 and "step" not in column.entry
        return {"numeric": ends, "step": None if is_default else step}
    if kind == "edges":
        return {"edges": [number(each, column.name) for each in form.get("edges").split()]}
    if kind == "date":
        before = column.entry.get("date")
        date = dict(before) if isinstance(before, dict) else {}
        date |= {"from": form.get("from"), "to": form.get("to")}
        for key in ("step", "format"):
            if form.get(f"date-{key}"):
                date[key] = form.get(f"date-{key}")
        if date.get("step") == "day" and "step" not in (before or {}):
            del date["step"]
        return {"date": date}
    other = form.get("other").strip() or None
    if kind == "values":
        return {"values": lines_of(form.get("values")), "other": other}
    kept = column.entry.get("taxonomy")
    return {"taxonomy": form.get("taxonomy").strip() or kept, "other": other}


def _confirm(request: Request, form: Sent) -> Response:
    file, name = shown_plan(request), form.need("name")
    return _answer(request, _saved(file, confirming(file, name, form.get("source")), form), [name])


def _confirm_fact(request: Request, form: Sent) -> Response:
    file = shown_plan(request)
    saved = _saved(file, confirming_fact(file, form.need("key")), form)
    return page_answer(request, "_about.html.j2", whole=True, **_values(saved))


def _answered(request: Request, form: Sent) -> Response:
    """Remove an answered question from the plan."""
    file = shown_plan(request)
    saved = _saved(file, answering(file, form.need("question")), form)
    return page_answer(request, "_about.html.j2", whole=True, **_values(saved))


def _bulk(request: Request, form: Sent) -> Response:
    file = shown_plan(request)
    names, role = form.all("names"), form.need("bulk-role")
    if not names:
        raise InputError("No column is chosen.", do="Choose some columns first.")
    edits: list[Edit] = []
    for name in names:
        edits += with_role(named(file, name), role)
    return _answer(request, _saved(file, edits, form), None)


def _about(request: Request, form: Sent) -> Response:
    """Save facts about the whole table: records, missing values, people."""
    file = shown_plan(request)
    data = file.data
    edits: list[Edit] = []
    records = form.get("records").strip().replace(",", "")
    if records != str(data.get("records", "")):
        path = ("records",)
        value = number(records, "records") if records else None
        put = Put(path=path, value=value, after="data")
        edits.append(put if records else Drop(path=path))
    missing = form.get("missing")
    if missing in ("drop", "value") and missing != data.get("missing", "drop"):
        edits.append(Put(path=("missing",), value=missing, after="data"))
    edits += _people_edits(data, form)
    saved = _saved(file, edits, form)
    return page_answer(request, "_about.html.j2", whole=True, **_values(saved))


def _items(request: Request, form: Sent) -> Response:
    """Save the section on items."""
    file = shown_plan(request)
    saved = _saved(file, items_edits(file.data, form), form)
    return page_answer(request, "_items.html.j2", saved=True, **_values(saved))


def _people_edits(data: dict[str, Any], form: Sent) -> list[Edit]:
    whose = form.get("whose")
    wanted: dict[str, Any] = {}
    if whose == "one":
        wanted = {"one-record-per-person": True}
    elif whose == "person":
        most = form.get("most").strip() or "auto"
        wanted = {
            "person": _person(form, data),
            "records-per-person": most if most == "auto" else number(most, "records-per-person"),
        }
        if form.get("count") == "people":
            wanted["count"] = "people"
        if form.get("join") == "union":
            wanted = {"person": wanted["person"], "join": "union"}
    elif whose == "records":
        wanted = {"protects": "records"}
    else:
        return []  # nothing is chosen: the plan stays as it is
    dropped = [key for key in _OF_PEOPLE if key in data and key not in wanted]
    edits: list[Edit] = [Drop(path=(key,)) for key in dropped]
    for key, value in wanted.items():
        if data.get(key) != value:
            place = "items" if "items" in data else "attributes"
            edits.append(Put(path=(key,), value=value, after=place))
    return edits


def _person(form: Sent, data: dict[str, Any]) -> Any:
    """Return the column or columns that identify a person; several columns are kept."""
    before, text = data.get("person"), form.need("person").strip()
    if not text:
        raise InputError(
            "No column is named.", where="person", do="Name the column that identifies a person."
        )
    return before if isinstance(before, list) and text == ", ".join(before) else text


def _answer(request: Request, file: PlanFile, names: Sequence[str] | None) -> Response:
    """Answer with the changed rows, or all rows, and the parts that depend on them."""
    values = _values(file)
    shown = [
        (place, each)
        for place, each in enumerate(values["columns"], start=1)
        if names is None or each.name in names
    ]
    return page_answer(request, "_columns.html.j2", shown=shown, whole=names is None, **values)


PAGE = Page(
    name="table",
    routes=(
        Route("/table", view(_show)),
        Route("/table/column", view(_column), methods=["GET"]),
        Route("/table/risk", view(show_risk), methods=["GET"]),
        Route("/table/risk/page", view(whole_risk)),
        Route("/table/risk", change(start_risk), methods=["POST"]),
        Route("/table/draft", change(_draft), methods=["POST"]),
        Route("/table/column", change(_save_column), methods=["POST"]),
        Route("/table/confirm", change(_confirm), methods=["POST"]),
        Route("/table/fact", change(_confirm_fact), methods=["POST"]),
        Route("/table/answered", change(_answered), methods=["POST"]),
        Route("/table/bulk", change(_bulk), methods=["POST"]),
        Route("/table/about", change(_about), methods=["POST"]),
        Route("/table/items", change(_items), methods=["POST"]),
    ),
)
