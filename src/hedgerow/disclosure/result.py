"""A disclosure: the table and certificate to give out, and results for its owner only.

The table has each record's values at the levels that were found for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.disclosure.confidential import Confidential, Problems
from hedgerow.disclosure.lattice.lattice import Chains
from hedgerow.disclosure.lattice.packed import Found
from hedgerow.disclosure.movement import RiskMovement, movement_of, shown_classes
from hedgerow.disclosure.plane import plane_of
from hedgerow.disclosure.prepare import PreparedDisclosure
from hedgerow.disclosure.recipient import Recipient
from hedgerow.disclosure.uniform import UniformForms, Valued
from hedgerow.model.arrays import Floats
from hedgerow.model.certificate import Certificate
from hedgerow.model.labels import leaf_labels
from hedgerow.model.table import EncodedTable
from hedgerow.release.dictionary import DICTIONARY
from hedgerow.release.folder import REPORT, Written, write_certificate
from hedgerow.release.frames import Frames
from hedgerow.release.listing import disclosed_files, write_dictionary
from hedgerow.release.package import PACKAGE
from hedgerow.release.table import integers, label_columns, labelled, to_csv
from hedgerow.release.write import CERTIFICATE, OWNER, release_folder, write_text
from hedgerow.report.disclosed import render_disclosure_report
from hedgerow.report.owner import OwnerFigures, RecipientHistory, render_owner_report
from hedgerow.taxonomy.domain import Domain

if TYPE_CHECKING:
    import pyarrow as pa


def disclosed_nodes(
    table: EncodedTable,
    chains: tuple[Chains, ...],
    levels: NDArray[np.uint8],
    feasible: NDArray[np.bool_],
) -> list[NDArray[np.int32]]:
    """Return the taxonomy node of each record and attribute, the root for withheld records."""
    return [
        np.where(feasible, chain.nodes[column, levels[:, i]], 0).astype(np.int32)
        for i, (chain, column) in enumerate(zip(chains, table.codes, strict=True))
    ]


def disclosed_table(
    table: EncodedTable,
    chains: tuple[Chains, ...],
    nodes: list[NDArray[np.int32]],
    feasible: NDArray[np.bool_],
) -> pa.Table:
    """Return one row per record, in the order of the table: labels, and the class if any.

    A withheld record shows the labels of the roots, and an empty class.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for attribute, chain, column in zip(table.schema.attributes, chains, nodes, strict=True):
        columns[attribute.name] = _labels(attribute.domain, chain, column)
    target = table.schema.class_attribute
    if target is not None and table.classes is not None:
        labels = leaf_labels(target.domain)
        shown = np.where(feasible, table.classes, len(labels))
        columns[target.name] = labelled(shown, [*labels, ""])
    return pa.table(columns)


def _labels(domain: Domain, chain: Chains, nodes: NDArray[np.int32]) -> pa.DictionaryArray:
    used, place = np.unique(nodes, return_inverse=True)
    tree = chain.taxonomy
    labels = [domain.label(int(tree.first[node]), int(tree.stop[node])) for node in used]
    # A node with a single child holds the same values as the child, and has the same label.
    distinct = list(dict.fromkeys(labels))
    position = {label: at for at, label in enumerate(distinct)}
    same = np.array([position[label] for label in labels], dtype=np.int32)
    return labelled(same[place], distinct)


