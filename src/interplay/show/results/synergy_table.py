"""Tuples that explain relevant variables → a table or a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int, needing
from interplay.files.types import Check
from interplay.infer.verdicts import verdicts_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from interplay.show.results.selection import Selection


@dataclass(frozen=True, eq=False)
class Explanations:
    """The best tuples of each relevant variable: rows are grouped by variable, and sorted by gain within a variable.

    Attributes
    ----------
    tuples : (n_rows, k) int64
        Members, ascending.
    variable : (n_rows,) int64
        The relevant variable.
    gain : (n_rows,) float64
        Gain of the variable in the tuple; the maximum over the discretisations.
    sub_gain : (n_rows,) float64
        The largest gain of the variable in any smaller tuple made of some of these members.
    df : (n_rows,) int64
        Degrees of freedom of the gain.
    """

    tuples: Annotated[IntArray, Check("n k", low=0, below="n_vars")]
    variable: Annotated[IntArray, Check("n", low=0, below="n_vars")]
    gain: Annotated[FloatArray, Check("n", above=-np.inf, below=np.inf)]
    sub_gain: Annotated[FloatArray, Check("n")]
    df: Annotated[IntArray, Check("n", low=0)]


def synergy_frame(selection: Selection, top: int) -> pd.DataFrame:
    """See `Selection.synergies`."""
    import pandas as pd

    top = check_int("top", top, low=1)
    if selection.dimensions[-1] < 2:
        raise ValueError("synergies need tuples: run select with dimensions=2 or more")
    several = len(selection.comparisons) > 1
    effect = selection.words.effect
    rows: list[dict[str, Any]] = []
    for run in selection.runs:
        if run.dimensions == 1:  # a search of single variables beside larger tuples
            continue
        found = run.explanations
        if found is None:
            raise ValueError(
                "this selection does not contain its tuples (within strata, or merged from parts without X): give X "
                "to merge_parts, or run select() without strata"
            )
        p_gain = run.null_fit.p_values(found.gain, df=found.df) if len(found.gain) else found.gain
        level, is_relevant = selection.asked.level, selection.is_relevant
        verdicts = verdicts_of(run.tested, found.tuples, level=level, is_relevant=is_relevant)
        for v in selection.ranked.tolist():
            for row in np.flatnonzero(found.variable == v)[:top].tolist():
                members = found.tuples[row]
                entry = {
                    "variable": selection.names[v],
                    "partners": tuple(selection.names[m] for m in members.tolist() if m != v),
                    "gain": float(found.gain[row]),
                    "gain_alone": float(run.gain_alone[v]),
                    "gain_in_part": float(found.sub_gain[row]),
                    "synergy": float(found.gain[row] - found.sub_gain[row]),
                    "p_gain": float(p_gain[row]),
                    "verdict": verdicts[row].verdict,
                    "interacting": tuple(selection.names[m] for m in verdicts[row].members),
                    "p_interaction": verdicts[row].p_adjusted,
                    effect: verdicts[row].estimate,
                }
                rows.append({"decision": run.decision, **entry} if several else entry)
    columns = ["variable", "partners", "gain", "gain_alone", "gain_in_part", "synergy", "p_gain", "verdict"]
    columns += ["interacting", "p_interaction", effect]
    return pd.DataFrame(rows, columns=["decision", *columns] if several else columns)


def synergy_graph(selection: Selection, top: int) -> nx.Graph:
    """See `Selection.synergy_graph`."""
    with needing("networkx", "graph", "the graph needs"):
        import networkx as nx

    graph = nx.Graph()
    about = selection.table.set_index("variable")[["relevant", "gain", "gain_alone", "p_adjusted"]].to_dict("index")

    def add_node(name: str) -> None:
        graph.add_node(name, **{str(key): value for key, value in about[name].items()})

    for row in synergy_frame(selection, top).to_dict("records"):
        add_node(row["variable"])
        for partner in row["partners"]:
            add_node(partner)
            known = graph.get_edge_data(row["variable"], partner)
            if known is None or row["synergy"] > known["weight"]:
                graph.add_edge(
                    row["variable"],
                    partner,
                    weight=row["synergy"],
                    gain=row["gain"],
                    p_gain=row["p_gain"],
                    verdict=row["verdict"],
                    p_interaction=row["p_interaction"],
                    members=tuple(sorted((row["variable"], *row["partners"]))),
                )
    return graph
