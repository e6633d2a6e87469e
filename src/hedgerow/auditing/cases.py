"""Every method with every score and variant, and the mechanisms that methods consist of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal, get_args, get_origin

import numpy as np
from pydantic import ValidationError

from hedgerow.auditing.neighbours import (
    BasketPair,
    TablePair,
    basket_pairs,
    grown_pair,
    many_items_pair,
    table_pairs,
)
from hedgerow.auditing.sequences import SequencePair, sequence_pairs
from hedgerow.auditing.subject import Claim, MethodSubject, RunColumns, Subject
from hedgerow.errors import InternalError, SettingError
from hedgerow.model.method import Approximate, TableMethod
from hedgerow.model.schema import Schema
from hedgerow.plan.registry import METHODS
from hedgerow.plan.settings import MethodSettings, PrivateSettings
from hedgerow.privacy.budget import PathLedger
from hedgerow.privacy.choice import Rule
from hedgerow.privacy.mechanisms import (
    Spending,
    choose_by_score,
    noisy_counts,
    noisy_sparse_counts,
)
from hedgerow.privacy.source import SeededSource

VARIED = ("score", "faithful")
"""Settings of which every combination is audited."""

FURTHER: Mapping[str, Sequence[Mapping[str, object]]] = {
    "diffgen": [{"h": "all"}, {"h": "auto"}],
    "diffmulti": [{"distribution": "even"}, {"for": "clustering"}],
    "coterie": [{"frequent": 5}],
    "diffpart": [{"max_length": 2}],
}
"""Settings that change the algorithm of a method, audited once each."""

NAMED = {"coterie": "coterie, up to 18 items"}
"""Names of variants whose pairs cover only one of several branches of a method."""

SMALL: Mapping[str, Mapping[str, object]] = {
    "diffgen": {"h": 2},
    "diffmulti": {"h": 4},
    "rps": {"height": 3},
    "truthful": {"delta": "0.001"},
    "sample": {"least_records": 98},
}
"""Settings that suit tables of a few records; others keep the methods' own defaults."""

MECHANISM_TIMES = 10
MECHANISMS = ("noise", "empties", "exponential", "permute-and-flip")


@dataclass(frozen=True, kw_only=True)
class Unclaimed:
    """A method without a claim, which cannot be refuted."""

    name: str


def known_names() -> tuple[str, ...]:
    """Return all valid names: the mechanisms and the methods."""
    return (*MECHANISMS, *METHODS)


def subjects(
    names: Sequence[str], *, epsilon: Fraction, seed: int
) -> Iterator[Subject | Unclaimed]:
    """Yield the subjects of the names, or all subjects if there are no names."""
    for name in names or known_names():
        if name in MECHANISMS:
            yield MechanismSubject(name=name, claim=Claim(epsilon=epsilon))
        elif name in METHODS:
            yield from _variants(name, epsilon=epsilon, seed=seed)
        else:
            raise SettingError(
                f"{name!r} is not a method.",
                where="audit",
                do=f"Give one of: {', '.join(known_names())}.",
            )


def _variants(name: str, *, epsilon: Fraction, seed: int) -> Iterator[Subject | Unclaimed]:
    if not issubclass(METHODS[name], PrivateSettings):
        yield Unclaimed(name=name)
        return
    for words, publish in settings_of(name, epsilon=epsilon, varied=VARIED):
        yield method_subject(publish, name=NAMED.get(words, words), seed=seed)
    for varied in FURTHER.get(name, ()):
        yield method_subject(_settings(name, epsilon, varied), name=_words(name, varied), seed=seed)
    yield from _measured(name, Claim(epsilon=epsilon))


def _measured(name: str, claim: Claim) -> Iterator[Subject]:
    """Yield audits by measurements for methods whose releases show too little of these."""
    from hedgerow.auditing.measured import ITEMS, CountedSequences, MeasuredBaskets
    from hedgerow.methods.chain.chain import SequenceChain
    from hedgerow.methods.coterie.coterie import Coterie

    if name == "coterie":
        yield MeasuredBaskets(
            name=f"coterie, {ITEMS} items, measured", claim=claim, method=Coterie()
        )
    if name == "chain":
        yield CountedSequences(name="chain, measured", claim=claim, method=SequenceChain())


def settings_of(
    name: str, *, epsilon: Fraction, varied: Sequence[str]
) -> Iterator[tuple[str, PrivateSettings]]:
    """Yield the settings of a method for every combination of ``varied``, with its name."""
    model = METHODS[name]
    options = [(field, _choices(model, field)) for field in varied if field in model.model_fields]
    fields = [field for field, _ in options]
    for values in product(*(choices for _, choices in options)):
        combined = dict(zip(fields, values, strict=True))
        try:
            publish = _settings(name, epsilon, combined)
        except ValidationError:  # the variant does not have this score
            continue
        yield _words(name, combined), publish


def _settings(name: str, epsilon: Fraction, varied: Mapping[str, object]) -> PrivateSettings:
    fields = {"epsilon": epsilon, "method": name, **SMALL.get(name, {}), **varied}
    publish = METHODS[name].model_validate(fields)
    if not isinstance(publish, PrivateSettings):
        raise InternalError(f"{name} is not private.")
    return publish


def _choices(model: type[MethodSettings], field: str) -> tuple[object, ...]:
    """Return the possible values of a setting: those of its literal type, or both truth values."""
    annotation = model.model_fields[field].annotation
    parts = [annotation, *get_args(annotation)]
    for part in parts:
        if get_origin(part) is Literal:
            return get_args(part)
    return (False, True)


