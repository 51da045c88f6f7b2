"""Interactions: the result of interactions(), with settings and provenance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from interplay.base.arguments import NEW_SAMPLES, described_by
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_int, shown
from interplay.data.codes.cuts import OutcomeCuts, VariableCuts
from interplay.data.codes.tuple_counts import MAX_KEPT, MAX_NUMBERS, TupleCounts
from interplay.data.study.outcomes.words import Words
from interplay.files.types import Check
from interplay.infer.interaction.tuple_tests import TupleTests, adjust_listed
from interplay.infer.linkage import DEFAULT_R2, FLOOR, Linkage
from interplay.infer.survival.survival_curves import MAX_TUPLES, SurvivalCurves
from interplay.show.results.interaction_summary import (
    details,
    headline,
    notes,
    permutations_in_words,
    summary_html,
    summary_text,
)
from interplay.show.results.interaction_table import (
    first_columns,
    interaction_columns,
    interaction_graph,
    interaction_rules,
    interaction_terms,
)
from interplay.show.results.leads import Tagging, check_r2, interaction_clumps, significant_leads
from interplay.show.results.result import ClaimedRows, Result, in_new_samples
from interplay.show.results.variants import Variants, known_variants

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from interplay.show.plots.interaction_plots import InteractionPlots


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(Result):
    """The result of `interactions`: tuples with an effect on the outcome beyond the sum of the effects of their parts.

    Attributes
    ----------
    names : list of str
        Names of all variables, in the order of the input.
    tested : TupleTests
        The tuples that are listed, smallest p-value first; ``.table`` shows them with names.
    n_tests : int
        Number of tuples that were searched, for which p-values are adjusted; in a replication, of tuples that were
        tested.
    outcome : OutcomeCuts
        The classes of the outcome, and how they were cut; no classes for an outcome of numbers.
    class_sizes : dict
        Samples of each class, by its label; empty for an outcome of numbers.
    cuts : tuple of VariableCuts
        How the variables in these tuples were cut into levels.
    counts : tuple of TupleCounts
        Number of samples of each class, or distribution of the numbers, in each cell, for the first 300 tuples; see
        `counts_of`.
    settings : dict
        Every argument as it was used: ``interactions(X, y, **result.settings)`` repeats the search. Strata and
        positions are part of the data, like `y`, and have to be given again.
    provenance : dict
        Date, name of the target, data fingerprint, sizes of the strata, engine, versions, seconds; of a run of the
        command line also the file, the columns that were left out, and the command that repeats it.
    first : TupleTests or None
        In a replication, or with `holdout`: the same tuples in the samples in which they were found, in the same order.
    is_exhaustive : bool
        Whether the list contains every searched tuple with a p-value as small as the listed ones. False for a
        selection, which tests only the tuples of its relevant variables.
    smallest : TupleTests or None
        The tuples with the smallest p-values, where nothing is significant, nothing else was asked for and the search
        was short.
    linkage : Linkage or None
        Which members of listed tuples are correlated; None of parts, and of very many members. See `clumps`.
    tagged : Tagging or None
        Verdicts on the leads, of `with_tagging`: tuples that another column explains are not significant.
    clump_r2 : float
        The r² from which on summary, report and network take correlated tuples as one signal; see `with_clumps`.
    survival_curves : tuple of SurvivalCurves
        Of times: Kaplan and Meier's curves in each cell, for the first 60 tuples; see `curves_of`.
    variants : Variants or None
        Of files of genotypes: places, alleles, frequencies and effects per allele of the members.
    """

    names: Annotated[list[str], Check("n_vars")]
    tested: TupleTests
    n_tests: int
    outcome: OutcomeCuts
    class_sizes: dict[str, int]
    cuts: tuple[VariableCuts, ...]
    counts: tuple[TupleCounts, ...]
    settings: dict[str, Any]
    provenance: dict[str, Any]
    first: TupleTests | None = None
    is_exhaustive: bool = True
    smallest: TupleTests | None = None
    linkage: Linkage | None = None
    tagged: Tagging | None = None
    clump_r2: Annotated[float, Check(above=0, high=1)] = DEFAULT_R2
    survival_curves: tuple[SurvivalCurves, ...] = ()
    variants: Variants | None = None

    def __len__(self) -> int:
        return len(self.tested)

    @property
    def dimensions(self) -> int:
        """Members of a tuple."""
        return int(self.tested.tuples.shape[1])

    @property
    def scale(self) -> str | None:
        """The scale on which an outcome of numbers was tested, "ranks" or "values"; None for classes and times."""
        return (self.asked.scale or "ranks") if self.words.scale_names else None

    @property
    def words(self) -> Words:
        """What tables and reports say of this kind of outcome."""
        return self.tested.words

    @property
    def effect_in_words(self) -> str:
        """The effect of tuples, as axes and columns of a report name it."""
        has_products = self.asked.coding in ("dosage", "product")
        return self.words.product_in_words if has_products else self.words.effect_in_words

    @property
    def has_cuts(self) -> bool:
        """Whether any variable of the search was a number that was cut into levels.

        Results of sites and of older versions know it of the members of listed tuples only.
        """
        of_listed = not self.cuts or any(cuts.is_cut for cuts in self.cuts)
        return of_listed if self.record.n_cut is None else self.record.n_cut > 0

    @property
    def tests_cuts(self) -> bool:
        """Whether numbers were cut, so that significant tuples were tested again beside smooth effects of them.

        Sites send no samples for these tests.
        """
        return any(cuts.is_cut for cuts in self.cuts) and not self.record.sites

    @property
    def omits_missing(self) -> bool:
        """Whether samples that lack a member are left out of the tests of a tuple."""
        return self.asked.missing in ("omit", "auto")

    @property
    def is_permuted(self) -> bool:
        """Whether p-values come from permutations of whole groups' labels, not from χ², exact tests and bootstraps."""
        return self.record.groups.method == "permutations"

    @property
    def is_significant(self) -> BoolArray:
        """Which of the listed tuples have an adjusted p-value below the significance level.

        Of cut numbers, beside smooth effects of the numbers as well. Tuples that other columns explain, here or by
        `with_tagging`, are not significant. None is where tests of tuples taken at random are inflated, or where
        samples are known to be relatives: ``.provenance["doubt"]`` says why, and what to give.
        """
        if self.record.doubt:
            return np.zeros(len(self), dtype=bool)
        significant = self.tested.is_significant(self.asked.level)
        if self.first is not None:  # what a column explains, it explains in new samples too
            significant &= ~self.is_explained
        return significant if self.tagged is None else significant & ~self.tagged.is_explained

    def claims(self) -> ClaimedRows:
        """Return the p-values of the listed tuples: of each the largest of all tests that decide."""
        tested = self.tested
        log_p = np.fmax(tested.log_p, tested.smooth_log_p)
        if self.words.needs_robust and tested.robust_log_p is not None:
            log_p = np.fmax(log_p, tested.robust_log_p)
        members = [self.members_of(row) for row in range(len(self))]
        found = self.is_significant
        return ClaimedRows(members, np.exp(log_p), tested.p_adjusted, found, self.n_tests, self.is_permuted)

    def adjust_all(self, p_value: FloatArray, n_tests: int) -> FloatArray:
        """Adjust the p-values of tuples of several searches for all tuples of these."""
        return adjust_listed(p_value, str(self.asked.p_adjust), n_tests=n_tests)

    @property
    def is_explained(self) -> BoolArray:
        """Which of the listed tuples are significant, but not beside the effects of other columns of the table."""
        return (self.tested if self.first is None else self.first).is_explained(self.asked.level)

    @property
    def significant(self) -> list[tuple[str, ...]]:
        """Names of the members of the tuples that interact, smallest p-value first."""
        return [self.members_of(row) for row in np.flatnonzero(self.is_significant).tolist()]

    @property
    def table(self) -> pd.DataFrame:
        """One row per listed tuple, smallest p-value first.

        Columns: members (names); chi2, the likelihood ratio G² of the null hypothesis that all effects are those of
        proper subsets of the members; df, its effective degrees of freedom; p_value; p_adjusted, for all tuples that
        were searched; significant; method ("exact", "chi2", "bootstrap" for the larger of χ²'s p-value and a
        bootstrap's, or "sparse" where samples are too few to test the tuple); min_expected, the smallest fitted count;
        log_or, ci_low, ci_high, for two levels and two classes the log odds ratio of the interaction with a 95 %
        interval; for pairs of these also reri, reri_low, reri_high, the relative excess risk due to interaction with a
        95 % interval, and scales, which says of a significant pair whether it interacts on "both" scales, on "log odds
        only" (the interval of RERI contains 0), or with "opposite signs"; residual and cell, otherwise the largest
        adjusted residual and its cell; n_samples; and for each member, by its place: gain_1, … (its gain beyond the
        others, bits × samples), alone_1, … (its gain by itself)
        and log_or_1, … (its log odds ratio by itself).

        For an outcome of numbers: f and df_residual in place of chi2, the F test of the same hypothesis about means of
        cells, and method "f". p_robust is the p-value of the hypothesis where cells may differ in their variances
        (HC3), and holds_robust says whether the larger one of both is significant: only then the tuple is.
        p_other_scale is the p-value of F on values where ranks were searched, or on ranks; scales says of a significant
        tuple whether it is so on "both", on "ranks only" (or "values only": p above the significance level on the
        other, not adjusted), or "unclear". effect, ci_low and ci_high are, for two levels each, the difference of
        differences in units of the outcome with a 95 % interval (HC3), and with coding="dosage" the coefficient of the
        product; effect_sd is the same in standard deviations of the outcome. residual is that of a cell's mean, in its
        standard errors. effect_1, … are differences of means of each member by itself.

        With coding="product" or "auto": found, the way in which the tuple has the smallest p-value, "levels",
        "product" (of ranks), "dosage" (of values of few levels) or "shape". Of a product, df is 1, and the effect is
        the coefficient of the product, of ranks in their standard deviations; a shape has none. p_smooth is the p-value
        beside flexible effects of the members, the larger one of both scales of the outcome: ranks and values, of which
        outliers are clipped, or log odds and probits.

        Where numbers were cut into levels: p_smooth is the p-value of a significant tuple beside smooth effects of the
        numbers themselves (natural splines), p_smooth_adjusted the same adjusted for all tuples, and holds_smooth says
        whether it is significant. A tuple that does not hold is an effect of cutting, and not significant.

        Where members are correlated with columns that have effects of their own: p_beside is the p-value of a
        significant tuple beside these effects, p_beside_adjusted the same adjusted for all tuples, and explained_by
        the columns beside which it is not significant. Such a tuple is a stand-in for causes in the table, listed and
        not significant.

        With groups, method is "permutations". p_value is the share of permutations of whole groups in which χ² ranks
        the tuple itself as high, and p_adjusted the share in which it ranks any tuple as high. chi2 and df only
        describe the size of an effect, and there are no confidence intervals.

        With covariates or an offset, statistics, p-values, effects and intervals are those of the full model (method
        "model", or "f" for numbers). For times: chi2 is the likelihood ratio of Cox's model, and log_hr, ci_low and
        ci_high are, for two levels each, the log hazard ratio of the interaction with a 95 % interval. p_robust is the
        p-value of Wald's test with Lin and Wei's variances, which hold where hazards are not proportional, and
        holds_robust says whether it is significant. With groups, p_robust and the interval have these variances of
        whole groups.

        With the verdicts of `tagging` (`with_tagging`): verdict, of the tuple or the lead that it joins, and
        explained_by, the columns that explain it.

        Of files of genotypes, there are also lod, the logarithm to base 10 of the likelihood ratio; of numbers
        explained_percent, the share of the variance that the interaction explains; and for each member by its place
        chromosome_1, position_1, a1_1 (the allele that is counted), a2_1, a1_freq_1, missing_1, hwe_p_1, n_1, beta_1
        and se_1 (per copy of a1, by itself, beside covariates) and of two classes or_1.

        In a replication, the columns first_p_value, first_log_or and so on refer to the samples in which the tuples
        were found, residual is that of the cell in which it was largest there, and same_direction says whether the log
        odds ratio, or that residual, has the same sign in both.
        """
        return self._table.copy()  # a copy, which users may change

    @cached_property
    def _table(self) -> pd.DataFrame:
        import pandas as pd

        columns = interaction_columns(self)
        return pd.DataFrame(columns if self.first is None else columns | first_columns(self))

    def sumstats(self) -> pd.DataFrame:
        """Return the listed tuples as summary statistics with the variants of all members; of files of genotypes.

        Columns of each member by its place (chromosome_1, …), then statistic, df, beta and standard_error where the
        interaction has one coefficient, p_value, p_value_adjusted and n.
        """
        tested = self.tested
        about = {
            "statistic": tested.statistic,
            "df": tested.df,
            "beta": tested.estimate,
            "standard_error": tested.standard_error,
            "p_value": tested.p_value,
            "p_value_adjusted": tested.p_adjusted,
            "n": tested.n_samples,
        }
        return known_variants(self.variants).sumstats_of_tuples(tested.tuples, self.names, about)

    def only_significant(self) -> Interactions:
        """Return the same result without the listed tuples that are not significant."""
        return self.chosen(np.flatnonzero(self.is_significant))

    def chosen(self, rows: IntArray) -> Interactions:
        """Return the same result with only these rows of the table, in this order."""
        first, tagged = self.first, self.tagged
        return replace(
            self,
            tested=self.tested.chosen(rows),
            first=None if first is None else first.chosen(rows),
            tagged=None if tagged is None else tagged.chosen(rows),
        )

    def members_of(self, row: int) -> tuple[str, ...]:
        """Return the names of the members of the tuple in a row of the table."""
        return self.names_of(self.tested.tuples[row])

    def cuts_of(self, variable: int) -> VariableCuts:
        """Return how a variable, given by its number, was cut into levels."""
        return self._cuts[variable]

    @cached_property
    def _cuts(self) -> dict[int, VariableCuts]:
        return {cuts.variable: cuts for cuts in self.cuts}

    def counts_of(self, row: int = 0) -> TupleCounts:
        """Return the number of samples of each class in each cell of the tuple in a row of the table.

        Of an outcome of numbers, ``.numbers`` is its distribution in each cell: ends of whiskers, quartiles, mean.
        Counts are kept for the first 300 tuples, and for tables of at most 2048 cells times classes. Strata are added
        up.
        """
        if not len(self):
            raise ValueError("the result lists no tuples, so it has no rows: call interactions with max_p=1 or top")
        row = check_int("row", row, low=0, high=len(self) - 1)
        for counts in self.counts:
            if counts.is_of(self.tested.tuples[row], 0, int(self.tested.discretization[row])):
                return counts
        raise ValueError(
            f"the cells of row {shown(row)} are not stored: a result stores them for the first {MAX_KEPT} tuples, if a "
            f"tuple has at most {MAX_NUMBERS} cells times classes"
        )

    def curves_of(self, row: int = 0) -> SurvivalCurves:
        """Return Kaplan and Meier's curves of the cells of the tuple in a row of the table, kept for the first 60."""
        counts = self.counts_of(row)
        for curves in self.survival_curves:
            if curves.is_of(counts.members, counts.run, counts.discretization):
                return curves
        if not self.has_times:
            raise ValueError("survival curves need an outcome that is a time: y=(time, event)")
        raise ValueError(
            f"the survival curves of row {shown(row)} are not stored: a result stores them for the first {MAX_TUPLES} "
            "tuples"
        )

    def clumps(self, r2: float = DEFAULT_R2, *, X: Any = None, positions: Any = None) -> pd.DataFrame:
        """Return the leads among the listed tuples: tuples of correlated members are one signal.

        In order of their p-values, a tuple joins the first lead whose members match its own one to one: each is the
        same variable, or has an r² of at least `r2` with it. Otherwise it is a lead itself. r² is the squared
        correlation of values that were not cut (dosages of genotypes) and of ranks of numbers that were; of labels it
        is the square of Cramér's V, and of labels and numbers the squared correlation ratio.

        Parameters
        ----------
        r2 : float
            The threshold, from 0.05 to 1.
        X : table-like, optional
            The samples. Needed where the result does not hold the correlations of the members: merged from parts.
        positions : array-like, dict or table, optional
            Of the variables, as in `interactions`, for the span; those of the search, or of a .bed file, are known.

        Returns
        -------
        DataFrame
            One row for each lead, smallest p-value first. Columns: members; p_value, p_adjusted and significant of the
            lead; size, the number of tuples of the clump, the lead included; n_variables, the different variables in
            them; joined, the members of the other tuples; and where positions are known span, the places between which
            the variables lie that match each member of the lead.

        Examples
        --------
        Columns 5 and 6 are noisy copies of columns 0 and 1, which interact:

        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(1)
        >>> X = rng.normal(size=(800, 12))
        >>> X[:, 5:7] = X[:, :2] + 0.4 * rng.normal(size=(800, 2))
        >>> y = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(800) < 0.2)
        >>> found = interplay.interactions(X, y)
        >>> len(found.significant), found.clumps()[["members", "size"]].values.tolist()
        (4, [[('x0', 'x1'), 4]])
        """
        return interaction_clumps(self, r2, X, positions)

    def with_clumps(self, r2: float) -> Interactions:
        """Return the same result with another r² for the clumps in summary, report and network."""
        return replace(self, clump_r2=check_r2(r2, FLOOR))

    @cached_property
    def leads(self) -> BoolArray | None:
        """Which of the listed tuples are significant leads at `clump_r2`; None where correlations are not known."""
        return significant_leads(self)

    def tagging(
        self,
        X: Any,
        y: Any,
        *,
        window: float | None = None,
        positions: Any = None,
        dense: Any = None,
        covariates: Any = None,
        strata: Any = None,
        offset: Any = None,
        entry: Any = None,
        r2: float = DEFAULT_R2,
        max_neighbours: int = 500,
        complete: bool = False,
        n_jobs: int | None = None,
    ) -> pd.DataFrame:
        """Say of each significant lead whether it is an interaction, or the shadow of a cause that its members tag.

        Two columns that tag one cause show an interaction that does not exist. The interaction of each lead (`clumps`)
        is tested again in models with the effects of each neighbour, one at a time, and of the strongest jointly:
        logistic or multinomial for classes, linear on the scale of the search for numbers, Cox's for times.

        - "explained": a neighbour has an effect beside the members (p < 0.05, times the number of neighbours), and
          beside it the interaction is not significant (p ≥ 0.02).
        - "cannot be told": no neighbour explains it, but the members are correlated (p < 0.02), close to each other, or
          have neighbours that are correlated. A haplotype of two markers with an untyped cause looks the same as an
          interaction of the two. Also where no column near a member is in the table, or samples are too few.
        - "holds": significant beside every neighbour, and the members are not correlated with each other, or a column
          explains their correlation and not their interaction.

        Parameters
        ----------
        X : table-like, (n_samples, n_vars)
            The samples in which the tuples were found. Variables are matched by name.
        y : (n_samples,) array-like, or str
            Their outcome, or the name of its column; (time, event) where the tuples were found with times.
        window : float, optional
            Neighbours are the columns up to this distance from a member, on its chromosome (1,000,000 where positions
            are known), and the columns that are most correlated with a member, anywhere.
        positions : array-like, dict or table, optional
            Of the variables, as in `interactions`; a .bed file has its own.
        dense : table-like or path, optional
            A table with more columns of the same samples in the same order, such as imputed genotypes, whose columns
            are neighbours too; or its file, as `interplay.io.read_data` and `interplay.genetics.read_bed` read it.
        covariates, strata, offset, entry : optional
            As in `interactions`; they stay in all models.
        r2 : float
            Of the clumps.
        max_neighbours : int
            Neighbours of a lead, the most correlated ones, at most.
        complete : bool
            Whether X and `dense` hold every column that could be the cause, as sequences of genomes do. Then leads that
            no neighbour explains hold.
        n_jobs : int, optional
            Threads; all cores if not given.

        Returns
        -------
        DataFrame
            One row per lead. Columns: members; verdict; by, the names of the columns that explain it; p_value and
            p_adjusted of the search; p_interaction, of the same models without neighbours; p_neighbour and p_given, of
            the columns that explain, or of the one that comes nearest to it, beside the members, and of the interaction
            beside them; n_neighbours; r2, the largest between two members; reason.

        Examples
        --------
        A cause that lies on chromosomes with both of two markers, with an effect of its own:

        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> markers = rng.random((2, 1000, 2)) < 0.4
        >>> cause = markers.all(axis=0)
        >>> X = np.column_stack([each.sum(axis=1) for each in (*markers, cause)])
        >>> y = X[:, 2] + rng.normal(size=1000)
        >>> found = interplay.interactions(X, y)
        >>> found.tagging(X, y)[["members", "verdict", "by"]].values.tolist()
        [[('x0', 'x1'), 'explained', ('x2',)]]
        """
        arguments = dict(locals())
        del arguments["self"]
        again = self.with_tagging(**arguments)
        assert again.tagged is not None
        return again.tagged.table(self)

    def with_tagging(
        self,
        X: Any,
        y: Any,
        *,
        window: float | None = None,
        positions: Any = None,
        dense: Any = None,
        covariates: Any = None,
        strata: Any = None,
        offset: Any = None,
        entry: Any = None,
        r2: float = DEFAULT_R2,
        max_neighbours: int = 500,
        complete: bool = False,
        n_jobs: int | None = None,
    ) -> Interactions:
        """Return the same result with the verdicts of `tagging`, which report and summary then show.

        Tuples that another column explains, and tuples of their clumps, are no longer significant.

        Parameters
        ----------
        X, y, window, positions, dense, covariates, strata, offset, entry, r2, max_neighbours, complete, n_jobs
            As in `tagging`.
        """
        arguments = {**locals(), "r2": check_r2(r2, FLOOR)}
        del arguments["self"]
        found = replace(self, tagged=None)
        return replace(found, tagged=in_new_samples("tag", found, **arguments))

    def graph(self, *, only_significant: bool = True, only_leads: bool = False) -> nx.Graph:
        """Return the tuples as a networkx graph: an edge between every two members of a tuple.

        Nodes are names. Edges have members (the whole tuple), weight (G² or F), p_value, p_adjusted and, for two levels
        and two classes, log_or, or effect for an outcome of numbers; of several tuples with both members, those of the
        smallest p-value. lead says whether the tuple is a significant lead at `clump_r2` (see `clumps`). Needs
        ``interplay[graph]``.

        Parameters
        ----------
        only_significant : bool
            Leave out listed tuples that are not significant.
        only_leads : bool
            Leave out tuples that are not significant leads, where correlations are known.
        """
        return interaction_graph(self, only_significant=only_significant, only_leads=only_leads)

    def terms(self, form: str = "ebm", *, only_significant: bool = True) -> list[Any] | str:
        """Return the tuples as the list of interactions that another model takes.

        Parameters
        ----------
        form : {"ebm", "lightgbm", "xgboost", "names"}
            "ebm": tuples of column numbers, for ``interactions`` of interpret's explainable boosting machines, triples
            included. "lightgbm" and "xgboost": lists of column numbers, for their ``interaction_constraints``; each
            variable that is in no tuple has a list of its own, so that it acts alone. XGBoost takes numbers as a text
            only. "names": tuples of names.
        only_significant : bool
            Leave out listed tuples that are not significant.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 5))
        >>> found = interplay.interactions(X, (X[:, 1] > 0) ^ (X[:, 4] > 0))
        >>> found.terms(), found.terms("lightgbm")
        ([(1, 4)], [[1, 4], [0], [2], [3]])
        >>> found.terms("xgboost")
        '[[1, 4], [0], [2], [3]]'
        """
        return interaction_terms(self, form, only_significant=only_significant)

    def rules(self, form: str = "text", *, row: int | None = None, only_significant: bool = True) -> list[str]:
        r"""Return the cells of tuples as rules.

        Parameters
        ----------
        form : {"text", "sql"}
            "text": a sentence for each cell that has samples, with the share of the last of two classes, the likeliest
            of several, the mean of a number, or the mean residual of times (events seen minus expected, per sample).
            "sql": for each tuple, one expression (CASE … END) with this value, to be selected as a column.
        row : int, optional
            Only the tuple in this row of the table.
        only_significant : bool
            Leave out listed tuples that are not significant. Cells are stored for the first 300 tuples.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.integers(0, 2, size=(400, 5))
        >>> found = interplay.interactions(X, np.where(X[:, 1] ^ X[:, 4], "ill", "well"))
        >>> print(*found.rules(), sep="\n")
        if x1 is 0 and x4 is 0: well 100% (91 samples)
        if x1 is 0 and x4 is 1: well 0% (96 samples)
        if x1 is 1 and x4 is 0: well 0% (99 samples)
        if x1 is 1 and x4 is 1: well 100% (114 samples)
        """
        return interaction_rules(self, form, row=row, only_significant=only_significant)

    @property
    def plot(self) -> InteractionPlots:
        """Pictures, each as matplotlib Axes: effects, network, why, survival."""
        from interplay.show.plots.interaction_plots import InteractionPlots

        return InteractionPlots(self)

    @described_by(NEW_SAMPLES)
    def replicate(
        self,
        X: Any,
        y: Any,
        *,
        strata: Any = None,
        covariates: Any = None,
        offset: Any = None,
        entry: Any = None,
        p_adjust: str | None = None,
    ) -> Interactions:
        """Test the listed tuples, once each, in new samples.

        Variables and outcome are cut at the thresholds of the first samples, and p-values are adjusted for the number
        of these tuples only, as nothing was searched. Effects that were selected by significance are overestimated in
        the samples in which they were found, but not in new samples. Samples with a missing value of a member, or with
        a value that the first samples do not have, are left out of the test of the tuple. With covariates, an offset or
        times, tests are those of the full model, with coefficients of the new samples.

        Parameters
        ----------
        ...

        Returns
        -------
        Interactions
            Tests in the new samples, smallest p-value first; ``.table`` also has the tests in the first samples.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(800, 20))
        >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0) ^ (rng.random(800) < 0.3)
        >>> found = interplay.interactions(X[:400], y[:400])
        >>> again = found.replicate(X[400:], y[400:])
        >>> again.significant
        [('x3', 'x11')]
        """
        given = {"strata": strata, "covariates": covariates, "offset": offset, "entry": entry}
        again: Interactions = in_new_samples("replicate", self, X, y, **given, p_adjust=p_adjust)
        return again

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a report to one HTML file: what was found, the tuples cell by cell, notes, settings.

        Examples
        --------
        >>> import interplay, tempfile, pathlib
        >>> X, y, truth = interplay.datasets.make_madelon(n_samples=300, n_vars=20, random_state=1)
        >>> report = pathlib.Path(tempfile.mkdtemp()) / "pairs.html"
        >>> interplay.interactions(X, y, top=5).to_html(report)
        >>> report.read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        from interplay.show.report.interaction_page import interactions_page
        from interplay.show.report.page import write_page

        write_page(interactions_page(self), path)

    def notes(self) -> list[str]:
        """Return what a reader should know of these numbers, in sentences."""
        return notes(self)

    def headline(self) -> str:
        """Return what was found, in one sentence."""
        return headline(self)

    def details(self) -> str:
        """Return samples, classes and levels in one sentence."""
        return details(self)

    def permutations_in_words(self) -> str:
        """Say what p-values come from, where samples belong to groups."""
        return permutations_in_words(self.record.groups)

    def summary(self) -> str:
        """Return the result in words."""
        return summary_text(self)

    def _repr_html_(self) -> str:
        return summary_html(self)
