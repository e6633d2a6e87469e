"""The page Release: report, maps, tree, marginals, synthetic records, certificate and files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from hedgerow.draw.axis import STEPS
from hedgerow.draw.bars import Bar, length_bars
from hedgerow.draw.map_names import names_across, names_down
from hedgerow.draw.maps import HEIGHT, WIDTH, class_names, map_borders, one_map
from hedgerow.draw.tree import box_node
from hedgerow.errors import InputError, ReleaseError
from hedgerow.model.baskets import NoisyBaskets
from hedgerow.model.sequences import NoisySequences
from hedgerow.privacy.source import SystemSource
from hedgerow.release.folder import REPORT
from hedgerow.release.records import MOST_RECORDS, record_tables
from hedgerow.release.table import label_columns, to_csv
from hedgerow.release.write import CERTIFICATE
from hedgerow.report.measured import measured_tables
from hedgerow.studio.boxview import brushed, kept_attributes, marginals_of, some_records
from hedgerow.studio.certified import certified_parts
from hedgerow.studio.itemsview import held_bars, item_bars, joint_bars, next_bars, record_text
from hedgerow.studio.shell import Page, framed_report, page_answer, studio_of, view
from hedgerow.studio.shownrelease import ShownRelease, shown_release
from hedgerow.studio.texts import texts

N_PREVIEWED = 40
MOST_MARGINALS = 24


def _shown(request: Request) -> ShownRelease:
    name = request.query_params.get("release", "")
    return shown_release(studio_of(request).folder, name)


def _show(request: Request) -> Response:
    """Show one view of a release, or the list of releases."""
    folder = studio_of(request).folder
    names = [name for name in folder.folders_with(CERTIFICATE) if not name.endswith("-evaluation")]
    chosen = request.query_params.get("release") or (names[0] if len(names) == 1 else None)
    if not chosen:
        return page_answer(request, "release.html.j2", names=names, shown=None)
    shown = shown_release(folder, chosen)
    wanted = request.query_params.get("show", "report")
    views = views_of(shown)
    if wanted not in views:
        wanted = views[0]
    return page_answer(
        request,
        "release.html.j2",
        names=names,
        shown=shown,
        views=views,
        current=wanted,
        **_VALUES[wanted](request, shown),
    )


def views_of(shown: ShownRelease) -> list[str]:
    """Return the names of the views that a release has."""
    found = ["report"] if (shown.path / REPORT).is_file() else []
    if shown.table is not None:
        groups = shown.pictured
        if len(kept_attributes(shown.table.schema, groups)) > 1:
            found.append("map")
        if groups.tree is not None:
            found.append("tree")
        found += ["marginals", "records"]
    elif shown.baskets is not None:
        found += ["marginals", "records"]
    return [*found, "certificate", "recipient"]


def _report(request: Request, shown: ShownRelease) -> dict[str, Any]:
    return {}


def _pair(request: Request, shown: ShownRelease) -> tuple[int, int]:
    """Return the two attributes of the address, or the two that split the most records."""
    schema = shown.release.schema
    known = {attribute.name: at for at, attribute in enumerate(schema.attributes)}
    usual = kept_attributes(schema, shown.pictured)
    if len(usual) < 2:
        raise ReleaseError(
            "The release has fewer than two attributes to map.",
            where=shown.name,
            do="Choose another view.",
        )
    across = known.get(request.query_params.get("across", ""), usual[0])
    down = known.get(request.query_params.get("down", ""), usual[1])
    if across == down:
        down = next(at for at in usual if at != across)
    return across, down


def _map(request: Request, shown: ShownRelease) -> dict[str, Any]:
    schema, groups = shown.release.schema, shown.pictured
    pair = _pair(request, shown)
    x, y = map_borders(schema, groups, pair)
    classes, n_other = class_names(schema, groups)
    drawn = one_map(schema, groups, pair)
    return {
        "map": drawn,
        "names_divided": [schema.attributes[at].name for at in kept_attributes(schema, groups)],
        "across": schema.attributes[pair[0]].name,
        "down": schema.attributes[pair[1]].name,
        "x": x,
        "y": y,
        "classes": classes,
        "n_other": n_other,
        "class_name": schema.class_attribute.name if schema.class_attribute else "",
        "steps": STEPS,
        "width": WIDTH,
        "height": HEIGHT,
        "names_across": names_across(drawn),
        "names_down": names_down(drawn),
        "paint": "class" if request.query_params.get("paint") == "class" and classes else "density",
        "of_leaves": shown.release.groups is not groups,
    }


def _tree(request: Request, shown: ShownRelease) -> dict[str, Any]:
    tree = shown.pictured.tree
    if tree is None:
        raise ReleaseError(
            "The release has no tree of boxes.", where=shown.name, do="Choose another view."
        )
    return {"node": box_node(shown.release.schema, tree, depth=2), "n_nodes": len(tree)}


def _below(request: Request) -> Response:
    """Show the children of one node of the tree of boxes."""
    shown, number = _shown(request), request.query_params.get("node", "")
    tree = shown.pictured.tree
    if tree is None or not number.isdecimal():
        raise InputError("The tree has no such node.", where="node", do="Load the page again.")
    node = box_node(shown.release.schema, tree, int(number), depth=1)
    return page_answer(request, "_boxnode.html.j2", node=node, release=shown.name, is_open=True)


def _marginals(request: Request, shown: ShownRelease) -> dict[str, Any]:
    if shown.baskets is not None:
        return _items(request, shown.baskets.baskets)
    schema, groups = shown.release.schema, shown.release.groups
    places = kept_attributes(schema, groups)
    return {
        "marginals": marginals_of(schema, groups, places[:MOST_MARGINALS]),
        "n_more": max(len(places) - MOST_MARGINALS, 0),
        "not_kept": [
            attribute.name for at, attribute in enumerate(schema.attributes) if at not in places
        ],
        "measured": measured_tables(schema, groups),
    }


def _items(request: Request, baskets: NoisyBaskets) -> dict[str, Any]:
    """Return frequent items, and items that occur with, or after, the chosen one."""
    item = request.query_params.get("item", "")
    words = request.query_params.get("find", "")
    lengths: tuple[Bar, ...] = ()
    beside: tuple[Bar, ...] = ()
    n_with = 0
    if isinstance(baskets, NoisySequences):
        items = held_bars(baskets, words)
        lengths = length_bars(baskets, texts("release").items.longer)
        if item:
            n_with, beside = next_bars(baskets, item)
    else:
        items = item_bars(baskets, words)
        if item:
            n_with, beside = joint_bars(baskets, item)
    found = {"items": items, "item": item, "n_with": n_with, "beside": beside}
    return {**found, "words": words, "lengths": lengths}


def _records(request: Request, shown: ShownRelease) -> dict[str, Any]:
    if shown.baskets is not None:
        baskets = shown.baskets.baskets
        order = np.argsort(-baskets.counts, kind="stable")[:N_PREVIEWED].tolist()
        counted = [(record_text(baskets, at), int(baskets.counts[at])) for at in order]
        return {"columns": [], "rows": counted, "n_records": int(baskets.counts.sum())}
    release = shown.release
    few = some_records(release.groups, N_PREVIEWED, seed=int.from_bytes(np.random.bytes(6), "big"))
    parts = [part.to_pydict() for part in record_tables(release.schema, few, source=SystemSource())]
    columns = list(parts[0])
    rows = [
        ["" if value is None else str(value) for value in row]
        for part in parts
        for row in zip(*part.values(), strict=True)
    ]
    return {
        "columns": columns,
        "rows": rows[:N_PREVIEWED],
        "n_records": int(release.groups.counts.sum()),
    }


def _certificate(request: Request, shown: ShownRelease) -> dict[str, Any]:
    return {"lines": certified_parts(shown.certificate)}


def _recipient(request: Request, shown: ShownRelease) -> dict[str, Any]:
    return {"files": shown.files()}


_VALUES = {
    "report": _report,
    "map": _map,
    "tree": _tree,
    "marginals": _marginals,
    "records": _records,
    "certificate": _certificate,
    "recipient": _recipient,
}


def _brushed(request: Request) -> Response:
    """Show the published counts in a part of the map."""
    shown, query = _shown(request), request.query_params
    cells = [query.get(name, "") for name in ("left", "right", "top", "bottom")]
    if not all(cell.isdecimal() and len(cell) < 6 for cell in cells):
        raise InputError("The selection is outside the map.", where="cells", do="Mark it again.")
    left, right, top, bottom = map(int, cells)
    found = brushed(
        shown.release.schema, shown.pictured, _pair(request, shown), (left, right, top, bottom)
    )
    return page_answer(request, "_brushed.html.j2", found=found)


def _framed(request: Request) -> Response:
    """Return the report for the sandboxed frame."""
    return framed_report(_shown(request).path / REPORT)


def _download(request: Request) -> Response:
    """Stream synthetic records drawn from the release."""
    shown = _shown(request)
    if shown.baskets is not None:
        return _file(shown, "release.dat")
    release = shown.release
    if int(release.groups.counts.sum()) > MOST_RECORDS:
        raise ReleaseError(
            "The noisy counts exceed the maximum number of synthetic records.",
            where=shown.name,
            do="Use the groups and their counts instead.",
        )

    def parts() -> Iterator[bytes]:
        import pyarrow as pa

        labels = label_columns(list(release.schema.used()))
        tables = record_tables(release.schema, release.groups, source=SystemSource(), chunk=1 << 16)
        for at, table in enumerate(tables):
            sink = pa.BufferOutputStream()
            to_csv(table, sink, texts=labels, header=at == 0)
            yield sink.getvalue().to_pybytes()

    headers = {"Content-Disposition": 'attachment; filename="records.csv"'}
    return StreamingResponse(parts(), media_type="text/csv; charset=utf-8", headers=headers)


def _released_file(request: Request) -> Response:
    """Return one file of the release."""
    return _file(_shown(request), request.query_params.get("file", ""))


def _file(shown: ShownRelease, name: str) -> Response:
    if name not in {each.name for each in shown.files()}:
        raise InputError(
            "The release has no such file.", where="file", do="Choose a file of the list."
        )
    path = shown.path / name

    def chunks() -> Iterator[bytes]:
        with path.open("rb") as file:
            while block := file.read(1 << 18):
                yield block

    plain = "".join(sign if sign.isalnum() or sign in "._-" else "_" for sign in path.name)
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return StreamingResponse(chunks(), media_type="application/octet-stream", headers=headers)


PAGE = Page(
    name="release",
    routes=(
        Route("/release", view(_show)),
        Route("/release/report", view(_framed)),
        Route("/release/brushed", view(_brushed)),
        Route("/release/below", view(_below)),
        Route("/release/records.csv", view(_download)),
        Route("/release/file", view(_released_file)),
    ),
)
