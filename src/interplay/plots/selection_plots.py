"""``Selection.plot``: the pictures of one result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.base.checks import check_int
from interplay.plots.correlation import plot_correlation
from interplay.plots.gains import plot_gains
from interplay.plots.p_values import plot_p_histogram, plot_p_values
from interplay.plots.stability import plot_stability
from interplay.plots.style import shortened
from interplay.plots.survival import plot_survival
from interplay.plots.synergies import plot_synergies
from interplay.plots.why import plot_tuple
from interplay.plots.why_numbers import plot_number_tuple
from interplay.results.run import chosen_run
from interplay.statistics.verdicts import ADDITIVE, INTERACTION, UNCLEAR, UNTESTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.results.run import Run
    from interplay.results.selection import Selection


_VERDICT_TITLES = {
    INTERACTION: "interaction",
    ADDITIVE: "effects add up, no interaction found",
    UNCLEAR: "no interaction found",
    UNTESTED: "interaction not tested",
}


class SelectionPlots:
    """The plots of one Selection; each takes and returns matplotlib Axes."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection

    def gains(self, ax: Axes | None = None, *, dimensions: int | None = None) -> Axes:
        """Draw the gains against their rank, with the relevant variables marked.

        With several dimensions, `dimensions` is the size of the tuples; by default the largest.
        """
        s = self._selection
        k = s.dimensions[-1] if dimensions is None else dimensions
        of_size = s.of_dimension(k)
        return plot_gains(
            of_size.table["gain"].to_numpy(),
            s.is_relevant,
            contrast_gain=np.concatenate([run.gains.contrast_gain for run in of_size.runs]),
            title=f"{k}D",
            ax=ax,
        )

    def p_values(self, ax: Axes | None = None) -> Axes:
        """Draw the p-values before and after adjustment, and the significance level."""
        s = self._selection
        adjustment = f"{s.adjustment}-adjusted" if s.adjustment != "none" else "not adjusted"
        return plot_p_values(s.log_p, s.p_adjusted, level=s.settings["level"], title=adjustment, ax=ax)

    def null_fit(self, ax: Axes | None = None, *, run: int | str | None = None) -> Axes:
        """Draw the p-values of the reference variables against those a perfect fit would have (Q–Q).

        With several runs, `run` is the number or the name of one; with several dimensions, a name such as "2D".
        """
        return self._run(run).null_fit.plot(ax=ax)

    def null_histogram(self, ax: Axes | None = None, *, run: int | str | None = None) -> Axes:
        """Draw how often each p-value occurs, in the reference variables and in all, with the fitted line."""
        chosen = self._run(run)
        fit = chosen.null_fit
        return plot_p_histogram(
            fit.p_values(),
            fit.reference_p,
            reference="contrast variables" if fit.n_contrast else "irrelevant variables",
            title=fit.title,
            ax=ax,
        )

    def stability(self, ax: Axes | None = None, *, max_variables: int = 30) -> Axes:
        """Draw how often variables are relevant in halves of the samples; needs ``select(…, stability=100)``."""
        s = self._selection
        found = s.halves()
        return plot_stability(
            found.frequency,
            s.is_relevant,
            s.names,
            n_subsamples=found.n_subsamples,
            max_variables=check_int("max_variables", max_variables, low=1),
            ax=ax,
        )

    def correlation(self, ax: Axes | None = None, *, threshold: float = 0.99) -> Axes:
        """Draw the correlations between the relevant variables; frames are the groups of ``clusters(threshold)``."""
        s = self._selection
        groups = s.clusters(threshold) if len(s.correlation) else []
        return plot_correlation(s.correlation, s.relevant[: len(s.correlation)], groups, ax=ax)

    def synergies(self, ax: Axes | None = None, *, max_variables: int = 60) -> Axes:
        """Draw the relevant variables as a network: each is joined to the partners in its best tuple."""
        return plot_synergies(self._selection, max_variables=check_int("max_variables", max_variables, low=1), ax=ax)

    def why(self, variable: str | int, ax: Axes | None = None) -> Axes:
        """Draw the share of each class in each cell of a relevant variable's best tuple.

        Of a number outcome, draw its distribution in each cell: whiskers, quartiles and median.
        """
        s = self._selection
        counts = s.counts_of(variable)
        number = s.names.index(variable) if isinstance(variable, str) else int(variable)
        order = [counts.members.tolist().index(number)]
        order += [i for i in range(len(counts.members)) if i not in order]  # the variable comes before its partners
        run = s.runs[counts.run]
        partners = ", ".join(shortened(s.names[counts.members[i]]) for i in order[1:])
        with_whom = f" with {partners}" if partners else ""
        title = f"{shortened(s.names[number])}{with_whom}\ngain {run.gains.gain[number]:.3g} bits × samples"
        if partners:
            title += f", alone {run.gain_alone[number]:.3g}"
            verdict = s.verdicts[number]
            tested = "" if np.isnan(verdict.p_adjusted) else f" (adjusted p {verdict.p_adjusted:.2g})"
            title += f"\n{_VERDICT_TITLES[verdict.verdict]}{tested}"
        if len(s.comparisons) > 1:
            title += f"; {shortened(run.decision, 40)}"
        if counts.numbers is not None:
            return plot_number_tuple(
                counts.counts.transpose(*order, len(order)),
                counts.numbers.transpose(*order, len(order)),
                [s.names[counts.members[i]] for i in order],
                [counts.level_names[i] for i in order],
                label=s.provenance["target"] or "outcome",
                title=title,
                ax=ax,
            )
        return plot_tuple(
            counts.counts.transpose(*order, len(order)),
            [s.names[counts.members[i]] for i in order],
            [counts.level_names[i] for i in order],
            run.class_labels,
            title=title,
            ax=ax,
        )

    def survival(self, variable: str | int, ax: Axes | None = None) -> Axes:
        """Draw Kaplan and Meier's curves of the cells of a relevant variable's best tuple, if the outcome is a time."""
        s = self._selection
        if not s.survival_curves:
            raise ValueError("survival curves need an outcome that is a time: y=(time, event)")
        counts = s.counts_of(variable)
        curves = next(c for c in s.survival_curves if c.is_of(counts.members, counts.run, counts.discretization))
        names = [s.names[v] for v in counts.members.tolist()]
        return plot_survival(curves, names, counts.level_names, title=", ".join(map(shortened, names)), ax=ax)

    def _run(self, run: int | str | None) -> Run:
        runs = self._selection.runs
        return runs[chosen_run(run, [self._selection.label_of(each) for each in runs])]
