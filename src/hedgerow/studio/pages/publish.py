"""The page Publish: checks, signature, fingerprint, and the run with its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.errors import (
    ChangedPlanError,
    HedgerowError,
    InputError,
    UnconfirmedPlanError,
)
from hedgerow.pipeline.confirm import signing_of
from hedgerow.pipeline.prepare import Prepared, prepare
from hedgerow.pipeline.signed import check_signed, signable_of, signature_states
from hedgerow.pipeline.unit import check_unit, unit_words
from hedgerow.studio.columns import plan_columns, to_look_at
from hedgerow.studio.forecasts import plain_epsilon
from hedgerow.studio.pages.budget import FORECASTS
from hedgerow.studio.planfile import PlanFile
from hedgerow.studio.runs import CommandRun
from hedgerow.studio.shell import (
    Page,
    Sent,
    change,
    page_answer,
    shown_plan,
    studio_of,
    view,
)
from hedgerow.studio.texts import texts

OPTIONS = {
    "records": "--write-records",
    "parquet": "--parquet",
    "force": "--force",
    "again": "--again",
    "even-if-noise": "--even-if-noise",
}


@dataclass(frozen=True, kw_only=True)
class SignedPoint:
    """One check before publishing; ``page`` is the page where it can be fixed."""

    name: str
    words: str
    standing: str
    page: str | None = None


def _show(request: Request) -> Response:
    file = shown_plan(request)
    return page_answer(request, "publish.html.j2", **_values(request, file))


def _values(request: Request, file: PlanFile) -> dict[str, Any]:
    studio = studio_of(request)
    runs = studio.runs.all("publish", plan=file.name)
    values: dict[str, Any] = {"file": file, "run": runs[0] if runs else None, "mistake": None}
    values |= {"ready": None, "points": [], "look": [], "fingerprint": None, "confirmed": False}
    values |= {"signatures": [], "void": False}
    values["approved"] = file.data.get("approved") or {}
    values["out"] = _free_folder(request, file)
    values["options"] = tuple(OPTIONS)
    try:
        plan = file.plan()
        ready = prepare(plan)
    except HedgerowError as error:
        return {**values, "mistake": error}
    look = to_look_at(file)
    signatures = signature_states(plan, signable_of(plan, ready.domain))
    void = any(each.is_void for each in signatures)
    return {
        **values,
        "ready": ready,
        "points": _points(file, ready, look),
        "look": look,
        "fingerprint": ready.fingerprint(),
        "signatures": signatures,
        "void": void,
        "confirmed": bool(plan.confirmed) and not void,
    }


def _free_folder(request: Request, file: PlanFile) -> str:
    """Return the name of a new folder beside the plan."""
    folder = studio_of(request).folder
    base = file.name.rpartition("/")[0]
    start = f"{base}/release" if base else "release"
    names = [start, *(f"{start}-{n}" for n in range(2, 10_000))]
    return next(name for name in names if not (folder.root / name).exists())


def _points(file: PlanFile, ready: Prepared, look: list[str]) -> list[SignedPoint]:
    """Return the checks before publishing, in the order of the pages."""
    said = texts("publish").points
    plan = ready.plan
    used = [each for each in plan_columns(file) if each.is_read]
    words = said.domains_look.format(n=len(look)) if look else said.domains.format(n=len(used))
    points = [
        SignedPoint(name="domains", words=words, standing="look" if look else "good", page="table")
    ]
    if ready.private:
        points.append(_unit_point(ready))
    records = (
        said.no_records if plan.records is None else said.records.format(n=f"{plan.records:,}")
    )
    standing = "look" if plan.records is None else "good"
    points.append(SignedPoint(name="records", words=records, standing=standing, page="table"))
    if ready.private:
        spent = said.budget.format(
            method=ready.settings.method, epsilon=plain_epsilon(ready.epsilon)
        )
        points.append(SignedPoint(name="budget", words=spent, standing="good", page="budget"))
        points.append(_verdict_point(ready, wait=False))
        points.append(_ledger_point(plan))
    else:
        points.append(
            SignedPoint(name="budget", words=str(ready.statement), standing="bad", page="budget")
        )
    return points


def _unit_point(ready: Prepared) -> SignedPoint:
    words = unit_words(ready)
    if words is None:
        said = texts("publish").points
        return SignedPoint(name="unit", words=said.no_unit, standing="bad", page="table")
    return SignedPoint(name="unit", words=words, standing="good", page="table")


def _verdict_point(ready: Prepared, *, wait: bool) -> SignedPoint:
    """Return the check of the forecast; pages do not wait for it to be computed."""
    said = texts("publish").points
    if ready.plan.records is None:
        return SignedPoint(name="verdict", words=said.no_verdict, standing="look", page="budget")
    forecast = FORECASTS.computed(ready) if wait else FORECASTS.cached(ready)
    if forecast is None:
        return SignedPoint(name="verdict", words=said.simulating, standing="waiting")
    standing = {"feasible": "good", "mostly noise": "bad"}.get(forecast.verdict, "look")
    return SignedPoint(name="verdict", words=forecast.advice, standing=standing, page="budget")


def _verdict(request: Request) -> Response:
    point = _verdict_point(prepare(shown_plan(request).plan()), wait=True)
    return page_answer(request, "_point.html.j2", point=point)


def _ledger_point(plan: Any) -> SignedPoint:
    said = texts("publish").points
    if plan.ledger is None:
        return SignedPoint(name="ledger", words=said.no_ledger, standing="look", page="budget")
    words = said.ledger.format(dataset=plan.ledger.name, cap=plain_epsilon(plan.ledger.cap))
    return SignedPoint(name="ledger", words=words, standing="good", page="budget")


def _confirm(request: Request, form: Sent) -> Response:
    """Write the confirmation and the signature of a person into the plan."""
    file = shown_plan(request)
    if look := to_look_at(file):
        raise UnconfirmedPlanError(
            f"These facts were taken from the data and are not confirmed: {', '.join(look[:10])}.",
            where=file.name,
            do="Confirm them one by one on the page Table.",
        )
    if form.get("public") != "yes":
        raise UnconfirmedPlanError(
            "The domains have not been declared public.",
            where="confirmed",
            do="Tick the statement if it is true.",
        )
    by, why = form.get("by").strip(), form.get("why").strip()
    if not by:
        raise UnconfirmedPlanError(
            "The name of the signer is missing.",
            where="by",
            do="Give the name of the person who confirms the plan.",
        )
    signing = signing_of(file.plan(), by=by, approve=True, why=why or None)
    saved = file.sign(signing, version=form.need("version"))
    return page_answer(request, "_signed.html.j2", **_values(request, saved))


def _start(request: Request, form: Sent) -> Response:
    """Start ``publish --expect FINGERPRINT`` as a separate process."""
    file = shown_plan(request)
    studio = studio_of(request)
    ready = prepare(file.plan())
    if ready.plan.confirmed:  # the run itself refuses an unconfirmed plan
        check_signed(ready.plan, ready.domain)
    fingerprint = ready.fingerprint()
    check_fingerprint(file, shown=form.need("fingerprint"), now=fingerprint)
    if ready.private:
        check_unit(ready.plan)
    out = form.need("out").strip()
    studio.folder.inside(out)
    if busy := _busy(studio.runs.all("publish"), out):
        raise InputError(
            "Another run is writing to this folder.",
            where=out,
            do=f"Wait until it ends, or cancel it: {busy.id}.",
        )
    words = ["publish", file.name, "--expect", fingerprint[:16], f"--out={out}"]
    words += [option for name, option in OPTIONS.items() if form.get(name) == "yes"]
    about = {"plan": file.name, "out": out}
    if "release" in request.app.state.names:
        about["next"] = f"/release?release={quote(out)}&plan={quote(file.name)}"
    run = studio.runs.start("publish", words, about=about)
    return page_answer(request, "_run.html.j2", run=run)


def check_fingerprint(file: PlanFile, *, shown: str, now: str) -> None:
    """Refuse to publish another plan than the one that was shown."""
    if shown != now:
        raise ChangedPlanError(
            "The plan or one of its taxonomies was changed since this page was shown. Nothing was"
            " started.",
            where=file.name,
            do="Load the page again, review the plan, and publish then.",
        )


def _busy(runs: list[CommandRun], out: str) -> CommandRun | None:
    return next((run for run in runs if run.is_running and run.about.get("out") == out), None)


PAGE = Page(
    name="publish",
    routes=(
        Route("/publish", view(_show)),
        Route("/publish/verdict", view(_verdict)),
        Route("/publish/confirm", change(_confirm), methods=["POST"]),
        Route("/publish/start", change(_start), methods=["POST"]),
    ),
)
