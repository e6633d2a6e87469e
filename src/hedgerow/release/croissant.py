"""A release as Croissant metadata, which machine-learning tools use to find and load data sets.

Source: Croissant 1.0 (docs.mlcommons.org/croissant), a vocabulary of JSON-LD; its terms are the
keys here. Files, digests and columns come from the certificate and the data package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from hedgerow.model.certificate import Certificate
from hedgerow.model.sealed import facts_in
from hedgerow.release.package import PACKAGE, package_name
from hedgerow.release.publisher import Publisher
from hedgerow.release.reading import read_release_text

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {"string": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "date": "sc:Date"}
_MEDIA = {
    ".csv": "text/csv",
    ".dat": "text/plain",
    ".html": "text/html",
    ".json": "application/json",
    ".parquet": "application/x-parquet",
}


def croissant(folder: Path, certificate: Certificate, publisher: Publisher) -> dict[str, Any]:
    """Return the metadata of a release folder; paths of files are relative to ``url`` or to it."""
    resources = _resources(folder, certificate)
    facts: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": certificate.data.name,
        "description": " ".join((certificate.guarantee.statement, *certificate.signatures)),
        "datePublished": certificate.created.isoformat(),
        "citeAs": _cited(certificate, publisher),
        "version": "1.0.0",
        "isLiveDataset": False,
        "url": publisher.url,
        "license": publisher.licence,
        "creator": publisher.name and {"@type": "sc:Organization", "name": publisher.name},
        "distribution": [
            _file(name, listed.sha256, listed.bytes, resources.get(name), publisher.url)
            for name, listed in certificate.files.items()
        ],
        "recordSet": [
            _record_set(name, resource)
            for name, resource in resources.items()
            if "schema" in resource
        ],
    }
    return {key: value for key, value in facts.items() if value not in (None, [])}


def _cited(certificate: Certificate, publisher: Publisher) -> str:
    who = "" if publisher.name is None else f"{publisher.name}: "
    where = "" if publisher.url is None else f" {publisher.url}"
    origin = (
        f"{certificate.data.name}. Release made with hedgerow, {certificate.created.isoformat()}."
    )
    return f"{who}{origin}{where}"


def _resources(folder: Path, certificate: Certificate) -> dict[str, dict[str, Any]]:
    """Return the data package's description of each file; early releases have none."""
    if PACKAGE not in certificate.files:
        return {}
    stored = facts_in(read_release_text(folder / PACKAGE))
    return {resource["path"]: resource for resource in stored["resources"]}


def _file(
    name: str, sha256: str, size: int, resource: dict[str, Any] | None, url: str | None
) -> dict[str, Any]:
    place = quote(name) if url is None else f"{url.rstrip('/')}/{quote(name)}"
    facts = {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": place,
        "contentSize": f"{size} B",
        "encodingFormat": _MEDIA.get(Path(name).suffix, "application/octet-stream"),
        "sha256": sha256,
    }
    return facts if resource is None else {**facts, "description": resource["description"]}


def _record_set(name: str, resource: dict[str, Any]) -> dict[str, Any]:
    own = package_name(name.removesuffix(".csv"))
    taken: set[str] = set()
    return {
        "@type": "cr:RecordSet",
        "@id": own,
        "name": own,
        "description": resource["description"],
        "field": [_field(own, name, field, taken) for field in resource["schema"]["fields"]],
    }


def _field(own: str, file: str, field: dict[str, Any], taken: set[str]) -> dict[str, Any]:
    base = named = f"{own}/{package_name(field['name'])}"
    number = 2
    while named in taken:
        named, number = f"{base}-{number}", number + 1
    taken.add(named)
    return {
        "@type": "cr:Field",
        "@id": named,
        "name": field["name"],
        "description": field["description"],
        "dataType": _TYPES[field["type"]],
        "source": {"fileObject": {"@id": file}, "extract": {"column": field["name"]}},
    }
