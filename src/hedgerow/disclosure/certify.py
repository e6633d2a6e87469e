"""The certificate of a disclosure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pydantic import JsonValue

from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.disclosure.recipient import Recipient
from hedgerow.model import certificate as paper
from hedgerow.model.method import About, Departure
from hedgerow.plan.disclose import (
    AggregateDisclose,
    ApproxDisclose,
    DisclosePlan,
    ThresholdDisclose,
)
from hedgerow.privacy.budget import upward_text
from hedgerow.release.certificate_parts import assumed_table, described
from hedgerow.release.certify import NOTHING_SPENT, RunFacts, certificate_of

ARUBA = "ARUBA, SDM 2008"
TKDE = "Fouad, Elbassioni, Bertino, TKDE 2014"

_MODELS = {
    1: "severity divided by the number of matching records of the dictionary",
    2: "one divided by the number of matching records of the dictionary",
    3: "severity times the logarithm of the rarity of a matching record in the dictionary",
}


@dataclass(frozen=True, kw_only=True)
class DisclosureFacts:
    """Publishable facts of a run that its plan does not contain."""

    dataset: str
    against: str
    random: bool
    seeded: bool


def certify_disclosure(
    ready: PreparedDisclosure, facts: DisclosureFacts, risk: paper.DisclosedRisk
) -> paper.Certificate:
    """Return the certificate.

    Facts that were computed from data are the reduction of risk, in coarse steps, and counts
    that can be taken from the disclosed table; never a risk itself.
    """
    disclose = ready.disclose
    certificate = certificate_of(
        plan=ready.plan,
        about=About(
            name=disclose.method,
            faithful=isinstance(disclose, ApproxDisclose) and disclose.faithful,
            departures=_departures(ready),
            details=_details(ready, facts),
        ),
        settings=_settings(disclose),
        budget=NOTHING_SPENT,
        guarantee=paper.Guarantee.none(
            " ".join(
                [
                    disclosure_statement(ready, facts.against),
                    *recipient_words(risk.recipient),
                    risk_words(risk),
                ]
            )
        ),
        facts=RunFacts(
            epsilon=None,
            dataset=facts.dataset,
            engine="memory",
            reproducible=facts.random and facts.seeded,
            ledger=None,
        ),
        counts=None,
        assumed=_assumed(ready),
        data=paper.Data(
            name=facts.dataset, attributes=described(ready.schema, ready.plan), noisy_total=None
        ),
    )
    return certificate.model_copy(update={"disclosure": risk})


def certified_recipient(recipient: Recipient) -> paper.DisclosedTo:
    """Return the certificate's facts about a recipient, all of which the recipient knows.

    The number of recognised records is for the owner alone: it may reveal who is in both tables.
    """
    return paper.DisclosedTo(
        name=recipient.name,
        earlier=tuple(each.at[:10] for each in recipient.earlier),
        recognised_by="key" if recipient.by.startswith("key ") else "values",
    )


def recipient_words(recipient: paper.DisclosedTo | None) -> list[str]:
    """Return sentences about the earlier disclosures that were taken into account."""
    if recipient is None:
        return []
    if not recipient.earlier:
        return [f"This is the first disclosure to {recipient.name}."]
    days = list(dict.fromkeys(recipient.earlier))
    n = len(recipient.earlier)
    return [
        f"The risk covers all records that {recipient.name} has received:"
        f" {n} earlier disclosure{'s' if n > 1 else ''} ({', '.join(days)}) and this one."
        " Disclosures to other recipients are not counted."
    ]


def risk_words(risk: paper.DisclosedRisk) -> str:
    """Return a sentence about the reduction of risk."""
    if not risk.lowered:
        return (
            f"The mean risk did not fall to {risk.threshold} of that of the original records;"
            " the owner accepted this."
        )
    if risk.mean_left is None or risk.mean_left > risk.threshold:
        return "The risk was low from the beginning: many people share the values of a record."
    return f"The mean risk is at most {risk.mean_left} of that of the original records."


def disclosure_statement(ready: PreparedDisclosure, against: str) -> str:
    """Return what is promised for every record, and what is not."""
    return (
        f"Not differentially private. {_promise(ready.disclose)} Risk is measured against"
        f" {against}: an attacker who knows more than that, or who knows how the generalisations"
        " were chosen, may learn more. Every disclosed value is the recorded one, possibly"
        f" generalised{_and_class(ready)}."
    )


def _and_class(ready: PreparedDisclosure) -> str:
    target = ready.schema.class_attribute
    return "" if target is None else f", and {target.name} is disclosed unchanged"


def _promise(disclose: DisclosePlan) -> str:
    if isinstance(disclose, AggregateDisclose):
        return (
            "Each record is disclosed in the generalisation with the best balance of low risk and"
            " utility; neither has a limit."
        )
    if isinstance(disclose, ApproxDisclose) and disclose.dual:
        least = disclose.utility.at_least
        kept = f"{least} of its own" if least is not None and least.of_most else f"{least}"
        return (
            "Each record is disclosed in a generalisation of approximately the lowest risk whose"
            f" utility is at least {kept}; neither the risk nor its distance from the lowest is"
            " bounded. Records without such a generalisation are withheld."
        )
    if isinstance(disclose, ApproxDisclose):
        bound = upward_text(_bound(disclose), digits=6)
        return (
            "Each record is disclosed in a generalisation of approximately the highest utility"
            f" whose risk is at most {bound}, a multiple of the requested limit; records without"
            " such a generalisation are withheld."
        )
    if isinstance(disclose, ThresholdDisclose) and disclose.risk.at_most is not None:
        bound = upward_text(disclose.risk.at_most, digits=6)
        return (
            "Each record is disclosed in the generalisation of highest utility whose risk is at"
            f" most {bound}; records without such a generalisation are withheld."
        )
    threshold = disclose.threshold if isinstance(disclose, ThresholdDisclose) else None
    if threshold is None:
        return "Each record is disclosed in the generalisation that minimises risk minus utility."
    kept = f"{threshold} of its own" if threshold.of_most else f"{threshold}"
    return (
        "Each record is disclosed in the generalisation of lowest risk whose utility is at least"
        f" {kept}; the risk itself is not bounded. Records without such a generalisation are"
        " withheld."
    )


def _bound(disclose: ApproxDisclose) -> float:
    limit = disclose.risk.at_most or Fraction(0)
    return float(disclose.excess * (1 + disclose.width) / disclose.share * limit)


def _settings(disclose: DisclosePlan) -> dict[str, JsonValue]:
    """Return the settings by their paths in the section, without unset ones.

    Files are given by name only, because their folders are private.
    """
    settings: dict[str, JsonValue] = {}
    for key, value in disclose.model_dump(mode="json", by_alias=True).items():
        if key in ("utility", "risk"):
            settings |= {f"{key}.{name}": each for name, each in value.items()}
        else:
            settings[key] = value
    if disclose.memory is not None:
        settings["memory"] = Path(disclose.memory).name
    if not disclose.first:
        del settings["first"]
    if disclose.against is not None:
        settings["against"] = Path(disclose.against).name
    if isinstance(disclose.risk.weights, str):
        settings["risk.weights"] = Path(disclose.risk.weights).name
    return {key: value for key, value in settings.items() if value not in (None, {})}


def _details(ready: PreparedDisclosure, facts: DisclosureFacts) -> dict[str, str]:
    risk = ready.disclose.risk
    fits = (
        "a record of the dictionary matches if the disclosed one generalises it"
        if risk.consistency == "hierarchical"
        else "a record of the dictionary matches if its labels are similar (Jaro similarity)"
    )
    exact = (
        "every record has the best of all its generalisations"
        if _exact(ready)
        else (
            "not proved: this risk may grow when a record is generalised"
            if not ready.monotone
            else "approximated"
        )
    )
    return {
        "risk": f"model {risk.model}: {_MODELS[risk.model]}",
        "dictionary": facts.against,
        "consistency": fits,
        "weights": "one set per person" if risk.weights is not None else "the same for everybody",
        "optimum": exact,
        "withheld": "shown with all values generalised to the root, and without a class",
    }


def _exact(ready: PreparedDisclosure) -> bool:
    if isinstance(ready.disclose, ApproxDisclose):
        return False
    return ready.monotone or ready.disclose.method == "brute-force"


def _departures(ready: PreparedDisclosure) -> tuple[Departure, ...]:
    disclose, found = ready.disclose, []
    if disclose.risk.model == 3 and not disclose.risk.printed:
        found.append(
            Departure(
                paper=ARUBA,
                what="model 3 uses the relative frequency of matching records",
                why="as printed, it is largest if nothing is disclosed",
            )
        )
    if isinstance(disclose, ThresholdDisclose) and _walks_squares(disclose):
        found.append(
            Departure(
                paper=ARUBA,
                what="the frontier is walked by at most k² + k moves from a node",
                why="these connect it; 3^k - 1 are not needed",
            )
        )
    if isinstance(disclose, AggregateDisclose | ApproxDisclose) and disclose.floor:
        found.append(
            Departure(
                paper=TKDE,
                what=f"{float(disclose.floor):g} is added to the severity of every generalisation",
                why="the fully generalised record would have severity 0",
            )
        )
    if isinstance(disclose, ApproxDisclose) and disclose.dual:
        found.append(
            Departure(
                paper=TKDE,
                what="the best of all possible roundings of the dual is used",
                why="the paper names the dual and does not print it",
            )
        )
    elif isinstance(disclose, ApproxDisclose) and not disclose.faithful:
        found.append(
            Departure(
                paper=TKDE,
                what="the best acceptable rounding is used, not a random one",
                why="drawing until one is acceptable favours generalisations of low utility",
            )
        )
    return tuple(found)


def _walks_squares(disclose: ThresholdDisclose) -> bool:
    return disclose.method == "aruba" and disclose.moves == "squares"


def _assumed(ready: PreparedDisclosure) -> tuple[paper.Assumed, ...]:
    names = ", ".join(sorted(ready.disclose.model_dump(by_alias=True)))
    return (
        *assumed_table(ready.schema, settings=names, plan=ready.plan),
        paper.Assumed(what="an attacker knows no more than the dictionary"),
    )
