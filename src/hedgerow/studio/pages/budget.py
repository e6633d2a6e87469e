"""The page Budget: meaning and accuracy of an epsilon, or the epsilon for a given error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.errors import InputError
from hedgerow.model.precision import within
from hedgerow.pipeline.forecast import Forecast
from hedgerow.pipeline.prepare import Prepared, prepare
from hedgerow.pipeline.wanted import with_error
from hedgerow.plan.defaults import written_choice
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import PrivateSettings
from hedgerow.report.page import Promise, promised
from hedgerow.studio.forecasts import (
    STOPS,
    Forecasts,
    epsilon_value,
    plain_epsilon,
    stop_of,
)
from hedgerow.studio.pages.start import shown_account
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.runs import AnsweredError, command_answer
from hedgerow.studio.shell import (
    Page,
    Sent,
    change,
    page_answer,
    shown_plan,
    studio_of,
    view,
)
from hedgerow.studio.yamledit import Drop, Edit, Put

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000)
FORECASTS = Forecasts()
_WHOSE: dict[str | None, str] = {"person": "person", "one record per person": "one"}


def _show(request: Request) -> Response:
    file = shown_plan(request)
    plan = file.plan()
    publish = plan.publish
    kind = "table" if plan.items is None else "baskets"
    methods = [
        name
        for name, settings in METHODS.items()
        if issubclass(settings, PrivateSettings) and settings.publishes == kind
    ]
    values: dict[str, Any] = {"file": file, "methods": methods, "ledger": plan.ledger}
    if publish is None or not isinstance(publish, PrivateSettings):
        method = None if publish is None else publish.method
        return page_answer(request, "budget.html.j2", live=None, method=method, **values)
    ready = prepare(plan)
    runs = studio_of(request).runs.all("methods", version=file.version)
    return page_answer(
        request,
        "budget.html.j2",
        live=_live_values(ready, None),
        method=publish.method,
        stops=[plain_epsilon(stop) for stop in STOPS],
        stop=stop_of(ready.epsilon),
        epsilon=plain_epsilon(ready.epsilon),
        run=runs[0] if runs else None,
        others=_others(runs[0].answer) if runs and runs[0].state == "done" else None,
        **values,
    )


def _requested(request: Request) -> tuple[PlanFile, Prepared]:
    """Return the plan with the epsilon of the address."""
    file = shown_plan(request)
    epsilon, _ = epsilon_value(request.query_params.get("epsilon", ""))
    return file, prepare(file.plan(), epsilon=epsilon)


def _live(request: Request) -> Response:
    """Show the meaning of an epsilon, with a forecast only if it is cached."""
    _, ready = _requested(request)
    query = request.query_params
    account = None
    if query.get("cap") and query.get("spent"):
        account = {
            "cap": query["cap"],
            "spent": query["spent"],
            "dataset": query.get("dataset", ""),
        }
    return page_answer(request, "_live.html.j2", live=_live_values(ready, account))


def _live_values(ready: Prepared, account: dict[str, Any] | None) -> dict[str, Any]:
    forecast = FORECASTS.cached(ready)
    known = ready.plan.records
    share = forecast.share if forecast else ready.outline(known).counts
    error = within(share)
    return {
        "epsilon": plain_epsilon(ready.epsilon),
        "promise": promised(ready.epsilon),
        "whose": _WHOSE.get(ready.plan.privacy_unit, "record"),
        "beliefs": _belief_bars(promised(ready.epsilon)),
        "error": error,
        "sizes": [_size_bar(size, error) for size in SIZES],
        "forecast": forecast,
        "json": None if forecast is None else _forecast_facts(ready, forecast),
        "account": None if account is None else _after(account, ready.epsilon),
        "true_counts": ready.outline(known).true_counts,
    }


def _forecast_facts(ready: Prepared, forecast: Forecast) -> dict[str, Any]:
    """Return the answer of `check --json` for the same plan and epsilon."""
    facts = forecast.as_dict()
    return {"method": ready.settings.method, "fingerprint": ready.fingerprint(), **facts}


def _belief_bars(promise: Promise) -> list[dict[str, Any]]:
    return [
        {
            "before": each.before,
            "after": each.highest,
            "from": _part(each.before),
            "to": _part(each.highest),
        }
        for each in promise.beliefs
    ]


def _part(text: str) -> float:
    """Return the number in a text with a per cent sign."""
    digits = text.replace("over", "").replace("under", "").replace("%", "").strip()
    return round(float(digits), 1)


def _size_bar(size: int, error: int) -> dict[str, Any]:
    percent = 100 * error / size
    words = f"±{percent:,.0f} %" if percent >= 1 else f"±{percent:.1f} %"
    return {
        "size": size,
        "percent": round(min(percent, 100.0), 2),
        "words": words if percent < 100 else "",
        "grade": "good" if percent <= 10 else "look" if percent <= 50 else "bad",
    }


def _forecast(request: Request) -> Response:
    """Show the forecast for an epsilon, as `hedgerow check` does."""
    _, ready = _requested(request)
    forecast = FORECASTS.computed(ready)
    live = {
        "forecast": forecast,
        "json": _forecast_facts(ready, forecast),
        "epsilon": plain_epsilon(ready.epsilon),
    }
    return page_answer(request, "_forecast.html.j2", live=live)


def _within(request: Request) -> Response:
    """Show the smallest epsilon for which the noise of a count is within the given error."""
    file = shown_plan(request)
    text = request.query_params.get("within", "").strip().replace(",", "")
    if not text.isdecimal() or len(text) > 9:
        raise InputError(
            "The error is not an integer.", where="within", do="Give an integer of at least 1."
        )
    ready = with_error(prepare(file.plan()), within=int(text), records=None)
    epsilon = plain_epsilon(ready.epsilon)
    words = ["hedgerow", "check", file.name, "--within", text]
    return page_answer(request, "_within.html.j2", within=text, epsilon=epsilon, words=words)


def _account(request: Request) -> Response:
    """Show the remaining budget before and after; a separate command reads the ledger."""
    _, ready = _requested(request)
    ledger = ready.plan.ledger
    if ledger is None:
        return page_answer(request, "_account.html.j2", account=None)
    place = [] if ledger.file is None else ["--ledger", str(ready.plan.resolve(ledger.file))]
    folder = studio_of(request).folder
    try:
        answer = command_answer(folder, ["ledger", "show", *place, "--", ledger.name])
    except AnsweredError:  # the first release opens the account
        answer = {"dataset": ledger.name, "cap": str(ledger.cap), "spent": "0", "left": ""}
    account = _after({key: answer[key] for key in ("dataset", "cap", "spent")}, ready.epsilon)
    return page_answer(request, "_account.html.j2", account=account)


def _after(account: dict[str, Any], epsilon: Fraction) -> dict[str, Any]:
    try:
        cap, spent = Fraction(account["cap"]), Fraction(account["spent"])
    except (ValueError, ZeroDivisionError):
        raise InputError(
            "The form is incomplete.", where="cap", do="Load the page again."
        ) from None
    left, after = cap - spent, cap - spent - epsilon
    shown = shown_account({**account, "cap": str(cap), "spent": str(spent)})
    planned = round(min(float(epsilon / cap) * 100, 100.0), 1) if cap else 100.0
    return {
        **shown,
        "left": plain_epsilon(left) if left > 0 else "0",
        "after": plain_epsilon(after) if after > 0 else "0",
        "over": after < 0,
        "planned": planned,
    }


def _methods(request: Request, form: Sent) -> Response:
    """Start the forecasts of all methods as a separate process, because they take a while."""
    file = shown_plan(request)
    studio = studio_of(request)
    about = {"version": file.version, "part": f"/budget/methods?plan={file.name}"}
    run = studio.runs.start("methods", ["check", file.name, "--methods"], about=about)
    return page_answer(request, "_run.html.j2", run=run)


def _methods_result(request: Request) -> Response:
    file = shown_plan(request)
    runs = studio_of(request).runs.all("methods", version=file.version)
    others = _others(runs[0].answer) if runs and runs[0].state == "done" else None
    run = runs[0] if runs else None
    method = getattr(file.plan().publish, "method", None)
    return page_answer(request, "_methods.html.j2", run=run, others=others, method=method)


def _others(answer: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for each in answer.get("methods", []):
        forecast = each.get("forecast") or {}
        count = (forecast.get("prediction") or {}).get("count") or {}
        rows.append(
            {
                "method": each["method"],
                "groups": forecast.get("groups"),
                "error": forecast.get("count-error-95"),
                "off": count.get("off-by"),
                "verdict": forecast.get("verdict"),
                "why": each.get("why-not"),
            }
        )
    return rows


def _save(request: Request, form: Sent) -> Response:
    """Write epsilon, method and the ledger's lines to the plan."""
    file = shown_plan(request)
    data = file.data
    exact, value = epsilon_value(form.get("epsilon"))
    publish = _section(data, "publish")
    method = form.get("method") or publish.get("method", written_choice(data, publish).method)
    edits: list[Edit] = []
    if method != publish.get("method"):
        # Settings of another method do not apply to this one.
        edits += [
            Drop(path=("publish", key)) for key in publish if key not in ("method", "epsilon")
        ]
        edits.append(Put(path=("publish", "method"), value=method))
    if publish.get("epsilon") != value:
        edits.append(Put(path=("publish", "epsilon"), value=value))
    edits += _ledger_edits(data, form)
    saved = file.save(edits, version=form.need("version"))
    return page_answer(request, "_saved.html.j2", file=saved, epsilon=plain_epsilon(exact))


def _section(data: dict[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _ledger_edits(data: dict[str, Any], form: Sent) -> list[Edit]:
    before = _section(data, "ledger")
    edits: list[Edit] = []
    dataset, cap = form.get("dataset").strip(), form.get("cap").strip()
    account = "people" if "people" in before else "dataset"
    if dataset and dataset != before.get(account):
        edits.append(Put(path=("ledger", account), value=dataset))
    if cap:
        value = epsilon_value(cap)[1]
        if value != before.get("cap"):
            edits.append(Put(path=("ledger", "cap"), value=value))
    return edits


PAGE = Page(
    name="budget",
    routes=(
        Route("/budget", view(_show)),
        Route("/budget/live", view(_live)),
        Route("/budget/forecast", view(_forecast)),
        Route("/budget/within", view(_within)),
        Route("/budget/account", view(_account)),
        Route("/budget/methods", view(_methods_result), methods=["GET"]),
        Route("/budget/methods", change(_methods), methods=["POST"]),
        Route("/budget/save", change(_save), methods=["POST"]),
    ),
)