def _words(name: str, varied: Mapping[str, object]) -> str:
    words = []
    for field, value in varied.items():
        if field == "faithful":
            words.append("faithful" if value else "improved")
        else:
            words.append(str(value) if field == "score" else f"{field.replace('_', '-')} {value}")
    return ", ".join([name, *words])


@dataclass(frozen=True, kw_only=True)
class PairsOf:
    """Pairs of tables, of baskets or of sequences that replace the usual ones."""

    tables: tuple[TablePair, ...] = ()
    baskets: tuple[BasketPair, ...] = ()
    sequences: tuple[SequencePair, ...] = ()


def method_subject(
    publish: PrivateSettings, *, name: str, seed: int, over: PairsOf | None = None
) -> MethodSubject:
    """Return the subject of a plan's ``publish`` section, on the usual pairs or others.

    In addition to the usual pairs, hedge is run on a pair with private splits of single boxes, and
    DiffPart on one with very many items.
    """
    if publish.publishes == "baskets":
        return MethodSubject(
            name=name,
            claim=Claim(epsilon=publish.epsilon),
            method=publish.build(has_class=False),
            over=over.baskets if over else _baskets_for(publish.method, seed),
        )
    if publish.publishes == "sequences":
        pairs = over.sequences if over else sequence_pairs(epsilon=publish.epsilon, seed=seed)
        return MethodSubject(
            name=name,
            claim=Claim(epsilon=publish.epsilon),
            method=publish.build(has_class=False),
            over=pairs,
        )
    tables = over.tables if over else _tables_for(publish.method, seed)
    has_class = tables[0].schema.class_attribute is not None
    method, epsilon = publish.build(has_class=has_class), publish.epsilon
    fitting = tuple(pair for pair in tables if fits(method, pair.schema, epsilon))
    deltas = [_delta(method, pair.schema, epsilon) for pair in fitting]
    if not any(deltas):  # [T13] is about records that are sampled, not counted
        fitting = tuple(pair for pair in fitting if pair.name != "T13")
    claim = Claim(epsilon=epsilon, delta=max(deltas, default=Fraction(0)))
    return MethodSubject(name=name, claim=claim, method=method, over=fitting)


def _tables_for(method: str, seed: int) -> tuple[TablePair, ...]:
    further = (grown_pair(),) if method == "hedge" else ()
    return (*table_pairs(seed=seed), *further)


def _baskets_for(method: str, seed: int) -> tuple[BasketPair, ...]:
    further = (many_items_pair(),) if method == "diffpart" else ()
    return (*basket_pairs(seed=seed), *further)


def fits(method: TableMethod, schema: Schema, epsilon: Fraction) -> bool:
    """Return whether a method runs on tables of a schema."""
    try:
        method.validate(schema, epsilon)
    except SettingError:
        return False
    return True


def _delta(method: TableMethod, schema: Schema, epsilon: Fraction) -> Fraction:
    return method.delta(schema, epsilon) if isinstance(method, Approximate) else Fraction(0)


@dataclass(frozen=True, kw_only=True)
class MechanismSubject:
    """A bare mechanism: thousands of independent runs in one call."""

    name: str
    claim: Claim

    @property
    def pairs(self) -> Sequence[str]:
        """The single pair: one record, or none."""
        return ("T1",)

    def times(self, pair: str) -> int:
        """Return how many runs of the mechanism replace one run of a method."""
        return MECHANISM_TIMES

    def sample(self, pair: str, *, has_record: bool, runs: int, seed: int) -> RunColumns:
        """Return the results of ``runs`` runs of the mechanism on one record or none."""
        ledger = PathLedger(self.claim.epsilon)
        spending = Spending(
            epsilon=self.claim.epsilon,
            on="audit",
            ledger=ledger,
            source=SeededSource(seed),
            nodes=ledger.branch(0, runs),
        )
        if self.name == "noise":
            counts = np.full(runs, int(has_record), dtype=np.int64)
            return {"count": noisy_counts(counts, spending=spending).astype(np.float64)}
        if self.name == "empties":
            return _sparse(runs, has_record=has_record, spending=spending)
        return _choice(runs, has_record=has_record, rule=_rule(self.name), spending=spending)


def _rule(name: str) -> Rule:
    return "exponential" if name == "exponential" else "permute-and-flip"


def _sparse(runs: int, *, has_record: bool, spending: Spending) -> RunColumns:
    """Return noisy counts of at least 1 of two groups per run; the first may hold the record."""
    occupied = 2 * np.arange(runs if has_record else 0, dtype=np.int64)
    keys, noisy = noisy_sparse_counts(
        occupied, np.ones_like(occupied), n_groups=2 * runs, threshold=1, spending=spending
    )
    counts = np.zeros(2 * runs)
    counts[keys] = noisy
    return {"count": counts[::2], "other count": counts[1::2]}


def _choice(runs: int, *, has_record: bool, rule: Rule, spending: Spending) -> RunColumns:
    """Return choices among three candidates; the record raises the score of the first."""
    scores = np.tile(np.array([int(has_record), 0, 0], dtype=np.int64), runs)
    starts = 3 * np.arange(runs, dtype=np.int64)
    chosen = choose_by_score(
        scores,
        starts=starts,
        sensitivity=Fraction(1),
        monotone=True,
        rule=rule,
        weights=None,
        spending=spending,
    )
    return {"chosen": (chosen - starts).astype(np.float64)}
