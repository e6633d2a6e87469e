"""Publish confidential data with a proved bound on what it reveals about any one person.

>>> import hedgerow
>>> [name for name in dir(hedgerow) if name.islower()]  # doctest: +NORMALIZE_WHITESPACE
['__version__', 'attack', 'audit', 'check', 'compare', 'confirm', 'disclose', 'draft', 'evaluate',
 'generalise', 'load_plan', 'publish', 'read_taxonomy', 'recover', 'register', 'risk', 'sign',
 'try_utility', 'verify']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.auditing.run import audit
    from hedgerow.comparison.compare import Comparison, compare
    from hedgerow.count.settings import EngineSettings
    from hedgerow.disclosure.disclose import disclose
    from hedgerow.disclosure.result import Disclosure
    from hedgerow.drafting.compose import draft
    from hedgerow.evaluation.evaluation import Evaluation
    from hedgerow.evaluation.run import evaluate
    from hedgerow.ledger.ledger import Ledger
    from hedgerow.methods.diffmulti.own_utility import OwnUtility
    from hedgerow.methods.diffmulti.try_utility import try_utility
    from hedgerow.methods.register import register
    from hedgerow.model.certificate import Certificate
    from hedgerow.pipeline.check import check
    from hedgerow.pipeline.confirm import confirm
    from hedgerow.pipeline.forecast import Forecast
    from hedgerow.pipeline.output import Output
    from hedgerow.pipeline.publish import publish
    from hedgerow.pipeline.recover import recover
    from hedgerow.plan.load import load_plan
    from hedgerow.plan.model import Plan
    from hedgerow.release.baskets import BasketRelease
    from hedgerow.release.generalise import generalise
    from hedgerow.release.release import Release
    from hedgerow.release.sequences import SequenceRelease
    from hedgerow.release.sign import sign
    from hedgerow.release.transformer import Generaliser
    from hedgerow.release.verify import verify
    from hedgerow.risks.attacks.result import AttackReport
    from hedgerow.risks.attacks.run import attack
    from hedgerow.risks.raw.assess import risk
    from hedgerow.risks.raw.assessment import RiskAssessment
    from hedgerow.taxonomy.files import read_taxonomy
    from hedgerow.taxonomy.tree import Taxonomy

    __version__: str

__all__ = [
    "AttackReport",
    "BasketRelease",
    "Certificate",
    "Comparison",
    "Disclosure",
    "EngineSettings",
    "Evaluation",
    "Forecast",
    "Generaliser",
    "Ledger",
    "Output",
    "OwnUtility",
    "Plan",
    "Release",
    "RiskAssessment",
    "SequenceRelease",
    "Taxonomy",
    "__version__",
    "attack",
    "audit",
    "check",
    "compare",
    "confirm",
    "disclose",
    "draft",
    "evaluate",
    "generalise",
    "load_plan",
    "publish",
    "read_taxonomy",
    "recover",
    "register",
    "risk",
    "sign",
    "try_utility",
    "verify",
]

_HOMES = {
    "AttackReport": "risks.attacks.result",
    "BasketRelease": "release.baskets",
    "Certificate": "model.certificate",
    "Comparison": "comparison.compare",
    "Disclosure": "disclosure.result",
    "EngineSettings": "count.settings",
    "Evaluation": "evaluation.evaluation",
    "Generaliser": "release.transformer",
    "Forecast": "pipeline.forecast",
    "Ledger": "ledger.ledger",
    "Output": "pipeline.output",
    "OwnUtility": "methods.diffmulti.own_utility",
    "Plan": "plan.model",
    "Release": "release.release",
    "RiskAssessment": "risks.raw.assessment",
    "SequenceRelease": "release.sequences",
    "Taxonomy": "taxonomy.tree",
    "attack": "risks.attacks.run",
    "audit": "auditing.run",
    "check": "pipeline.check",
    "compare": "comparison.compare",
    "confirm": "pipeline.confirm",
    "disclose": "disclosure.disclose",
    "draft": "drafting.compose",
    "evaluate": "evaluation.run",
    "generalise": "release.generalise",
    "load_plan": "plan.load",
    "publish": "pipeline.publish",
    "read_taxonomy": "taxonomy.files",
    "recover": "pipeline.recover",
    "register": "methods.register",
    "risk": "risks.raw.assess",
    "try_utility": "methods.diffmulti.try_utility",
    "sign": "release.sign",
    "verify": "release.verify",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``import hedgerow`` stays fast."""
    if name == "__version__":
        from importlib.metadata import version

        return version("hedgerow")
    if name in _HOMES:
        return getattr(import_module(f"hedgerow.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
