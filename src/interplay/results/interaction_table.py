"""Tested tuples → columns with names, a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import needing
from interplay.statistics.interaction.tested_tuples import TestedTuples

if TYPE_CHECKING:
    import networkx as nx

    from interplay.results.interactions import Interactions


def interaction_columns(result: Interactions) -> dict[str, Any]:
    """Return the columns of `Interactions.table`."""
    tested = result.tested
    rows = range(len(tested))
    columns: dict[str, Any] = {
        "members": [result.members_of(row) for row in rows],
        "chi2": tested.chi2,
        "df": tested.df,
        "p_value": tested.p_value,
        "p_adjusted": tested.p_adjusted,
        "significant": result.is_significant,
        "method": tested.method_names(),
        "min_expected": tested.min_expected,
        "log_or": tested.log_or,
        "ci_low": tested.ci_low,
        "ci_high": tested.ci_high,
        "residual": tested.residual,
        "cell": [cell_in_words(result, row) for row in rows],
        "n_samples": tested.n_samples,
    }
    for place in range(result.dimensions):
        columns[f"gain_{place + 1}"] = tested.gain[:, place]
    for place in range(result.dimensions):
        columns[f"alone_{place + 1}"] = tested.gain_alone[:, place]
    for place in range(result.dimensions):
        columns[f"log_or_{place + 1}"] = tested.log_or_alone[:, place]
    if result.settings["discretizations"] > 1:
        columns["discretization"] = tested.discretization
    return columns


def first_columns(result: Interactions) -> dict[str, Any]:
    """Return the columns of a replication about the samples in which the tuples were found."""
    first, tested = result.first, result.tested
    assert first is not None
    return {
        "first_chi2": first.chi2,
        "first_p_value": first.p_value,
        "first_p_adjusted": first.p_adjusted,
        "first_log_or": first.log_or,
        "first_ci_low": first.ci_low,
        "first_ci_high": first.ci_high,
        "same_direction": _same_direction(first, tested),
    }


def cell_in_words(result: Interactions, row: int) -> str:
    """Say where the largest residual of a tuple is: "a ≤ 0.3, b = 2: ill"; "" where there is none."""
    tested = result.tested
    if np.isnan(tested.residual[row]):
        return ""
    parts = []
    for v, level in zip(tested.tuples[row].tolist(), tested.residual_cell[row].tolist(), strict=True):
        cuts = result.cuts_of(v)
        name = cuts.level_names(int(tested.discretization[row]))[level]
        parts.append(
            f"{result.names[v]} {name}" if cuts.is_cut and name != "missing" else f"{result.names[v]} = {name}"
        )
    strata = list(result.provenance["strata"])
    if strata:
        parts.append(f"stratum {strata[tested.residual_stratum[row]]}")
    return f"{', '.join(parts)}: {result.outcome.labels[tested.residual_class[row]]}"


def interaction_graph(result: Interactions, *, only_significant: bool) -> nx.Graph:
    """See `Interactions.graph`."""
    with needing("networkx", "graph", "the graph needs"):
        import networkx as nx

    graph = nx.Graph()
    tested = result.tested
    rows = np.flatnonzero(result.is_significant) if only_significant else np.arange(len(tested))
    for row in rows.tolist():  # smallest p-value first: it stays
        members = result.members_of(row)
        about = {
            "members": members,
            "weight": float(tested.chi2[row]),
            "p_value": float(tested.p_value[row]),
            "p_adjusted": float(tested.p_adjusted[row]),
            "log_or": float(tested.log_or[row]),
        }
        for i, one in enumerate(members):
            for other in members[i + 1 :]:
                if not graph.has_edge(one, other):
                    graph.add_edge(one, other, **about)
    return graph


def _same_direction(first: TestedTuples, tested: TestedTuples) -> list[bool | None]:
    """Say of each tuple whether the effect has the same sign, or the residual where it was largest first."""
    same: list[bool | None] = []
    for row in range(len(tested)):
        if np.isfinite(first.log_or[row]) and np.isfinite(tested.log_or[row]):
            same.append(bool(first.log_or[row] * tested.log_or[row] > 0))
        elif np.isfinite(first.residual[row]) and np.isfinite(tested.residual[row]):  # of the same cell
            same.append(bool(first.residual[row] * tested.residual[row] > 0))
        else:
            same.append(None)
    return same
