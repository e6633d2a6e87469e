"""The page of an attack run for a board: questions, each with attack, control and bound.

Privacy: none. The page is for the data owner only and says so. It shows rates and names of
columns, never a value of a record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hedgerow.report.headlines import Facts
from hedgerow.report.page import rendered

ATTACK_NAMES = {
    "distance": "distance to the nearest released record",
    "density": "released density around the record",
    "trained": "both, weighted on half of the pairs",
    "shadow": "both, weighted on releases of simulated tables",
}


@dataclass(frozen=True, kw_only=True)
class RateBar:
    """A rate with its interval, in per cent."""

    name: str
    kind: str
    rate: float
    low: float
    high: float
    text: str


@dataclass(frozen=True, kw_only=True)
class AttackFinding:
    """Result of one attack beside its control and bound, with a verdict.

    ``grade`` is good (no difference found), fair (a difference within the bound), poor (a
    difference without a bound) or refuted (a difference beyond the bound).
    """

    title: str
    bars: tuple[RateBar, ...]
    verdict: str
    grade: str
    note: str | None = None


def rate_text(rate: float | None) -> str:
    """Return a share in per cent, never rounded to 0 or 100.

    >>> rate_text(0.5), rate_text(0.0004), rate_text(1.0), rate_text(None)
    ('50.0 %', 'under 0.1 %', '100 %', '–')
    """
    if rate is None:
        return "–"
    if rate in {0.0, 1.0}:
        return f"{100 * rate:.0f} %"
    if rate < 0.001:
        return "under 0.1 %"
    return "over 99.9 %" if rate > 0.999 else f"{100 * rate:.1f} %"


def _bar(name: str, kind: str, facts: Facts) -> RateBar:
    text = rate_text(facts["rate"])
    if facts["low"] != facts["high"]:
        text += f" ({rate_text(facts['low'])} to {rate_text(facts['high'])})"
    rate, low, high = (round(100 * (facts[key] or 0.0), 2) for key in ("rate", "low", "high"))
    return RateBar(name=name, kind=kind, rate=rate, low=low, high=high, text=text)


def _exact(rate: float) -> Facts:
    return {"rate": rate, "low": rate, "high": rate}


def attack_verdict(facts: Facts) -> tuple[str, str]:
    """Return the verdict on one attack and its grade."""
    beyond = facts.get("beyond-control", facts.get("beyond-guessing"))
    if facts.get("beyond-bound"):
        return (
            "The attack exceeds the bound of the guarantee: the certificate is refuted."
            " Do not publish this release.",
            "refuted",
        )
    if beyond is None:
        return "There is no control, so this figure alone is not conclusive.", "fair"
    if beyond and facts["bound"] is None:
        return (
            "The attack succeeds more often on people in the data than on others, and no guarantee"
            " limits the difference.",
            "poor",
        )
    if beyond:
        return (
            "The attack succeeds more often on people in the data than on others, within the bound"
            " of the guarantee.",
            "fair",
        )
    if facts["bound"] is None:
        return "No difference was found, but no guarantee excludes that others find one.", "fair"
    return "This attack succeeds no more often on people in the data than on others.", "good"


def _question(title: str, facts: Facts, note: str | None = None) -> AttackFinding:
    bars = [_bar("attack, on people in the data", "attack", facts["attack"])]
    if facts["control"] is not None:
        bars.append(_bar("control, on people not in the data", "control", facts["control"]))
    if facts["bound"] is not None:
        bars.append(_bar("bound, from the guarantee and the control", "bound", facts["bound"]))
    words, grade = attack_verdict(facts)
    return AttackFinding(title=title, bars=tuple(bars), verdict=words, grade=grade, note=note)


def _member(name: str, facts: Facts) -> AttackFinding:
    bars = [
        _bar("attack, pairs guessed correctly", "attack", facts["accuracy"]),
        _bar("control, a random guess", "control", _exact(0.5)),
    ]
    if facts["bound"] is not None:
        bars.append(_bar("bound, from the guarantee", "bound", _exact(facts["bound"])))
    words, grade = attack_verdict(facts)
    surest = facts["sure"]
    note = None
    if surest["of"]:
        correct = _bar("", "", surest).text
        note = (
            f"On the {surest['of']} pairs where the attack was most certain, {correct} of the"
            " guesses were correct."
        )
    title = ATTACK_NAMES[name]
    return AttackFinding(title=title, bars=tuple(bars), verdict=words, grade=grade, note=note)


@dataclass(frozen=True, kw_only=True)
class BoardAnswer:
    """Answer to one question: findings, and attacks that were not run, with the reason."""

    found: tuple[AttackFinding, ...]
    omitted: tuple[tuple[str, str], ...] = ()


def _membership(facts: Facts) -> BoardAnswer:
    if "not-run" in facts:
        return BoardAnswer(found=(), omitted=(("membership", facts["not-run"]),))
    runs = facts["attacks"]
    return BoardAnswer(
        found=tuple(_member(name, each) for name, each in runs.items() if "not-run" not in each),
        omitted=tuple(
            (ATTACK_NAMES[name], each["not-run"])
            for name, each in runs.items()
            if "not-run" in each
        ),
    )


def _plain(title: str, facts: Facts) -> BoardAnswer:
    if "not-run" in facts:
        return BoardAnswer(found=(), omitted=((title, facts["not-run"]),))
    return BoardAnswer(found=(_question(title, facts, _guessing(facts)),))


def _guessing(facts: Facts) -> str | None:
    """Return the success of guessing from single columns, which a useful attack must exceed."""
    if "baseline" not in facts:
        return None
    rate = facts["baseline"]["rate"]
    text = f"Guessing without the other values is correct in {rate_text(rate)} of the cases."
    if rate is not None and rate > facts["attack"]["rate"]:
        text += " The attack is weaker than that, so its failure is not conclusive."
    return text


def _inference(facts: Facts) -> BoardAnswer:
    if "not-run" in facts:
        return BoardAnswer(found=(), omitted=(("inference", facts["not-run"]),))
    return BoardAnswer(
        found=tuple(
            _question(name, each, _guessing(each)) for name, each in facts["columns"].items()
        )
    )


def _differencing(facts: Facts) -> BoardAnswer:
    if "not-run" in facts:
        return BoardAnswer(found=(), omitted=(("differencing", facts["not-run"]),))
    answer = _membership(facts["membership"])
    inferred = _inference(facts["inference"]).found if "inference" in facts else ()
    named = [replace(each, title=f"two releases: {each.title}") for each in answer.found + inferred]
    return BoardAnswer(found=tuple(named), omitted=answer.omitted)


def board_answers(facts: Facts) -> dict[str, BoardAnswer]:
    """Return the answer to each question, in the order of the page."""
    return {
        "singling-out": _plain("singling out", facts["singling-out"]),
        "linkability": _plain("linkability", facts["linkability"]),
        "inference": _inference(facts["inference"]),
        "membership": _membership(facts["membership"]),
        "differencing": _differencing(facts["differencing"]),
        "reconstruction": _plain("reconstruction", facts["reconstruction"]),
    }


def summary_of(facts: Facts) -> tuple[str, str]:
    """Return a summary of all answers in one sentence, and its grade."""
    found = [each for answer in board_answers(facts).values() for each in answer.found]
    grades = [each.grade for each in found]
    refuted = any(each.grade == "refuted" for each in found)
    if refuted:
        return (
            "An attack exceeds the bound of the guarantee. Do not publish this release.",
            "refuted",
        )
    if "poor" in grades:
        return "Attacks learn more about people in the data than about others.", "poor"
    if facts["holdout"] is None:
        return (
            "Without held-out records, nothing can be concluded about people in the data.",
            "fair",
        )
    if facts["pair-bound"] is None:
        return "These attacks found no difference; no guarantee limits other attacks.", "fair"
    if "fair" in grades:
        return "Attacks learn a little about people in the data, within the guarantee.", "fair"
    return "These attacks learn no more about people in the data than about others.", "good"


def render_attack(facts: Facts) -> str:
    """Return the page as self-contained HTML."""
    words, grade = summary_of(facts)
    return rendered(
        "attack.html.j2",
        facts=facts,
        release=facts["release"],
        summary=words,
        grade=grade,
        answers=board_answers(facts),
        share=rate_text,
    )
