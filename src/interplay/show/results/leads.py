"""Leads of a result: the tuples or variables that join each, and Tagging, the verdicts on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_real, shown
from interplay.data.study.positions import make_positions
from interplay.data.study.table import Table, as_table
from interplay.files.types import Check
from interplay.infer.linkage import FLOOR, MAX_COLUMNS, Linkage, clump_tuples, make_linkage, neighbours_of
from interplay.infer.tagging import EXPLAINED, HOLDS, VERDICTS
from interplay.show.results.run import are_compared_by_rank

if TYPE_CHECKING:
    import pandas as pd

    from interplay.show.results.interactions import Interactions
    from interplay.show.results.selection import Selection


@dataclass(frozen=True)
class _Names:
    """The names of the variables of a result, as positions are given by them."""

    names: list[str]
    positions: None = None


def linkage_for(
    names: list[str], linkage: Linkage | None, variables: IntArray, X: Any, positions: Any, by_rank: BoolArray
) -> Linkage:
    """Return how variables are correlated: as the result knows it, or from `X`."""
    if X is None:
        if linkage is None:
            raise ValueError(
                "X is needed: this result does not hold the correlations of its variables, because parts were merged, "
                f"or because there are more than {MAX_COLUMNS:,} variables"
            )
        return linkage if positions is None else linkage.placed(make_positions(positions, _Names(names)))
    table = as_table(X)
    made = make_linkage(
        table,
        columns := columns_named(table, [names[v] for v in variables.tolist()]),
        variables,
        by_rank,
        None if positions is None else make_positions(positions, table),
    )
    if made is None:
        raise ValueError(
            f"X: {len(columns):,} variables are too many to be compared with each other: list fewer tuples"
        )
    return made


def columns_named(table: Table, names: list[str]) -> IntArray:
    """Return the numbers of variables in another table of the same names."""
    number_of = {name: number for number, name in enumerate(table.names)}
    for name in names:
        if name not in number_of:
            raise ValueError(f"X lacks the variable {shown(name)}, which is in one of the tuples")
    return np.array([number_of[name] for name in names], dtype=np.int64)


def check_r2(r2: Any, floor: float, *, name: str = "r2") -> float:
    """Refuse a threshold below which correlations were not kept."""
    given = check_real(name, r2, low=0.0, high=1.0, low_open=True)
    if given < floor:
        raise ValueError(f"{name}={given:g} is too small: results keep r² from {floor:.3g} on; give at least this")
    return given


def interaction_clumps(result: Interactions, r2: float, X: Any, positions: Any) -> pd.DataFrame:
    """See `Interactions.clumps`."""
    check_r2(r2, FLOOR)
    tuples = result.tested.tuples
    variables = np.unique(tuples)
    by_rank = np.array([result.cuts_of(v).is_cut for v in variables.tolist()], dtype=bool)
    linkage = linkage_for(result.names, result.linkage, variables, X, positions, by_rank)
    lead_of = clump_tuples(tuples, linkage, check_r2(r2, linkage.floor))
    about = {
        "p_value": result.tested.p_value,
        "p_adjusted": result.tested.p_adjusted,
        "significant": result.is_significant,
    }
    return _table(result.names, tuples, lead_of, linkage, r2, about)


def significant_leads(result: Interactions) -> BoolArray | None:
    """Say which listed tuples are significant, and lead a clump of significant tuples."""
    significant = np.flatnonzero(result.is_significant)
    if result.linkage is None or result.clump_r2 < result.linkage.floor:
        return None
    lead_of = clump_tuples(result.tested.tuples[significant], result.linkage, result.clump_r2)
    leads = np.zeros(len(result), dtype=bool)
    leads[significant[lead_of]] = True
    return leads


def selection_clumps(selection: Selection, r2: float, X: Any, positions: Any) -> pd.DataFrame:
    """See `Selection.clumps`."""
    check_r2(r2, FLOOR)
    ranked = selection.ranked
    variables = np.sort(ranked)
    by_rank = are_compared_by_rank(selection.runs, variables)
    linkage = linkage_for(selection.names, selection.linkage, variables, X, positions, by_rank)
    lead_of = clump_tuples(ranked[:, np.newaxis], linkage, check_r2(r2, linkage.floor))
    about = {"p_value": selection.p_value[ranked], "p_adjusted": selection.p_adjusted[ranked]}
    table = _table(selection.names, ranked[:, np.newaxis], lead_of, linkage, r2, about).drop(columns="n_variables")
    table["joined"] = [[name for (name,) in joined] for joined in table["joined"]]
    table.insert(0, "variable", [name for (name,) in table.pop("members")])
    return table


def _table(
    names: list[str], tuples: IntArray, lead_of: IntArray, linkage: Linkage, r2: float, about: dict[str, Any]
) -> pd.DataFrame:
    import pandas as pd

    order = np.argsort(lead_of, kind="stable")  # the lead first, then by p-value
    leads, starts = np.unique(lead_of[order], return_index=True)
    rows_of = np.split(order, starts[1:]) if len(leads) else []
    members = [[tuple(names[v] for v in tuples[row].tolist()) for row in rows.tolist()] for rows in rows_of]
    columns: dict[str, Any] = {
        "members": [some[0] for some in members],
        **{name: values[leads] for name, values in about.items()},
        "size": [len(rows) for rows in rows_of],
        "n_variables": [len(np.unique(tuples[rows])) for rows in rows_of],
        "joined": [some[1:] for some in members],
    }
    if len(linkage.position):
        near = neighbours_of(linkage, r2)
        columns["span"] = [_spans(tuples[rows], linkage, near) for rows in rows_of]
    return pd.DataFrame(columns)


def _spans(tuples: IntArray, linkage: Linkage, near: dict[int, set[int]]) -> str:
    """Return where the variables of a clump lie, for each member of its lead: "6:3100-3120 × 7:500"."""
    of_member: dict[int, list[int]] = {m: [m] for m in tuples[0].tolist()}
    for v in np.setdiff1d(tuples, tuples[0]).tolist():
        own = next((m for m in of_member if v in near.get(m, ())), None)
        if own is not None:
            of_member[own].append(v)
    return " × ".join(_span(variables, linkage) for variables in of_member.values())


def _span(variables: list[int], linkage: Linkage) -> str:
    """Return the places between which variables lie: "6:3100-3120", with commas if on several chromosomes."""
    ends: dict[str, tuple[float, float]] = {}
    for v in variables:
        place = linkage.place_of(v)
        if place is not None:
            low, high = ends.get(place[0], (np.inf, -np.inf))
            ends[place[0]] = (min(low, place[1]), max(high, place[1]))
    return ", ".join(_range_text(where, low, high) for where, (low, high) in ends.items()) or "?"


def _range_text(where: str, low: float, high: float) -> str:
    named = f"{where}:" if where else ""
    return f"{named}{_number(low)}" + (f"-{_number(high)}" if high > low else "")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"


@dataclass(frozen=True, eq=False)
class Tagging:
    """Verdicts on leads; each field has one entry per lead, but for `lead_of` and `about`."""

    #: (n_leads,): rows of the leads in the list of tuples.
    rows: Annotated[IntArray, Check("n_leads", low=0)]
    #: (n_listed,): for each listed tuple the lead of its clump, as a place in the other fields; −1 if it is not
    #: significant.
    lead_of: Annotated[IntArray, Check("n_listed", low=-1, below="n_leads")]
    #: "holds", "explained" or "cannot be told".
    verdict: Annotated[list[str], Check("n_leads")]
    #: Names of the columns that explain an interaction.
    by: Annotated[list[list[str]], Check("n_leads")]
    reason: Annotated[list[str], Check("n_leads")]
    #: (n_leads,): of the interaction, by the same models without neighbours.
    p_interaction: Annotated[FloatArray, Check("n_leads")]
    #: `p_neighbour`, `p_given`, (n_leads,): of the columns that explain, or come nearest to it, beside the members; and
    #: of the interaction beside them.
    p_neighbour: Annotated[FloatArray, Check("n_leads")]
    p_given: Annotated[FloatArray, Check("n_leads")]
    n_neighbours: Annotated[IntArray, Check("n_leads")]
    #: (n_leads,): largest r² between two members.
    r2: Annotated[FloatArray, Check("n_leads")]
    #: What was asked: window, dense, covariates, complete.
    about: dict[str, Any]

    def is_consistent(self) -> bool:
        """Say whether all verdicts and leads exist: a file may say anything."""
        return set(self.verdict) <= set(VERDICTS) and bool((self.rows < len(self.lead_of)).all())

    @property
    def is_explained(self) -> BoolArray:
        """Which of the listed tuples are explained by another column, or join a lead that is, (n_listed,)."""
        explained = np.array([verdict == EXPLAINED for verdict in self.verdict] + [False])
        return np.asarray(explained[self.lead_of])

    def verdict_of(self, row: int) -> tuple[str, list[str]] | None:
        """Return the verdict on a listed tuple, or on the lead that it joins, and the columns that explain it."""
        lead = int(self.lead_of[row])
        return None if lead < 0 else (self.verdict[lead], self.by[lead])

    def chosen(self, rows: IntArray) -> Tagging:
        """Keep some of the listed tuples, in that order, and the leads among them."""
        place_of = {row: place for place, row in enumerate(rows.tolist())}
        kept = [lead for lead, row in enumerate(self.rows.tolist()) if row in place_of]
        number_of = {lead: number for number, lead in enumerate(kept)}
        return Tagging(
            lead_of=np.array([number_of.get(lead, -1) for lead in self.lead_of[rows].tolist()], dtype=np.int64),
            rows=np.array([place_of[int(self.rows[lead])] for lead in kept], dtype=np.int64),
            verdict=[self.verdict[lead] for lead in kept],
            by=[self.by[lead] for lead in kept],
            reason=[self.reason[lead] for lead in kept],
            p_interaction=self.p_interaction[kept],
            p_neighbour=self.p_neighbour[kept],
            p_given=self.p_given[kept],
            n_neighbours=self.n_neighbours[kept],
            r2=self.r2[kept],
            about=self.about,
        )

    def table(self, result: Interactions) -> pd.DataFrame:
        """Return the verdicts as a table; see `Interactions.tagging`."""
        import pandas as pd

        return pd.DataFrame(
            {
                "members": [result.members_of(row) for row in self.rows.tolist()],
                "verdict": self.verdict,
                "by": [tuple(names) for names in self.by],
                "p_value": result.tested.p_value[self.rows],
                "p_adjusted": result.tested.p_adjusted[self.rows],
                "p_interaction": self.p_interaction,
                "p_neighbour": self.p_neighbour,
                "p_given": self.p_given,
                "n_neighbours": self.n_neighbours,
                "r2": self.r2,
                "reason": self.reason,
            }
        )

    def in_words(self) -> str:
        """Return the numbers of verdicts as a sentence."""
        n = len(self.verdict)
        counts = {verdict: self.verdict.count(verdict) for verdict in VERDICTS}
        parts = [f"{counts[HOLDS]} hold{'s' * (counts[HOLDS] == 1)} beside the columns near their members"]
        if counts[EXPLAINED]:
            one = counts[EXPLAINED] == 1
            parts.append(
                f"{counts[EXPLAINED]} {'is' if one else 'are'} explained by another column and no interaction"
                f"{'s' * (not one)}"
            )
        if n > counts[HOLDS] + counts[EXPLAINED]:
            parts.append(f"of {n - counts[HOLDS] - counts[EXPLAINED]} it cannot be told")
        return f"Of {n} lead{'s' * (n != 1)}, {'; '.join(parts)} (tagging)."
