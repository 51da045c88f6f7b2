"""``Selection.plot``: the pictures of one result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray
from interplay.base.checks import check_int, shown
from interplay.infer.verdicts import ADDITIVE, INTERACTION, UNCLEAR, UNTESTED
from interplay.show.plots.gains import (
    plot_evidence,
    plot_gains,
    plot_manhattan,
    plot_p_histogram,
    plot_p_values,
    plot_qq,
    plot_volcano,
    tests_per_allele,
)
from interplay.show.plots.interaction_plots import plot_survival
from interplay.show.plots.pairs import plot_correlation, plot_synergies
from interplay.show.plots.style import IRRELEVANT, RELEVANT, axes_or_new, shortened
from interplay.show.plots.why import plot_cells
from interplay.show.results.run import chosen_run
from interplay.show.results.variants import known_variants

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from interplay.infer.null_fit import NullFit
    from interplay.show.results.selection import Selection


_VERDICT_TITLES = {
    INTERACTION: "interaction",
    ADDITIVE: "effects add up, no interaction found",
    UNCLEAR: "no interaction found",
    UNTESTED: "interaction not tested",
}


def _means(values: FloatArray) -> FloatArray:
    """Return the mean of the known values of each row, NaN where there are none."""
    known = np.isfinite(values)
    return np.asarray(np.where(known, values, 0).sum(axis=1) / np.where(known.any(axis=1), known.sum(axis=1), np.nan))


class SelectionPlots:
    """The plots of one Selection; each takes and returns matplotlib Axes."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection

    def gains(self, ax: Axes | None = None, *, dimensions: int | None = None) -> Axes:
        """Draw the gains against their rank, with the relevant variables marked.

        With several dimensions, gains of different sizes of tuples are not comparable, and variables are also found by
        tests that have no gain. So p-values are drawn against their rank, over all ways in which a variable can be
        found, beside those that chance alone would give. With `dimensions`, gains and relevant variables are those of
        tuples of this size alone.
        """
        s = self._selection
        if s.tests and dimensions is None:
            return plot_evidence(s.log_p, s.is_relevant, ax=ax)
        k = s.dimensions[-1] if dimensions is None else dimensions
        of_size = s.of_dimension(k)
        return plot_gains(
            of_size.table["gain"].to_numpy(),
            of_size.is_relevant,
            contrast_gain=np.concatenate([run.gains.contrast_gain for run in of_size.runs]),
            title=f"{k}D",
            ax=ax,
        )

    def p_values(self, ax: Axes | None = None) -> Axes:
        """Draw the p-values before and after adjustment, and the significance level."""
        s = self._selection
        adjustment = f"{s.adjustment}-adjusted" if s.adjustment != "none" else "not adjusted"
        return plot_p_values(s.log_p, s.p_adjusted, level=s.asked.level, title=adjustment, ax=ax)

    def null_fit(self, ax: Axes | None = None, *, run: int | str | None = None) -> Axes:
        """Draw the p-values of the reference variables against those a perfect fit would have (Q–Q).

        With several comparisons of classes, `run` is the number or the name of one. With several dimensions, it is a
        name such as "2D", or that of a test, such as "synergy 2"; by default the fit that describes its reference
        variables least well.
        """
        name, fit = self._fit(run)
        drawn = fit.plot(ax=ax)
        if name and run is None:
            drawn.set_title(f"{name}: {drawn.get_title()}")
        return drawn

    def null_histogram(self, ax: Axes | None = None, *, run: int | str | None = None) -> Axes:
        """Draw how often each p-value occurs, in the reference variables and in all, with the fitted line."""
        name, fit = self._fit(run)
        return plot_p_histogram(
            fit.p_values(),
            fit.reference_p,
            reference="contrast variables" if fit.n_contrast else "irrelevant variables",
            title=f"{name}: {fit.title}" if name and run is None else fit.title,
            ax=ax,
        )

    def volcano(self, X: Any, y: Any, ax: Axes | None = None) -> Axes:
        """Draw −log₁₀ p against the difference of means of two classes, as for gene expression.

        p is that of the search, in whatever way a variable was found. `X` and `y` are those of the search, as results
        keep no samples; the difference is that of the second class less the first. Labels, such as symbols of genes,
        are written in place of names.
        """
        from interplay.data.study.outcomes.classes import decision_classes
        from interplay.data.study.table import as_table

        s, table = self._selection, as_table(X)
        if list(table.names) != list(s.names) or len(s.class_sizes) != 2:
            raise ValueError("volcano needs X and y of the search, with two classes and the same variables")
        classes = decision_classes(y, n_samples=table.n_samples, decision="classes")
        codes, (first, second) = classes.codes, s.class_sizes
        if [str(label) for label in classes.labels] != [str(first), str(second)]:
            raise ValueError(f"y must have the classes of the search, {shown(first)} and {shown(second)}")
        values = np.array(table.columns(slice(0, table.n_vars)), dtype=np.float64)  # a copy: frames give views
        values[table.is_label] = np.nan
        with np.errstate(invalid="ignore"):
            means = [_means(values[:, codes == one]) for one in (0, 1)]
        labels = s.record.labels
        return plot_volcano(
            means[1] - means[0],
            np.nan_to_num(s.log_p, nan=0.0),
            s.is_relevant,
            [labels.get(name, name) for name in s.names],
            across=f"mean of {second} − mean of {first}",
            ax=ax,
        )

    def manhattan(self, ax: Axes | None = None) -> Axes:
        """Draw the p-value of each variant by its place in the genome; of files of genotypes."""
        known_variants(self._selection.variants)
        return plot_manhattan(self._selection, ax=ax)

    def qq(self, ax: Axes | None = None) -> Axes:
        """Draw the p-values per allele against those without effects, with λ; of files of genotypes."""
        inflation = known_variants(self._selection.variants).inflation
        return plot_qq(tests_per_allele(self._selection), inflation=inflation, ax=ax)

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

    def correlation(self, ax: Axes | None = None, *, threshold: float | None = None) -> Axes:
        """Draw the correlations between the relevant variables; frames are groups of redundant variables.

        The groups are ``redundant_groups``, or, with a `threshold`, those of ``clusters(threshold)``.
        """
        s = self._selection
        groups = s.redundant_groups if threshold is None else s.clusters(threshold) if len(s.correlation) else []
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
        return plot_cells(s, counts, order, run.class_labels, title=title, ax=ax)

    def survival(self, variable: str | int, ax: Axes | None = None) -> Axes:
        """Draw Kaplan and Meier's curves of the cells of a relevant variable's best tuple, if the outcome is a time."""
        s = self._selection
        if not s.survival_curves:
            raise ValueError("survival curves need an outcome that is a time: y=(time, event)")
        counts = s.counts_of(variable)
        curves = next(c for c in s.survival_curves if c.is_of(counts.members, counts.run, counts.discretization))
        names = [s.names[v] for v in counts.members.tolist()]
        return plot_survival(curves, names, counts.level_names, title=", ".join(map(shortened, names)), ax=ax)

    def _fit(self, run: int | str | None) -> tuple[str, NullFit]:
        """Return a null fit with its name: that of a run or of a test, or the one that fits least well."""
        s = self._selection
        labels = [s.label_of(each) for each in s.runs]
        of_tests = {test.name: test.null_fits[0] for test in s.tests if len(test.null_fits) == 1}
        if isinstance(run, str) and run not in labels and run in of_tests:
            return run, of_tests[run]
        if run is None and s.tests:
            fits = list(zip(labels, (each.null_fit for each in s.runs), strict=True)) + list(of_tests.items())
            fitted = [(name, fit) for name, fit in fits if not math.isnan(fit.ks_p)]
            return min(fitted, key=lambda named: named[1].ks_p) if fitted else fits[0]
        number = chosen_run(run, labels)
        return labels[number] if len(labels) > 1 else "", s.runs[number].null_fit


def plot_stability(
    frequency: FloatArray,
    is_relevant: BoolArray,
    names: list[str],
    *,
    n_subsamples: int,
    max_variables: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw the share of halves in which a variable is relevant, the most stable ones first.

    - `frequency` (n_vars,).
    - `is_relevant` (n_vars,): in all samples.
    """
    order = np.argsort(-frequency, kind="stable")[:max_variables][::-1]
    ax = axes_or_new(ax, 5, 1.2 + 0.22 * len(order))
    colours = [RELEVANT if is_relevant[v] else IRRELEVANT for v in order]
    ax.barh(np.arange(len(order)), frequency[order], color=colours)
    ax.set_yticks(np.arange(len(order)), [shortened(names[v]) for v in order])
    ax.set_xlim(0, 1)
    ax.set_xlabel(f"share of {n_subsamples} halves in which it is relevant")
    ax.set_title("stability; dark: relevant in all samples", fontsize="medium")
    return ax