DISCLOSED = "disclosed.csv"
RISK = "risk.csv"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OwnerView:
    """Results for every record. Confidential: for the data owner only.

    ``already`` is the risk of each distinct record's earlier disclosures to the recipient.
    """

    ready: PreparedDisclosure
    confidential: Confidential
    problems: Problems
    found: Found
    before: Valued
    recipient: Recipient | None = None
    already: Floats | None = None

    def risks(self) -> pa.Table:
        """Return risk and utility before and after, and nodes visited, for every record.

        ``record`` is the row of the data, counted from 1. A withheld record has neither risk nor
        utility afterwards. With a recipient, ``risk_already`` is the risk of their earlier
        disclosures of it, null if there are none.
        """
        import pyarrow as pa

        kind, found = self.problems.kind, self.found
        columns: dict[str, Any] = {
            "record": integers(self.confidential.rows + 1, np.int64),
            "risk_before": _floats(self.before.risk[kind]),
            "risk_after": _floats(found.risk[kind]),
            "utility_before": _floats(self.before.utility[kind]),
            "utility_after": _floats(found.utility[kind]),
            "nodes_visited": integers(found.n_visited[kind], np.int64),
        }
        if self.recipient is not None and self.recipient.known is not None:
            nothing = np.full(len(found.risk), np.nan)
            already = nothing if self.already is None else self.already
            held = np.where(self.recipient.known.recognised, already[kind], np.nan)
            columns["risk_already"] = _floats(held)
        return pa.table(columns)

    def figures(self) -> OwnerFigures:
        """Return the figures of the owner's page, including a search for k-anonymous tables."""
        risk, kind, found = self.ready.disclose.risk, self.problems.kind, self.found
        plane = None
        if risk.consistency == "hierarchical" and not risk.printed:
            plane = plane_of(self.ready, self.confidential, self.problems, found)
        shown = found.feasible[kind]
        return OwnerFigures(
            n_distinct=len(self.problems),
            risks=(self.before.risk[kind], found.risk[kind][shown]),
            utilities=(self.before.utility[kind], found.utility[kind][shown]),
            visited=found.n_visited[kind],
            plane=plane,
            measure=self.ready.disclose.utility.measure,
            model=risk.model,
            recipient=self.what_they_have(),
        )

    def what_they_have(self) -> RecipientHistory | None:
        """Return the recipient's earlier disclosures, if the plan names a recipient."""
        recipient = self.recipient
        if recipient is None or recipient.known is None:
            return None
        known, already = recipient.known, self.already
        risks = np.zeros(0)
        if already is not None:
            risks = already[self.problems.kind][known.recognised]
        return RecipientHistory(
            name=recipient.name,
            by=recipient.by,
            earlier=tuple((e.number, e.at[:10], e.n_records, e.state) for e in recipient.earlier),
            n_recognised=int(known.recognised.sum()),
            n_changed=int(known.changed.sum()),
            risks=risks,
            memory=str(recipient.memory.path),
        )

    @cached_property
    def nodes(self) -> list[NDArray[np.int32]]:
        """Taxonomy node that each record shows, per attribute."""
        kind, found = self.problems.kind, self.found
        shown = found.levels[kind], found.feasible[kind]
        return disclosed_nodes(self.confidential.table, self.ready.chains, *shown)

    @cached_property
    def movement(self) -> RiskMovement:
        """Change in risk, and statistics of the disclosed rows."""
        kind, found, dictionary = self.problems.kind, self.found, self.confidential.dictionary
        forms = UniformForms(
            ready=self.ready, confidential=self.confidential, problems=self.problems
        )
        matches = forms.sizes(forms.as_they_are(), dictionary.columns, dictionary.many)
        return movement_of(
            before=self.before.risk[kind],
            after=found.risk[kind],
            already=None if self.already is None else self.already[kind],
            matches=matches[kind],
            nodes=self.nodes,
            chains=self.ready.chains,
            classes=shown_classes(self.confidential.table, found.feasible[kind]),
        )

    @cached_property
    def n_withheld(self) -> int:
        """Number of records without a generalisation that is safe and useful enough."""
        return int((~self.found.feasible[self.problems.kind]).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class Disclosure(Frames):
    """Disclosure: generalised single records with their certificate, and the owner's risk figures.

    Returned by `disclose`.

    Parameters
    ----------
    certificate : Certificate
        States the method and that there is no differential privacy.
    owner : OwnerView
        Risks of the records, confidential.

    Notes
    -----
    Privacy: none in the sense of differential privacy. The table, the certificate and `report`
    may be given to others; ``owner`` and `owner_report` must not.

    Examples
    --------
    >>> import hedgerow
    >>> import pandas as pd
    >>> visits = pd.DataFrame({"age": [34, 61, 47] * 20, "ward": ["A", "B", "C"] * 20})
    >>> plan = {"attributes": {"age": {"numeric": [0, 99]}, "ward": {"values": ["A", "B", "C"]}},
    ...         "confirmed": True, "disclose": {"utility": {"at-least": "half"}}}
    >>> len(hedgerow.disclose(plan, data=visits))
    60

    """

    certificate: Certificate
    owner: OwnerView

    def __repr__(self) -> str:
        return f"Disclosure({self.certificate.data.name!r}, {len(self):,} records)"

    def __len__(self) -> int:
        return len(self.owner.confidential.table)

    @property
    def n_rows(self) -> int:
        """Number of disclosed records, withheld ones included."""
        return len(self)

    def to_arrow(self) -> pa.Table:
        """Return one row per record, in the order of the data: labels, and the class."""
        owner = self.owner
        feasible = owner.found.feasible[owner.problems.kind]
        return disclosed_table(owner.confidential.table, owner.ready.chains, owner.nodes, feasible)

    def report(self) -> str:
        """Return the text of `report.html`, which may be given out."""
        return render_disclosure_report(
            self.owner.ready.schema,
            self.owner.ready.chains,
            self.owner.nodes,
            self.certificate,
            files=(DISCLOSED, DICTIONARY, PACKAGE, CERTIFICATE),
        )

    def owner_report(self) -> str:
        """Return the text of the confidential `owner/report.html` with the risks."""
        return render_owner_report(self.owner.figures(), self.certificate)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        last: Callable[[], None] | None = None,
    ) -> Written:
        """Write the complete folder or nothing, and return what was written.

        ``last`` is called when all files are on the disk, just before the folder gets its name.

        Files in `owner` can be read only by the user who wrote them, and are not for others.
        An earlier release is replaced only with ``force``, and only once the new one is complete.
        """
        # Everything is computed before anything is written.
        texts = label_columns(list(self.owner.ready.schema.used()))
        table, risks = self.to_arrow(), self.owner.risks()
        public, owners = self.report(), self.owner_report()
        described = disclosed_files(self.owner.ready.schema, self.certificate)
        with release_folder(folder, force=force) as partial:
            to_csv(table, partial / DISCLOSED, texts=texts)
            write_dictionary(partial, described, self.certificate)
            write_text(partial / REPORT, public)
            files = write_certificate(partial, self.certificate).files
            private = partial / OWNER
            private.mkdir(mode=0o700)
            to_csv(risks, private / RISK, texts=())
            write_text(private / REPORT, owners)
            if last is not None:
                last()
        owned = (f"{OWNER}/{RISK}", f"{OWNER}/{REPORT}")
        listed = (*files, CERTIFICATE, *owned)
        return Written(folder=Path(folder), files=tuple(sorted(listed)))


def _floats(values: NDArray[np.float64]) -> pa.Array:
    """Return numbers as an Arrow column with nulls for NaN."""
    import pyarrow as pa

    flat = np.ascontiguousarray(values, dtype=np.float64)
    missing = np.isnan(flat)
    valid = np.packbits(~missing, bitorder="little")
    return pa.Array.from_buffers(
        pa.float64(), len(flat), [pa.py_buffer(valid), pa.py_buffer(flat)], int(missing.sum())
    )
