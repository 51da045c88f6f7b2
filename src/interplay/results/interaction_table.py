"""Tested tuples → columns with names, a graph."""

from __future__ import annotations

from itertools import combinations
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
    for name, values in (("gain", tested.gain), ("alone", tested.gain_alone), ("log_or", tested.log_or_alone)):
        columns |= {f"{name}_{place + 1}": values[:, place] for place in range(result.dimensions)}
    if result.settings["discretizations"] > 1:
        columns["discretization"] = tested.discretization
    return columns


def first_columns(result: Interactions) -> dict[str, Any]:
    """Return the columns of a replication about the samples in which the tuples were found."""
    first, tested = result.first, result.tested
    assert first is not None
    names = ("chi2", "p_value", "p_adjusted", "log_or", "ci_low", "ci_high")
    columns = {f"first_{name}": getattr(first, name) for name in names}
    return columns | {"same_direction": _same_direction(first, tested)}


def cell_in_words(result: Interactions, row: int) -> str:
    """Name the cell and class of a tuple's largest residual: "a ≤ 0.3, b = 2: ill"; "" if it has no residual."""
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
    for row in rows.tolist():  # smallest p-value first: its edge stays
        members = result.members_of(row)
        about = {
            "members": members,
            "weight": float(tested.chi2[row]),
            "p_value": float(tested.p_value[row]),
            "p_adjusted": float(tested.p_adjusted[row]),
            "log_or": float(tested.log_or[row]),
        }
        for one, other in combinations(members, 2):
            if not graph.has_edge(one, other):
                graph.add_edge(one, other, **about)
    return graph


def _same_direction(first: TestedTuples, tested: TestedTuples) -> list[bool | None]:
    """Say of each tuple whether its log odds ratios, or else its residuals in one cell, have the same sign; or None."""
    by_odds, by_residual = first.log_or * tested.log_or, first.residual * tested.residual
    product = np.where(np.isfinite(by_odds), by_odds, by_residual)
    return [bool(value > 0) if np.isfinite(value) else None for value in product]
