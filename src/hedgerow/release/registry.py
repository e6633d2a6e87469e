"""A release as an entry for OpenDP's registry of deployments.

Source: `schemas/deployments-schema.yaml` of github.com/opendp/deployments-registry-data, as of
commit 057e5d81, whose terms are the keys here. Facts that the certificate does not contain come
from the publisher; justification and evidence must be added before the entry is submitted.
"""

from __future__ import annotations

from hedgerow.errors import ReleaseError
from hedgerow.model.certificate import Certificate
from hedgerow.release.package import package_name
from hedgerow.release.publisher import Publisher

_MECHANISMS = (
    "Discrete Laplace noise on counts, drawn exactly in integer arithmetic, and exact private"
    " choice by scores; random bits from the operating system. No floating-point noise is used."
    " Run time and memory are not hidden from observers of the machine."
)
_LOOSE = (
    "Random sampling of records, and suppression of groups that are too small; random bits from the"
    " operating system. Run time and memory are not hidden from observers of the machine."
)
_COMPOSITION = (
    "Sequential over steps that read all records, parallel over disjoint boxes; every step books an"
    " exact fraction, and the guarantee is for the path with the largest sum. Releases of the same"
    " data set add up on a ledger with a cap."
)
_TRUST = (
    "The publisher holds the records and is trusted with them. Nobody else is trusted: recipients"
    " of the release may have any other knowledge and may collude."
)


def registry_entry(certificate: Certificate, publisher: Publisher) -> dict[str, object]:
    """Return the entry; only for differentially private releases with real noise."""
    promised = certificate.guarantee
    if not promised.private or promised.epsilon is None:
        raise ReleaseError(
            "The release is not differentially private, which the registry requires.",
            where="certificate.json",
            do="Describe it as croissant, or publish it with epsilon and without a seed.",
        )
    publisher.need("name", "kind", "region", "use")
    pure = not promised.delta
    parameters: dict[str, object] = {"epsilon": float(promised.epsilon)}
    if promised.delta:
        parameters["delta"] = float(promised.delta)
    return {
        "url_slug": package_name(certificate.data.name),
        "deployment": {
            "basic": _basic(certificate, publisher),
            "dp_variant": {
                "variant_name": "Pure DP" if pure else "Approximate DP",
                "data_domain": _domain(certificate),
                "unprotected_quantities": "None is computed from the data. Assumed to be public: "
                + "; ".join(each.what for each in certificate.assumed_public),
            },
            "privacy_loss": {**_unit(certificate), "privacy_parameters": parameters}
            | {"privacy_parameters_details": promised.statement},
            "deployment_model": _model(certificate),
            "implementation": _implementation(certificate),
            "administrative": {
                "status": "Draft",
                "registry_authors": [publisher.name],
                "tier": 2,
            },
        },
    }


def _basic(certificate: Certificate, publisher: Publisher) -> dict[str, object]:
    return {
        "name": certificate.data.name,
        "data_curators": [
            {"data_curator_name": publisher.name, "data_curator_type": publisher.kind}
        ],
        "description": f"{_what(certificate)}, published with hedgerow's method"
        f" {certificate.method.name}. {certificate.guarantee.statement}",
        "intended_use": publisher.use,
        "data_product_type": "Synthetic data" if _synthetic(certificate) else "Summary statistics",
        "data_product_region": publisher.region,
        "publication_date": certificate.created.isoformat(),
    }


def _synthetic(certificate: Certificate) -> bool:
    rows = str(certificate.method.details.get("rows", ""))
    return certificate.data.items is not None or rows.startswith("invented")


def _what(certificate: Certificate) -> str:
    items = certificate.data.items
    if items is None:
        names = ", ".join(each.name for each in certificate.data.attributes)
        synthetic = _synthetic(certificate)
        rows = "Synthetic records" if synthetic else "Noisy counts of groups of records"
        return f"{rows} with the attributes {names}"
    return f"{'Sequences' if items.ordered else 'Sets'} of items out of {items.size:,}"


def _domain(certificate: Certificate) -> str:
    items = certificate.data.items
    if items is not None:
        return f"All {'sequences' if items.ordered else 'sets'} of {items.size:,} public items."
    sizes = ", ".join(f"{each.name} ({each.size:,} values)" for each in certificate.data.attributes)
    return f"All tables with these attributes and public domains: {sizes}."


def _unit(certificate: Certificate) -> dict[str, object]:
    promised, total = certificate.guarantee, certificate.data.noisy_total
    person = promised.person
    record = certificate.records_word.removesuffix("s")
    single = "person" if promised.unit == "one record per person" else record
    words = promised.protects(certificate.records_word)
    unit: dict[str, object] = {
        "privacy_unit": f"One {single if person is None else person.noun}",
        "privacy_unit_details": f"{'' if words is None else f'{words} '}Neighbouring data sets:"
        f" {promised.neighbours}.",
    }
    if total is not None and (person is None or person.counts_people):
        unit["number_of_privacy_units"] = total
    return unit


def _model(certificate: Certificate) -> dict[str, object]:
    line, covers = certificate.ledger, certificate.covers
    model = "" if covers is None else f"{covers.statement} "
    if line is not None and line.cap is not None:
        model += (
            f"A ledger keeps all releases of {line.dataset} within epsilon {line.cap} in total."
        )
    return {
        "model_name": "Central",
        "trust_assumptions": _TRUST,
        "release_type": "One release",
        "release_type_details": model or "No ledger is named.",
        "access_type": "Non-interactive",
    }


def _implementation(certificate: Certificate) -> dict[str, object]:
    counts, method = certificate.counts, certificate.method
    drawn = _LOOSE if certificate.guarantee.delta else _MECHANISMS
    chosen = ", ".join(f"{key} = {value}" for key, value in method.settings.items())
    facts: dict[str, object] = {
        "preprocessing_and_hyperparameter_tuning": "Domains and settings are public inputs that a"
        " person confirmed; data-dependent choices of a method are paid for. Records are read,"
        " clamped or dropped one by one. " + " ".join(certificate.signatures),
        "mechanisms": f"{drawn} Method {method.name} of hedgerow"
        f" {certificate.versions.get('hedgerow', '')}, settings {chosen}.",
        "composition": _COMPOSITION,
        "additional_information": f"The certificate of the release lists {len(certificate.files)}"
        f" files with their digests and {len(certificate.departures)} departures from the papers.",
    }
    if counts is not None:
        facts["post_processing"] = f"Counts were {counts.adjustment or 'left unchanged'}."
        facts["utility"] = (
            f"The noise on one count is within ±{counts.within_95:,} with a probability of 95 %."
        )
    if certificate.approved is not None and certificate.approved.why is not None:
        facts["justification"] = certificate.approved.why
    return facts
