"""Selection: what select() found, with all that is needed to read, check, keep and repeat it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.arrays import BoolArray, FloatArray, IntArray, MaxGains
from interplay.checks import shown
from interplay.plain_text import printable
from interplay.results.synergy_table import Explanations, synergy_frame, synergy_graph
from interplay.results.tested_tuples import TestedTuples
from interplay.results.verdicts import UNTESTED, Verdict, verdicts_of
from interplay.statistics.few_samples import note_on_sparse_tuples
from interplay.statistics.null_fit import NullFit
from interplay.steps.frozen_cuts import OutcomeCuts, VariableCuts
from interplay.steps.tuple_counts import TupleCounts

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from interplay.plots import SelectionPlots
    from interplay.results.interactions import Interactions


@dataclass(frozen=True, eq=False)
class Run:
    """One search and its null fit; a selection has several only for ``multiclass="ovo"`` or ``"ovr"``.

    Attributes
    ----------
    decision : str
        What was told apart: "all classes", "a vs b", "a vs rest".
    class_labels : list of str
    class_sizes : (n_classes,) int64
    gains : MaxGains
    gain_alone : (n_vars,) float64
        Gains in 1D.
    contrast_sources : (n_contrast,) int64
        The variable each contrast variable is a permutation of.
    null_fit : NullFit
    explanations : Explanations or None
        The best tuples of each relevant variable; None in 1D.
    tested : tuple of TestedTuples
        Tests of the interactions of these tuples and of their parts: of two members, of three, … and of all. They are
        adjusted for all tuples of as many members, and all runs. Nothing in 1D, and where they were not made.
    cuts : tuple of VariableCuts
        How the members of these tuples were cut into levels.
    outcome : OutcomeCuts or None
        What the classes are.
    """

    decision: str
    class_labels: list[str]
    class_sizes: IntArray
    gains: MaxGains
    gain_alone: FloatArray
    contrast_sources: IntArray
    null_fit: NullFit
    explanations: Explanations | None = None
    tested: tuple[TestedTuples, ...] = ()
    cuts: tuple[VariableCuts, ...] = ()
    outcome: OutcomeCuts | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The result of `select`: which variables are informative about the outcome, and how.

    Attributes
    ----------
    names : list of str
        Names of all variables, in the order of the input.
    runs : tuple of Run
        One for each comparison of classes: gains, null fit and contrast variables. There is one run unless `multiclass`
        asks for several.
    p_value, p_adjusted : (n_vars,) float64
        p-value of each variable, before and after adjustment for the number of variables.
    log_p : (n_vars,) float64
        Natural logarithm of the p-value, which keeps its order where p itself is below 1e-308.
    is_relevant : (n_vars,) bool
        Whether the adjusted p-value is below the level.
    ranked : (n_relevant,) int64
        Numbers of the relevant variables, most significant first.
    correlation : (n_relevant, n_relevant) float64
        Correlations between the relevant variables, in the order of `ranked`; empty if there are more than 3000.
    settings : dict
        Every argument as it was used: ``select(X, y, **result.settings)`` repeats the run. Strata are part of the data,
        like `y`, and have to be given again.
    provenance : dict
        Data fingerprint, sizes of the strata, engine, versions, seconds.
    tuple_counts : tuple of TupleCounts
        Number of samples of each class in each cell, for the best tuples of the first 300 relevant variables; see
        `counts_of`.
    """

    names: list[str]
    runs: tuple[Run, ...]
    log_p: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    is_relevant: BoolArray
    ranked: IntArray
    correlation: FloatArray
    settings: dict[str, Any]
    provenance: dict[str, Any]
    tuple_counts: tuple[TupleCounts, ...] = ()

    @property
    def relevant(self) -> list[str]:
        """Names of the relevant variables, most significant first."""
        return [self.names[v] for v in self.ranked]

    @property
    def gains(self) -> MaxGains:
        """The maximum gains, if there was one run; with several, see ``.runs``."""
        return self._only_run().gains

    @property
    def null_fit(self) -> NullFit:
        """The null fit, if there was one run; with several, see ``.runs``."""
        return self._only_run().null_fit

    @property
    def contrast(self) -> pd.DataFrame:
        """One row per contrast variable: the variable it was permuted from, its gain, p-value and partners."""
        import pandas as pd

        frames = []
        for run in self.runs:
            gain = run.gains.contrast_gain
            frame = {
                "source": [self.names[v] for v in run.contrast_sources],
                "gain": gain,
                "p_value": self._contrast_p(run),
                "partners": [self._names_of(row[:-1]) for row in run.gains.contrast_tuples],
            }
            if len(self.runs) > 1:
                frame = {"decision": [run.decision] * len(gain), **frame}
            frames.append(pd.DataFrame(frame))
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def best_run(self) -> IntArray:
        """Number of the run in which each variable has its smallest p-value."""
        return np.asarray(np.argmin([run.null_fit.log_p_values() for run in self.runs], axis=0))

    @property
    def table(self) -> pd.DataFrame:
        """One row per variable, in the order of the input.

        Columns: variable, gain, p_value, p_adjusted, relevant, partners (the other members of its best tuple),
        discretization, gain_alone (its gain in 1D), synergy (gain − gain_alone). With several runs, those of the run
        with the smallest p-value, which the column decision names.

        In 2D and more, verdict says what the best tuple of a relevant variable is: an "interaction" (of all members, or
        of some), "additive" (every member matters by itself, no interaction was found), "unclear" (no interaction
        was found, and not every member matters by itself: a partner by chance, or an interaction too weak to be shown)
        or "untested". interacting names the members that interact, and p_interaction is the p-value of the interaction,
        adjusted for all tuples of as many members.
        """
        return self._table.copy()  # to be sorted, cut and added to without harm

    @cached_property
    def _table(self) -> pd.DataFrame:
        import pandas as pd

        best = self.best_run
        rows = np.arange(len(self.names))

        def of_best_run(per_run: list[Any]) -> Any:
            return np.stack(per_run)[best, rows]

        gain = of_best_run([run.gains.gain for run in self.runs])
        alone = of_best_run([run.gain_alone for run in self.runs])
        tuples = of_best_run([run.gains.tuples for run in self.runs])
        columns: dict[str, Any] = {
            "variable": self.names,
            "gain": gain,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "relevant": self.is_relevant,
            "partners": [self._names_of(members[members != v]) for v, members in enumerate(tuples)],
            "discretization": of_best_run([run.gains.discretization for run in self.runs]),
            "gain_alone": alone,
            "synergy": gain - alone,
        }
        if tuples.shape[1] > 1:
            verdicts = self._verdicts_of_best(tuples)
            columns["verdict"] = [one.verdict for one in verdicts]
            columns["interacting"] = [self._names_of(np.array(one.members, dtype=np.int64)) for one in verdicts]
            columns["p_interaction"] = [one.p_adjusted for one in verdicts]
        if len(self.runs) > 1:
            columns["decision"] = [self.runs[r].decision for r in best]
        return pd.DataFrame(columns)

    def _verdicts_of_best(self, tuples: IntArray) -> list[Verdict]:
        """Return what the best tuples of all variables are; only those of relevant variables are looked up."""
        verdicts = [Verdict()] * len(self.names)
        for number in range(len(self.runs)):
            variables = self.ranked[self.best_run[self.ranked] == number]
            for v, verdict in zip(variables.tolist(), verdicts_of(self, number, tuples[variables]), strict=True):
                verdicts[v] = verdict
        return verdicts

    def verdict_of(self, variable: str | int) -> Verdict:
        """Return what the best tuple of a variable is: an interaction or not, with its p-value and log odds ratio."""
        number = self._number_of(variable)
        run = int(self.best_run[number])
        return verdicts_of(self, run, self.runs[run].gains.tuples[number : number + 1])[0]

    def interactions(self, *, dimensions: int | None = None, run: int | str | None = None) -> Interactions:
        """Return the tests of the tuples of this selection: those that explain the relevant variables.

        p-values are adjusted for all tuples of the search, as the tuples were chosen by looking at all of them.
        `interplay.interactions` tests all tuples, not only those of relevant variables.

        Parameters
        ----------
        dimensions : int, optional
            Fewer members than the tuples of the search have: the parts of these tuples with so many members.
        run : int or str, optional
            With several runs, the number of one or what it tells apart.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 20))
        >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
        >>> interplay.select(X, y, dimensions=2, random_state=0).interactions().significant
        [('x3', 'x11')]
        """
        from interplay.results.selection_interactions import selection_interactions

        return selection_interactions(self, dimensions, run)

    def replicate(
        self,
        X: Any,
        y: Any,
        *,
        strata: Any = None,
        p_adjust: str | None = None,
        dimensions: int | None = None,
        run: int | str | None = None,
    ) -> Interactions:
        """Test the tuples that are significant interactions here, once each, in new samples.

        See `Interactions.replicate`; ``.interactions().replicate()`` tests all tuples of the selection.

        Parameters
        ----------
        X : table-like, (n_samples, n_vars)
            The table of the new samples. Variables are known by their names; others may be there or not.
        y : (n_samples,) array-like, or str
            Their outcome, with the same classes, or the name of its column.
        strata : (n_samples,) array-like, table-like, or str, optional
            Strata of the new samples, to test within them.
        p_adjust : str, optional
            Another adjustment than in the search.
        dimensions : int, optional
            Fewer members than the tuples of the search have: see `interactions`.
        run : int or str, optional
            With several runs, the number of one or what it tells apart.
        """
        return (
            self.interactions(dimensions=dimensions, run=run)
            .only_significant()
            .replicate(X, y, strata=strata, p_adjust=p_adjust)
        )

    def tuples_of(self, variable: str | int) -> pd.DataFrame:
        """Return the best tuples that contain a variable: its own, and those of other variables.

        Columns: variable (the one whose best tuple it is), members, gain (of that variable), discretization.
        """
        import pandas as pd

        number = self._number_of(variable)
        rows = []
        for run in self.runs:
            holds = (run.gains.tuples == number).any(axis=1)
            for v in np.flatnonzero(holds):
                row = {
                    "variable": self.names[v],
                    "members": self._names_of(run.gains.tuples[v]),
                    "gain": float(run.gains.gain[v]),
                    "discretization": int(run.gains.discretization[v]),
                }
                rows.append({"decision": run.decision, **row} if len(self.runs) > 1 else row)
        frame = pd.DataFrame(rows)
        own = frame["variable"] == self.names[number]
        order = np.lexsort((-frame["gain"].to_numpy(), ~own.to_numpy()))
        return frame.iloc[order].reset_index(drop=True)

    def counts_of(self, variable: str | int) -> TupleCounts:
        """Return the number of samples of each class in each cell of a relevant variable's best tuple.

        Counts are kept for the first 300 relevant variables, and for tables of at most 2048 cells times classes.
        """
        number = self._number_of(variable)
        run = int(self.best_run[number])
        gains = self.runs[run].gains
        for counts in self.tuple_counts:
            if counts.is_of(gains.tuples[number], run, int(gains.discretization[number])):
                return counts
        raise ValueError(
            f"the cells of the best tuple of {shown(self.names[number])} were not kept: they are for the first 300 "
            "relevant variables, if the tuple has no more than 2048 cells times classes, and not in files of older "
            "versions or parts merged without X"
        )

    def synergies(self, top: int = 3) -> pd.DataFrame:
        """Return the tuples that explain the relevant variables, and the synergy in each.

        The tuples looked at consist of relevant variables and of the partners in their best tuples. If very many
        variables are relevant, they are divided into groups of similar significance. Variables are sorted by
        significance, and the tuples of each by gain.

        Parameters
        ----------
        top : int
            Number of tuples of each variable, at most 10.

        Returns
        -------
        DataFrame
            Columns: variable; partners, the other members; gain, of the variable in the tuple; gain_alone, its gain
            in 1D; gain_in_part, its largest gain in a smaller tuple of these members, including the variable alone;
            synergy = gain − gain_in_part, the information in the whole tuple and in no part of it; p_gain, the
            probability that the best tuple of an irrelevant variable has at least this gain. This p-value allows for
            the number of tuples of a variable, but not for the number of variables (adjusted p-values are in
            ``.table``), and says nothing of an interaction: variables with an effect each have small ones too. verdict,
            interacting and p_interaction, as in ``.table``, say whether there is one, and log_or its log odds ratio
            (two levels, two classes). All gains are maxima over the discretisations. With several runs, the column
            decision names the run.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 20))
        >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
        >>> table = interplay.select(X, y, dimensions=2, random_state=0).synergies(top=1)
        >>> table["variable"].to_list(), table["partners"].to_list()
        (['x3', 'x11'], [('x11',), ('x3',)])
        >>> bool((table["synergy"] > 0.9 * table["gain"]).all())
        True
        """
        return synergy_frame(self, top)

    def synergy_graph(self, top: int = 3) -> nx.Graph:
        """Return `synergies` as a networkx graph: an edge from each relevant variable to each of its partners.

        Nodes are names, with relevant, gain, gain_alone and p_adjusted. Edges have weight (the synergy; of several
        tuples the largest), gain, p_gain, verdict, p_interaction and members, the whole tuple. Needs
        ``interplay[graph]``.
        """
        return synergy_graph(self, top)

    def clusters(self, threshold: float = 0.99) -> list[list[str]]:
        """Group the relevant variables that are redundant: chains of absolute correlations of at least `threshold`.

        Correlations are rounded to two decimals first, as in the paper: a threshold of 0.99 means 0.985 and more.
        (Madelon's groups at 0.99 have correlations from 0.988 to 0.990.) Groups and their members are sorted by
        significance.
        """
        from scipy.sparse.csgraph import connected_components

        from interplay.checks import check_real

        threshold = check_real("threshold", threshold, low=0.0, high=1.0)
        if len(self.correlation) != len(self.ranked):
            raise ValueError(
                f"clusters are not available: correlations of {len(self.ranked)} variables were not kept, as there are "
                "more than 3000 or parts were merged without X"
            )
        if len(self.ranked) == 0:
            return []
        _, label = connected_components(np.abs(self.correlation) >= threshold - 0.005, directed=False)
        groups: dict[int, list[str]] = {}
        for name, group in zip(self.relevant, label.tolist(), strict=True):
            groups.setdefault(group, []).append(name)
        return list(groups.values())

    @property
    def plot(self) -> SelectionPlots:
        """Pictures, each as matplotlib Axes: gains, p_values, null_fit, null_histogram, correlation, synergies, why."""
        from interplay.plots import SelectionPlots

        return SelectionPlots(self)

    def annotate(self, adata: Any, *, prefix: str = "interplay_") -> None:
        """Write the table into ``.var`` of an AnnData, as one new column for each column of the table.

        Parameters
        ----------
        adata : AnnData
            Variables are matched by its ``.var_names``. Names that were not searched get NaN and are not relevant.
        prefix : str
            Prefix of the new columns: ``interplay_gain``, ``interplay_relevant`` and so on. Partners are joined into
            one string, which an .h5ad file can hold.
        """
        from interplay.steps.anndata_table import is_anndata

        if not is_anndata(adata):
            raise TypeError(f"adata must be an AnnData, not {type(adata).__name__}")
        table = self.table.set_index("variable")
        if not any(name in table.index for name in adata.var_names):
            raise ValueError("adata has none of the variables of this selection among its var_names")
        table["partners"] = [", ".join(partners) for partners in table["partners"]]
        table = table.reindex([str(name) for name in adata.var_names])
        table["relevant"] = table["relevant"].eq(True)
        table["partners"] = table["partners"].fillna("")
        if "verdict" in table:
            table["verdict"] = table["verdict"].fillna(UNTESTED)
            table["interacting"] = [
                ", ".join(names) if isinstance(names, tuple) else "" for names in table["interacting"]
            ]
        for name in table.columns:
            adata.var[prefix + name] = table[name].to_numpy()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole result to one file, a zip of JSON and .npy; `interplay.load` reads it back."""
        from interplay.results.saved import save_result

        save_result(self, path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a report to one HTML file: summary, table, pictures, settings, methods. It needs no network.

        Examples
        --------
        >>> import interplay, tempfile, pathlib
        >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=30, random_state=1)
        >>> report = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> interplay.select(X, y, dimensions=2, random_state=0).to_html(report)
        >>> report.read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        from interplay.report import write_report

        write_report(self, path)

    def summary(self) -> str:
        """Return the result in words."""
        s, n = self.settings, len(self.names)
        runs = "" if len(self.runs) == 1 else f" in {len(self.runs)} comparisons of classes"
        found = f"{len(self.ranked)} of {n} variables relevant"
        lines = [
            f"{found} ({s['dimensions']}D{runs}, {s['p_adjust']}-adjusted p < {s['level']:g})",
            f"{self.provenance['n_samples']} samples; {self._classes()}; {self._strata()}"
            + _counted(s["discretizations"], "discretisation")
            + f" into {s['divisions'] + 1} levels; {_counted(s['n_contrast'], 'contrast variable')}; "
            + ("exact p-values; " if self.runs[0].null_fit.is_exact else "")
            + f"seed {s['random_state']}",
        ]
        if len(self.ranked):
            top = self.ranked[:20]
            shown = self._table.iloc[top][["variable", "gain", "p_adjusted", "partners", "gain_alone", "synergy"]]
            shown = shown.assign(
                variable=[printable(name) for name in shown["variable"]],
                partners=[", ".join(map(printable, names)) for names in shown["partners"]],
            )
            lines += ["", shown.to_string(index=False, float_format=lambda x: f"{x:.4g}")]
            if len(self.ranked) > len(top):
                lines.append(f"… and {len(self.ranked) - len(top)} more in .table")
        elif s["dimensions"] > 1:
            run = min(self.runs, key=lambda run: int(run.class_sizes.min()))
            note = note_on_sparse_tuples(run.class_labels, run.class_sizes, run.gains.df, dimensions=s["dimensions"])
            lines += [note] if note else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        heading, details, *_ = self.summary().splitlines()
        shown = self._table.iloc[self.ranked[:20]].drop(columns=["relevant"])
        more = len(self.ranked) - len(shown)
        rest = f"<p>… and {more} more in <code>.table</code></p>" if more > 0 else ""
        rows = shown.to_html(index=False, float_format=lambda x: f"{x:.4g}", escape=True) if len(shown) else ""
        return f"<p><b>{html.escape(heading)}</b><br>{html.escape(details)}</p>{rows}{rest}"

    @property
    def class_sizes(self) -> dict[str, int]:
        """Samples of each class, whatever classes were compared with each other."""
        # One against the rest: the rest stands first, and is no class.
        first = 1 if self.settings["multiclass"] == "ovr" and len(self.runs) > 1 else 0
        sizes: dict[str, int] = {}
        for run in self.runs:
            sizes.update(zip(run.class_labels[first:], run.class_sizes[first:].tolist(), strict=True))
        return sizes

    def _classes(self) -> str:
        """The classes and their sizes, in one line."""
        sizes = self.class_sizes
        listed = ", ".join(f"{printable(label)}: {size}" for label, size in list(sizes.items())[:6])
        return f"classes {listed}" if len(sizes) <= 6 else f"{len(sizes)} classes ({listed}, …)"

    def _strata(self) -> str:
        # Results saved by earlier versions do not say.
        n_strata = len(self.provenance.get("strata", {}))
        return f"within {n_strata} strata; " if n_strata else ""

    def _only_run(self) -> Run:
        if len(self.runs) > 1:
            listed = ", ".join(run.decision for run in self.runs)
            raise ValueError(f"there is one set of gains per run: use .runs[i].gains (runs: {listed})")
        return self.runs[0]

    def _contrast_p(self, run: Run) -> FloatArray:
        if run.null_fit.is_exact:
            return np.exp(run.null_fit.exact_log_p[len(self.names) :])
        gain = run.gains.contrast_gain
        return run.null_fit.p_values(gain, df=run.gains.contrast_df) if len(gain) else gain

    def _names_of(self, members: IntArray) -> tuple[str, ...]:
        return tuple(self.names[m] for m in members.tolist() if m >= 0)

    def _number_of(self, variable: str | int) -> int:
        from interplay.checks import check_int

        if isinstance(variable, str):
            if variable not in self.names:
                raise ValueError(
                    f"variable {shown(variable)} is not among the {len(self.names)} variables of this selection"
                )
            return self.names.index(variable)
        return check_int("variable", variable, low=0, high=len(self.names) - 1)


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
