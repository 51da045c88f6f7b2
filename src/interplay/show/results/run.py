"""Run: one search of a selection and its null fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, check_int, needing
from interplay.base.tails import log_chi2_tail
from interplay.base.tuples import MaxGains
from interplay.data.codes.cuts import OutcomeCuts, VariableCuts
from interplay.files.types import Check
from interplay.infer.arms import WEIGHTS, Weights
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.null_fit import NullFit
from interplay.infer.verdicts import verdicts_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from interplay.show.results.selection import Selection


@dataclass(frozen=True, eq=False, kw_only=True)
class RunGains:
    """The gains of one search of a selection."""

    #: The comparison of classes: "all classes", "a vs b", "a vs rest"; or "numbers".
    decision: str
    #: Empty if the outcome is numbers.
    class_labels: Annotated[list[str], Check("n_classes")]
    #: (n_classes,): all samples, (1,), if the outcome is numbers.
    class_sizes: Annotated[IntArray, Check("n_sizes", low=0)]
    #: (n_contrast,): the variable each contrast variable is a permutation of.
    contrast_sources: Annotated[IntArray, Check("n_contrast", low=0, below="n_vars")]
    gains: MaxGains
    #: In 1D; of the contrast variables too where several dimensions are searched in one call.
    alone: MaxGains
    #: Whether numbers were searched, or the residuals of another outcome.
    of_numbers: bool = False

    def is_consistent(self) -> bool:
        """Say whether there is a gain for every variable and contrast variable, which a file may violate."""
        return len(self.gains.gain_by_group) == self.gains.n_vars + len(self.contrast_sources) and (
            len(self.class_sizes) == max(len(self.class_labels), 1)
        )

    @property
    def weights(self) -> Weights:
        """Weights of the tests that several dimensions are combined by."""
        return WEIGHTS[self.of_numbers]

    @property
    def n_classes(self) -> int:
        """Number of classes; 2 of numbers, which have one degree of freedom as two classes have."""
        return len(self.class_labels) or 2

    @property
    def dimensions(self) -> int:
        """Number of variables in a tuple."""
        return self.gains.dimensions


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(RunGains):
    """One search and its null fit.

    A selection has a run for each size of tuples and each comparison of classes. Several comparisons are made only with
    ``multiclass="ovo"`` or ``"ovr"``.

    Attributes
    ----------
    decision, class_labels, class_sizes, contrast_sources, gains, alone
        As in `RunGains`.
    null_fit : NullFit
    explanations : Explanations or None
        The best tuples of each relevant variable; None in 1D.
    tested : tuple of TupleTests
        Tests of the interactions of these tuples and of their parts: of two members, of three, … and of all. p-values
        are adjusted for all tuples, and all sizes have an equal share of the error rate. Empty in 1D, and if tests
        were not made.
    cuts : tuple of VariableCuts
        How the members of these tuples were cut into levels.
    outcome : OutcomeCuts or None
        The classes of the outcome, and how they were cut.
    """

    null_fit: NullFit
    explanations: Explanations | None = None
    tested: tuple[TupleTests, ...] = ()
    cuts: tuple[VariableCuts, ...] = ()
    outcome: OutcomeCuts | None = None

    @classmethod
    def of(cls, searched: RunGains, null_fit: NullFit) -> Run:
        """Return a search with its null fit."""
        return cls(**{each.name: getattr(searched, each.name) for each in fields(RunGains)}, null_fit=null_fit)

    def is_consistent(self) -> bool:
        """Say whether all fields have the same variables and dimensions, which a file may violate."""
        fit, found, n_vars = self.null_fit, self.explanations, self.gains.n_vars
        cut = {cuts.variable for cuts in self.cuts}
        return (
            super().is_consistent()
            and len(fit.statistic) == n_vars
            and len(fit.exact_log_p) in (0, n_vars, len(self.gains.gain_by_group))
            and (found is None or found.tuples.shape[1] == self.dimensions)
            and [tested.tuples.shape[1] for tested in self.tested] in ([], list(range(2, self.dimensions + 1)))
            and all(cut.issuperset(np.unique(tested.tuples).tolist()) for tested in self.tested)
        )

    @cached_property
    def gain_alone(self) -> FloatArray:
        """Gains in 1D, (n_vars,). Cached, since `MaxGains.gain` goes through all variables on every access."""
        return self.alone.gain

    @property
    def df_alone(self) -> IntArray:
        """Degrees of freedom of `gain_alone`, (n_vars,)."""
        return self.alone.df

    @property
    def log_p_alone(self) -> FloatArray:
        """Natural logarithm of the χ² tail of each variable's gain alone.

        It serves advice, not selection: 1D has an exact test.
        """
        return log_chi2_tail(2 * np.log(2) * np.maximum(self.gain_alone, 0.0), self.df_alone)


def smallest_log_p(runs: Sequence[Run]) -> FloatArray:
    """Return ln p of each variable over comparisons of classes: its smallest p times the number of comparisons."""
    log_p = np.min([run.null_fit.log_p_values() for run in runs], axis=0) + np.log(len(runs))
    return np.asarray(np.minimum(log_p, 0.0))


def chosen_run(run: int | str | None, labels: Sequence[str]) -> int:
    """Return the number of the run that the argument `run` gives, by number or label; one run needs no argument."""
    if run is None and len(labels) > 1:
        raise ValueError(f"run is needed, as there are {len(labels)} comparisons: give a number, or one of {labels}")
    if isinstance(run, str):
        return labels.index(check_choice("run", run, labels))
    return 0 if run is None else check_int("run", run, low=0, high=len(labels) - 1)


def are_compared_by_rank(runs: Sequence[Run], variables: IntArray) -> BoolArray:
    """Say which variables are numbers that were cut: correlations of these are of ranks, of others of values."""
    known = {cuts.variable: cuts.is_cut for run in runs for cuts in run.cuts}
    return np.array([known.get(v, True) for v in variables.tolist()], dtype=bool)


@dataclass(frozen=True, eq=False)
class Explanations:
    """The best tuples of each relevant variable: rows are grouped by variable, and sorted by gain within a variable."""

    #: (n_rows, k): members, ascending.
    tuples: Annotated[IntArray, Check("n k", low=0, below="n_vars")]
    #: (n_rows,): the relevant variable.
    variable: Annotated[IntArray, Check("n", low=0, below="n_vars")]
    #: (n_rows,): gain of the variable in the tuple; the maximum over the discretisations.
    gain: Annotated[FloatArray, Check("n", above=-np.inf, below=np.inf)]
    #: (n_rows,): the largest gain of the variable in any smaller tuple made of some of these members.
    sub_gain: Annotated[FloatArray, Check("n")]
    #: (n_rows,): degrees of freedom of the gain.
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
