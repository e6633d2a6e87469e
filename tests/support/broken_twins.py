"""What audits of broken twins share: method subjects on the usual pairs, and a check."""

from __future__ import annotations

from fractions import Fraction

from hedgerow.auditing.neighbours import basket_pairs, table_pairs
from hedgerow.auditing.run import audit_subject
from hedgerow.auditing.subject import Claim, MethodSubject

ONE = Fraction(1)
TABLES = {pair.name: pair for pair in table_pairs()}
BASKETS = {pair.name: pair for pair in basket_pairs()}


def outcome(method, *pairs, epsilon=ONE, runs=300, name="twin"):
    """Return what an audit on these pairs says of a method that claims epsilon."""
    subject = MethodSubject(
        name=name, claim=Claim(epsilon=epsilon), method=method, over=tuple(pairs)
    )
    return audit_subject(subject, runs=runs, seed=11).outcome


class Vectorised:
    """Runs made all at once: ``columns(has_record, runs, seed)`` gives their features."""

    name = "vectorised"
    pairs = ("A",)

    def __init__(self, columns, *, epsilon=ONE):
        self.columns = columns
        self.claim = Claim(epsilon=epsilon)

    def times(self, pair):
        return 1

    def sample(self, pair, *, has_record, runs, seed):
        return self.columns(has_record=has_record, runs=runs, seed=seed)


def outcome_at_once(columns, *, epsilon=ONE, runs):
    """Return what an audit says of something that is run all at once."""
    return audit_subject(Vectorised(columns, epsilon=epsilon), runs=runs, seed=11).outcome
