"""Selection: the result of select(), with settings and provenance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from interplay.base.arguments import NEW_SAMPLES, described_by
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, check_int, shown
from interplay.base.tuples import MaxGains
from interplay.data.codes.tuple_counts import MAX_KEPT, MAX_NUMBERS, TupleCounts
from interplay.data.study.outcomes.words import Words
from interplay.files.types import Check
from interplay.infer.arms import (
    ArmPValues,
    arm_names,
    arm_of_tuples,
    found_by,
    found_in_words,
    log_p_of_arm,
    strongest_test,
    weighted_arms,
)
from interplay.infer.best_curve import BestCurve
from interplay.infer.best_order import BestOrder
from interplay.infer.effects.variable_effects import VariableEffects
from interplay.infer.linkage import DEFAULT_R2, FLOOR, Linkage
from interplay.infer.model_tests import ModelTests
from interplay.infer.null_fit import NullFit
from interplay.infer.p_values import adjust, significance_order
from interplay.infer.short_list import ShortList, clusters
from interplay.infer.stability import Stability
from interplay.infer.survival.survival_curves import SurvivalCurves
from interplay.infer.verdicts import Verdict, verdicts_of
from interplay.show.results.leads import check_r2, selection_clumps
from interplay.show.results.replicated import Replication
from interplay.show.results.result import ClaimedRows, Result, in_new_samples
from interplay.show.results.run import Run, synergy_frame, synergy_graph
from interplay.show.results.selection_summary import details_text, summary_html, summary_text
from interplay.show.results.selection_table import (
    Best,
    annotate,
    contrast_table,
    first_variables,
    one_size,
    selection_interactions,
    selection_table,
    tuples_table,
)
from interplay.show.results.variants import Variants, known_variants

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from interplay.data.study.study import Study
    from interplay.show.plots import SelectionPlots
    from interplay.show.results.interactions import Interactions


def _p_of_arm(arm: str, doc: str) -> property:
    """Return the property of a Selection that gives the p-values of one arm."""
    return property(lambda selection: selection.p_of_arm(arm), doc=doc)


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Result):
    """The result of `select`: which variables are informative about the outcome, and how.

    Attributes
    ----------
    names : list of str
        Names of all variables, in the order of the input.
    runs : tuple of Run
        Gains, null fit and contrast variables, one run for each comparison of classes and each size of tuples. There is
        one run if `dimensions` is one number, unless `multiclass` asks for several comparisons.
    p_value, p_adjusted : (n_vars,) float64
        p-value of each variable, before and after adjustment for the number of variables. From permutations, the
        adjustment is step-down maxT.
    log_p : (n_vars,) float64
        Natural logarithm of the p-value, which keeps its order where p itself is below 1e-308.
    is_relevant : (n_vars,) bool
        Whether the adjusted p-value is below the significance level.
    ranked : (n_relevant,) int64
        Numbers of the relevant variables, most significant first.
    correlation : (n_relevant, n_relevant) float64
        Correlations between the relevant variables, in the order of `ranked`; empty if there are more than 3000.
    settings : dict
        Every argument as it was used: ``select(X, y, **result.settings)`` repeats the run. Strata, groups and
        covariates are part of the data, like `y`, and have to be given again.
    provenance : dict
        Date, name of the target, number of samples that the reader left out, data fingerprint, sizes of the strata,
        groups and permutations, engine, versions, seconds and `cautions`; of a run of the command line also the file,
        the columns that were left out, and the command that repeats it.
    tuple_counts : tuple of TupleCounts
        Number of samples of each class in each cell, for the best tuples of the first 300 relevant variables; see
        `counts_of`.
    in_model : ModelTests, optional
        With covariates, an offset or times: the tests of the relevant variables by the full model.
    survival_curves : tuple of SurvivalCurves
        Kaplan and Meier's curves of the cells of the same tuples, if the outcome is a time.
    tests : tuple of ArmPValues
        The tests that the p-values are combined from; none if `dimensions` is one number.
    linkage : Linkage or None
        Which of the relevant variables, and of the members of their tuples, are correlated; None of parts that were
        merged without X, and of very many variables. See `clumps`.
    clump_r2 : float
        The r² from which on the summary takes correlated variables as one signal; see `with_clumps`.
    stability : Stability or None
        With `stability`: how often variables and tuples come back in halves of the samples; see `stable_tuples`.
    effects : VariableEffects, optional
        Direction and size of the effects of the relevant variables; see `effect_table`.
    shortened : ShortList, optional
        Groups of redundant variables and the short list; see `redundant_groups` and `short_list`.
    ordered : BestOrder, optional
        The first 100 variables of the order for models, where it is made; see `best_order`.
    n_best : int
        How many variables summary and table show as the best for a model; see `with_best`.
    curve : BestCurve, optional
        What so many variables explain, by cross-fitting, where it was asked for; see `best_curve`.
    again, order : callable, optional
        Repeats the search in parts of the samples, for `best_curve`; makes `best_order`. They are not saved.
    replication : Replication, optional
        With ``holdout=``, the tests of the relevant variables in the samples that were held out.
    variants : Variants or None
        Of files of genotypes: places, alleles, frequencies and effects per allele; see `sumstats`.
    """

    names: Annotated[list[str], Check("n_vars")]
    runs: tuple[Run, ...]
    log_p: Annotated[FloatArray, Check("n_vars")]
    p_value: Annotated[FloatArray, Check("n_vars")]
    p_adjusted: Annotated[FloatArray, Check("n_vars")]
    is_relevant: Annotated[BoolArray, Check("n_vars")]
    ranked: Annotated[IntArray, Check("n_relevant")]
    correlation: Annotated[FloatArray, Check("n_relevant n_relevant", may_be_empty=True)]
    settings: dict[str, Any]
    provenance: dict[str, Any]
    tuple_counts: tuple[TupleCounts, ...] = ()
    in_model: ModelTests | None = None
    survival_curves: tuple[SurvivalCurves, ...] = ()
    tests: tuple[ArmPValues, ...] = ()
    linkage: Linkage | None = None
    clump_r2: Annotated[float, Check(above=0, high=1)] = DEFAULT_R2
    stability: Stability | None = None
    effects: VariableEffects | None = None
    shortened: ShortList | None = None
    replication: Replication | None = None
    variants: Variants | None = None
    ordered: BestOrder | None = None
    n_best: Annotated[int, Check(low=0)] = 0
    curve: BestCurve | None = None
    again: Callable[[], BestCurve] | None = field(default=None, metadata={"written": False})
    order: Callable[[], BestOrder] | None = field(default=None, metadata={"written": False})

    def without_samples(self) -> Self:
        """Return the same result with all that is made of the samples when it is asked for, and without these."""
        return replace(self, ordered=self.best_order, order=None, again=None)

    def __getstate__(self) -> dict[str, Any]:
        return self.without_samples().__dict__

    @property
    def relevant(self) -> list[str]:
        """Names of the relevant variables, most significant first."""
        return [self.names[v] for v in self.ranked]

    def claims(self) -> ClaimedRows:
        """Return the p-values of all variables."""
        is_permuted = self.adjustment == "maxT"
        return ClaimedRows(self.names, self.p_value, self.p_adjusted, self.is_relevant, len(self.names), is_permuted)

    def adjust_all(self, p_value: FloatArray, n_tests: int) -> FloatArray:
        """Adjust the p-values of several selections."""
        return adjust(p_value, str(self.asked.p_adjust), level=self.asked.level)

    @cached_property
    def by_significance(self) -> IntArray:
        """Numbers of all variables, most significant first, relevant or not."""
        return significance_order(self.log_p, np.max([run.gains.gain for run in self.runs], axis=0))

    @property
    def cautions(self) -> dict[str, str]:
        """Variables that may be a leak of the outcome, an identifier or a label of subjects, and why: by name.

        The column caution of ``.table`` has the same. Such columns are recognised by their values: those that determine
        the class completely, also by their missing values; those whose gain comes from missing values alone
        (``missing="level"``); whole numbers, nearly all different, that are named as identifiers or number the samples;
        texts, nearly all different; and labels of subjects with several samples each.
        """
        return dict(self.record.cautions)

    @property
    def words(self) -> Words:
        """What tables and reports say of this kind of outcome."""
        return self.record.words(self.class_sizes)

    @property
    def gains(self) -> MaxGains:
        """The maximum gains, if there was one run; with several, see ``.runs`` and `of_dimension`."""
        return self._only_run().gains

    @property
    def null_fit(self) -> NullFit:
        """The null fit, if there was one run; with several, see ``.runs`` and `of_dimension`."""
        return self._only_run().null_fit

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The sizes of tuples that were searched."""
        return tuple(sorted({run.dimensions for run in self.runs}))

    @property
    def comparisons(self) -> tuple[str, ...]:
        """The comparisons of classes: "all classes", or one entry for each comparison."""
        smallest = self.runs[0].dimensions
        return tuple(run.decision for run in self.runs if run.dimensions == smallest)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms whose p-values are combined; none with one dimension."""
        return arm_names(self.tests)

    def p_of_arm(self, arm: str) -> FloatArray:
        """Return the p-values of one arm alone, before adjustment.

        Parameters
        ----------
        arm : str
            One of ``.arms``: "alone", "given", "pairs", "triples", …
        """
        return np.exp(log_p_of_arm(self.tests, arm))

    @property
    def arm_weights(self) -> pd.DataFrame:
        """The weights with which the p-values of the arms are combined, a column for each arm, a row for each variable.

        They start from fixed weights and are shifted towards the arms in which other variables were found.
        """
        import pandas as pd

        weights = weighted_arms(self.tests)[1].T if self.tests else np.empty((len(self.names), 0))
        return pd.DataFrame(weights, index=self.names, columns=list(self.arms))

    p_alone = _p_of_arm(
        "alone",
        "p-values of variables by themselves: a shift between classes, a U shape, any difference between levels.",
    )
    p_given = _p_of_arm("given", "p-values of variables given the other variables that are strong by themselves.")
    p_pairs = _p_of_arm("pairs", "p-values of variables in pairs.")
    p_triples = _p_of_arm("triples", "p-values of variables in triples.")
    p_quadruples = _p_of_arm("quadruples", "p-values of variables in quadruples.")

    @cached_property
    def found(self) -> list[str]:
        """The simplest way in which each variable shows: "alone", "given others", "in pairs", "in triples", …"""
        if not self.tests:
            return [found_in_words(arm_of_tuples(self.dimensions[-1]))] * len(self.names)
        return found_by(self.tests, self.asked.level)

    def of_dimension(self, dimensions: int) -> Selection:
        """Return the result for tuples of one size alone, as ``select(X, y, dimensions=dimensions)`` would.

        Its p-values and relevant variables are of this search alone. Synergies and counts of cells are there for
        variables that are relevant in the combined result.

        Parameters
        ----------
        dimensions : int
            One of ``.dimensions``.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 20))
        >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
        >>> result = interplay.select(X, y, random_state=0)
        >>> sorted(result.of_dimension(2).relevant), result.of_dimension(1).relevant
        (['x11', 'x3'], [])
        """
        if dimensions not in self.dimensions:
            listed = ", ".join(map(str, self.dimensions))
            raise ValueError(f"dimensions must be one of {listed}, which were searched, not {shown(dimensions)}")
        return one_size(self, dimensions) if self.tests else self

    @property
    def contrast(self) -> pd.DataFrame:
        """One row per contrast variable: the variable it was permuted from, its gain, p-value and partners."""
        return contrast_table(self)

    @cached_property
    def best_run(self) -> IntArray:
        """Number of the run in which each variable has its smallest p-value, or in which it shows most clearly."""
        if not self.tests:
            return np.asarray(np.argmin([run.null_fit.log_p_values() for run in self.runs], axis=0))
        # Runs are ordered by comparison, and within a comparison by dimensions.
        place_of = np.array([self.dimensions.index(test.dimensions) for test in self.tests])
        comparison = np.stack([test.comparison for test in self.tests])[self._strongest, np.arange(len(self.names))]
        return np.asarray(comparison * len(self.dimensions) + place_of[self._strongest])

    @cached_property
    def _strongest(self) -> IntArray:
        """Number of the test with the strongest evidence for each variable."""
        return strongest_test(self.tests, self.asked.level)

    def best_tuple(self, number: int) -> IntArray:
        """Return the members of the tuple in which a variable, by its number, shows most clearly, ascending."""
        of_test = self.tests[self._strongest[number]].tuples if self.tests else None
        members = self._tuples_by_run[self.best_run[number]][number] if of_test is None else of_test[number]
        return np.asarray(members[members >= 0])

    @cached_property
    def _tuples_by_run(self) -> list[IntArray]:
        """Best tuples in each run. Cached, since `MaxGains.tuples` goes through all variables on every access."""
        return [run.gains.tuples for run in self.runs]

    def best_tuples(self, variables: IntArray, dimensions: int) -> IntArray:
        """Return the best tuples of variables, as rows of `dimensions` members; −1 fills the rows of smaller tuples."""
        tuples = np.full((len(variables), dimensions), -1, dtype=np.int64)
        for row, v in zip(tuples, variables.tolist(), strict=True):
            members = self.best_tuple(v)
            row[: len(members)] = members
        return tuples

    @property
    def table(self) -> pd.DataFrame:
        """One row per variable, in the order of the input.

        Columns: variable, gain, p_value, p_adjusted, relevant, partners (the other members of its best tuple),
        discretization, gain_alone (its gain in 1D), synergy (gain − gain_alone). For relevant variables, direction says
        in words which way the variable goes with the outcome; effect is the size of its effect, effect_low and
        effect_high are its 95 % interval, and effect_kind names it (see `effect_table`); representative is the variable
        that stands for its group of redundant variables, and short_list says whether it is in the short list. With
        several comparisons of classes, those of the one with the smallest p-value, which the column decision names.
        With covariates, an offset or times, p_model is the p-value of a relevant variable in the full model, in the way
        in which it was found, not adjusted; p_value and p_adjusted allow for it. Of times, concordance is Harrell's C,
        and p_proportional the test of proportional hazards (Schoenfeld). With `stability`, the column of this
        name is the share of halves of the samples in which the variable is relevant. If a variable calls for caution
        (`cautions`), the column caution says why.

        In 2D and more, verdict says what the best tuple of a relevant variable is: an "interaction" (of all members, or
        of some), "additive" (every member matters by itself, no interaction was found), "unclear" (no interaction was
        found, and not every member matters by itself: a partner by chance, or an interaction too weak to be detected)
        or "untested"; it is empty for variables that are not relevant or have no partners. interacting names the
        members that interact, and p_interaction is the p-value of the interaction, adjusted for all tuples.

        Of files of genotypes, there are also chromosome, position, a1 (the allele that is counted), a2, a1_freq,
        missing (share of people without a genotype), hwe_p (exact test of Hardy–Weinberg equilibrium), n (people with
        a genotype), and per copy of a1, beside covariates and strata: beta with se (of two classes the log odds ratio
        of the second class, and or), p_allele (Wald's test), lod, and of numbers explained_percent, the share of the
        variance.

        With several dimensions, there are also found (the simplest way in which the variable shows, in words) and the
        p-value of each arm (p_alone, p_given, p_pairs, …); partners are those of the tuple with the strongest evidence
        there, or, of a variable found alone, of the tuple in which it matters beyond that; gain is the variable's
        largest in tuples of that size.
        """
        return self._table.copy()  # a copy, which users may change

    @cached_property
    def _table(self) -> pd.DataFrame:
        return selection_table(self)

    @property
    def stable_tuples(self) -> pd.DataFrame:
        """Tuples of relevant variables in halves of the samples, with the share of halves, the most frequent first.

        Columns: members (names), stability. Needs ``select(…, stability=100)``.
        """
        import pandas as pd

        found = self.halves()
        members = [self.names_of(row[row >= 0]) for row in found.tuples]
        return pd.DataFrame({"members": members, "stability": found.tuple_frequency})

    def sumstats(self) -> pd.DataFrame:
        """Return the variants as summary statistics (GWAS-SSF), by place; of files of genotypes.

        beta, standard_error and p_value are those per copy of the effect allele, beside covariates and strata. The last
        column, p_value_search, is the p-value of this selection.
        """
        return known_variants(self.variants).sumstats(self.names, self.p_value)

    def halves(self) -> Stability:
        """Return `stability`, or say how to get it."""
        if self.stability is None:
            raise ValueError("this selection was not repeated in halves of the samples: call select with stability=100")
        return self.stability

    @property
    def effect_table(self) -> pd.DataFrame:
        """All effects of the relevant variables, most significant first; the first row of each is in ``.table``.

        Columns: variable, effect_kind, about (the level or class that is compared), effect, effect_low, effect_high
        (the 95 % interval), direction. Two classes: the AUC (the probability that a sample of the second class has the
        larger value; DeLong's interval) and Cliff's delta = 2 AUC − 1; for two levels the odds ratio (Woolf). Several
        classes: each against the rest. Numbers: Spearman's rho (Bonett and Wright's interval) and the difference in
        means (Welch). Times: the hazard ratio of Cox's model, per standard deviation of the normal scores or between
        levels. Levels without an order are each compared with the rest. A variable found given others has its rank
        correlation given these.

        Effects are those of a variable by itself, without covariates, in the samples that it was found in: sizes of
        variables that were selected by significance are overestimated.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 20))
        >>> y = np.where(X[:, 3] + rng.normal(size=400) > 0, "ill", "well")
        >>> result = interplay.select(X, y, random_state=0)
        >>> result.table.loc[3, ["direction", "effect_kind"]].to_list()
        ['lower with well', 'AUC']
        """
        import pandas as pd

        if self.effects is None:
            names = ["variable", "effect_kind", "about", "effect", "effect_low", "effect_high", "direction"]
            return pd.DataFrame(columns=names)
        return self.effects.to_frame(self.names)

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What the best tuples of all variables are; only those of relevant variables were tested."""
        verdicts = [Verdict()] * len(self.names)
        for number, run in enumerate(self.runs):
            variables = self.ranked[self.best_run[self.ranked] == number]
            if run.dimensions > 1 and len(variables):
                tuples = self.best_tuples(variables, run.dimensions)
                found = verdicts_of(run.tested, tuples, level=self.asked.level, is_relevant=self.is_relevant)
                for v, verdict in zip(variables.tolist(), found, strict=True):
                    verdicts[v] = verdict
        return verdicts

    def verdict_of(self, variable: str | int) -> Verdict:
        """Return what the best tuple of a variable is: an interaction or not, with its p-value and log odds ratio."""
        return self.verdicts[self._number_of(variable)]

    def interactions(self, *, dimensions: int | None = None, run: int | str | None = None) -> Interactions:
        """Return the tests of the tuples of this selection: those that explain the relevant variables.

        p-values are adjusted for all tuples of the search, as the tuples were chosen by looking at all of them.
        `interplay.interactions` tests all tuples, not only those of relevant variables.

        Parameters
        ----------
        dimensions : int, optional
            Number of members: of the tuples of the search, or of their parts. By default that of the search; of
            several, the smallest, that is pairs.
        run : int or str, optional
            With several comparisons of classes, the number or the name of one.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 20))
        >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
        >>> interplay.select(X, y, random_state=0).interactions().significant
        [('x3', 'x11')]
        """
        return selection_interactions(self, dimensions, run)

    @described_by(NEW_SAMPLES)
    def replicate(
        self,
        X: Any,
        y: Any,
        *,
        strata: Any = None,
        groups: Any = None,
        covariates: Any = None,
        offset: Any = None,
        entry: Any = None,
        p_adjust: str | None = None,
        dimensions: int | None = None,
        run: int | str | None = None,
    ) -> Replication:
        """Test the relevant variables in new samples, each in the way in which it was found.

        A variable found alone is tested by its ranks, its spread or its levels; one found given others given the same
        variables; one found in tuples in the same tuple, at the same cuts: what it adds to its partners (gain), beyond
        its own effect as well (synergy), or the product of ranks. p-values are adjusted for the number of relevant
        variables alone. Classes and numbers are tested in linear models of scores and cells (Pillai's trace); with
        covariates, an offset or times, by likelihood ratios of the full model: linear, logistic or Cox's. The
        significant interactions are tested too: ``.interactions`` of the result is what
        ``.interactions().only_significant().replicate()`` gives.

        Parameters
        ----------
        groups : (n_samples,) array-like, table-like, or str, optional
            Samples that belong together: p-values then come from 999 permutations of whole groups.
        dimensions : int, optional
            Number of members of the interactions, as in `interactions`.
        run : int or str, optional
            With several comparisons of classes, the number or the name of one, for the interactions.
        ...

        Returns
        -------
        Replication
            ``.table``, both studies side by side, ``.replicated``, ``.summary()`` and ``.interactions``.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(800, 20))
        >>> y = ((X[:, 3] > 0) ^ (X[:, 11] > 0)) | (X[:, 5] > 0.5)
        >>> again = interplay.select(X[:400], y[:400], random_state=0).replicate(X[400:], y[400:])
        >>> sorted(again.replicated), again.interactions.significant
        (['x11', 'x3', 'x5'], [('x3', 'x11')])
        """
        beside = {"strata": strata, "groups": groups, "covariates": covariates, "offset": offset, "entry": entry}
        tuples = partial(self._replicated_tuples, p_adjust=p_adjust, dimensions=dimensions, run=run)
        again: Replication = in_new_samples(
            "replicate_variables", self, X, y, **beside, p_adjust=p_adjust, tuples=tuples
        )
        return again

    def _replicated_tuples(
        self, study: Study, *, p_adjust: str | None, dimensions: int | None, run: Any
    ) -> Interactions | None:
        """Test the significant interactions in new samples, where they have a test."""
        if study.groups is not None or not self.has_tested_tuples or (len(self.comparisons) > 1 and run is None):
            return None
        found = self.interactions(dimensions=dimensions, run=run).only_significant()
        again: Interactions = in_new_samples("replicate_in", found, study, p_adjust=p_adjust)
        return again

    @property
    def has_tested_tuples(self) -> bool:
        """Whether there are tests of interactions that new samples can repeat."""
        return any(run.tested and run.outcome is not None for run in self.runs)

    def tuples_of(self, variable: str | int) -> pd.DataFrame:
        """Return the best tuples that contain a variable: its own, and those of other variables.

        Columns: variable (the one whose best tuple it is), members, gain (of that variable), discretization.
        """
        return tuples_table(self, self._number_of(variable))

    def counts_of(self, variable: str | int) -> TupleCounts:
        """Return the number of samples of each class in each cell of a relevant variable's best tuple.

        Counts are kept for the first 300 relevant variables, and for tables of at most 2048 cells times classes.
        """
        number = self._number_of(variable)
        run = int(self.best_run[number])
        members, discretization = self.best_tuple(number), int(self.runs[run].gains.discretization[number])
        for counts in self.tuple_counts:
            if counts.is_of(members, run, discretization):
                return counts
        raise ValueError(
            f"the cells of the best tuple of {shown(self.names[number])} are not stored: a result stores them for the "
            f"first {MAX_KEPT} relevant variables, if the tuple has at most {MAX_NUMBERS} cells times classes, but not "
            "of parts merged without X"
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
            Columns: variable; partners, the other members; gain, of the variable in the tuple; gain_alone, its gain in
            1D; gain_in_part, its largest gain in a smaller tuple of these members, including the variable alone;
            synergy = gain − gain_in_part, the information in the whole tuple and in no part of it; p_gain, the
            probability that the best tuple of an irrelevant variable has at least this gain. This p-value allows for
            the number of tuples of a variable, but not for the number of variables (adjusted p-values are in
            ``.table``; from permutations it allows for both), and does not show an interaction: variables that have
            separate effects have small ones too. verdict, interacting and p_interaction, as in ``.table``, say whether
            there is one, and log_or its log odds ratio (two levels, two classes), or effect its difference of
            differences (two levels, an outcome of numbers). All gains are maxima over the
            discretisations. With several runs, the column decision names the run.

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
        return clusters(self.correlation, self.relevant, threshold)

    def clumps(self, r2: float = DEFAULT_R2, *, X: Any = None, positions: Any = None) -> pd.DataFrame:
        """Return the leads among the relevant variables: variables correlated with a stronger one join it.

        In order of their p-values, a variable joins the first lead with which it has an r² of at least `r2`. r² is as
        in `Interactions.clumps`. Unlike `clusters`, a clump does not grow along a chain of correlations.

        Parameters
        ----------
        r2 : float
            The threshold, from 0.05 to 1.
        X : table-like, optional
            The samples. Needed where the result does not hold the correlations: merged from parts without X.
        positions : array-like, dict or table, optional
            Of the variables, as in `interactions`, for the span; those of a .bed file are known.

        Returns
        -------
        DataFrame
            One row for each lead, smallest p-value first. Columns: variable; p_value and p_adjusted of the lead; size,
            the number of variables of the clump, the lead included; joined, the names of the others; and where
            positions are known span.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 10))
        >>> X[:, 7] = X[:, 2] + 0.5 * rng.normal(size=400)
        >>> clumps = interplay.select(X, X[:, 2] > 0, dimensions=1, random_state=0).clumps()
        >>> clumps[["variable", "size", "joined"]].values.tolist()
        [['x2', 2, ['x7']]]
        """
        return selection_clumps(self, r2, X, positions)

    def with_clumps(self, r2: float) -> Selection:
        """Return the same result with another r² for the clumps in the summary."""
        return replace(self, clump_r2=check_r2(r2, FLOOR))

    @property
    def short_list(self) -> list[str]:
        """A small set of relevant variables, each of which is relevant given the others; in the order of their choice.

        Candidates are the representatives of `redundant_groups`. Forward: the variable that says most given natural
        splines of the chosen ones is added while its p-value, times the number of candidates, is below the significance
        level (`level`); the member of its group that says most takes its place. Interacting tuples follow, each given
        its members; a tuple brings in all members. At the end, variables that do not pass this bar given all others are
        dropped. Once the list is sufficient, it gets a variable too many with a probability of about `level`: in 462
        tables of known truth, 24 lists (5.2 %) had one. Effects of ranks add up: a variable that matters in another way
        may be missing. The list is empty where samples belong to groups, and where parts were merged without X.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 20))
        >>> X[:, 5] = X[:, 3] + 0.3 * rng.normal(size=400)
        >>> result = interplay.select(X, X[:, 3] + X[:, 7] + rng.normal(size=400), random_state=0)
        >>> sorted(result.relevant), sorted(result.short_list)
        (['x3', 'x5', 'x7'], ['x3', 'x7'])
        >>> sorted(result.redundant_groups)
        [['x3', 'x5'], ['x7']]
        """
        return [] if self.shortened is None else [self.names[v] for v in self.shortened.variable.tolist()]

    def best(self, n: int | str) -> Best:
        """Return the n variables that a model should get, significant or not, the best first.

        The next is what adds most to those before it, and is most relevant, over all that the search found out, divided
        by its likeness to them. Variables that matter only together come in one after the other, and where not all fit
        into n, what comes next takes their place: `best(5)` need not begin with `best(1)`. No class is
        left without a variable, where one is significant for it. The first 100 are ordered so; others follow by their
        p-values, as all do where parts were merged without X. The short list is what can be proved.

        Parameters
        ----------
        n : int or "auto"
            How many variables, at most all that were searched. "auto" takes the smallest number that predicts within
            one standard error of the best: search and order are repeated in four fifths of the samples, and judged in
            the others (`best_curve`).

        Returns
        -------
        Best
            A list of names, with ``.table``: rank, variable, p_adjusted, relevant, found, the tuple with which it came
            in, and the class that would have had none. Its ``.curve`` is what so many variables explain, by
            cross-fitting.

        Examples
        --------
        >>> import numpy as np
        >>> import interplay
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 20))
        >>> X[:, 5] = X[:, 3] + 0.1 * rng.normal(size=400)  # a copy
        >>> y = 2 * X[:, 3] + X[:, 7] + 2 * np.sign(X[:, 11] * X[:, 12]) + rng.normal(size=400)
        >>> result = interplay.select(X, y, random_state=0)
        >>> result.best(4)
        ['x11', 'x12', 'x3', 'x7']
        """
        if isinstance(n, str):
            check_choice("n", n, ("auto",))
            n = self.best_curve.n_best
        return Best(self, first_variables(self, check_int("n", n, low=1, high=len(self.names))))

    @property
    def best_order(self) -> BestOrder | None:
        """The first 100 variables of the order for models; made, once, when it is asked for."""
        return self.order() if self.ordered is None and self.order is not None else self.ordered

    @cached_property
    def best_curve(self) -> BestCurve:
        """What the first n variables for a model explain in samples that had no part in choosing them.

        Search and order are repeated without each fifth of the samples; ridge regression on the first n variables
        predicts the outcome there. It is made when it is asked for, and takes about four searches. A result from a file
        or a pickle has no samples: it knows the curve if it was saved `with_best` "auto".
        """
        if self.curve is not None:
            return self.curve
        if self.again is None:
            raise ValueError(
                "this result has no samples, in which the search could be repeated: use "
                "select(X, y, **result.settings).best('auto'), or give a number to best()"
            )
        return self.again()

    def with_best(self, n: int | str) -> Selection:
        """Return the same result with the n best variables for a model in summary, table and report.

        The column best of the table has their ranks, and 0 of the others.

        Parameters
        ----------
        n : int or "auto"
            As in `best`. With "auto" the curve is kept, and saved with the result.
        """
        number = len(self.best(n))
        return replace(self, n_best=number, curve=self.best_curve if n == "auto" else self.curve)

    @property
    def redundant_groups(self) -> list[list[str]]:
        """Groups of relevant variables that say nearly the same; the first of each represents it.

        From the most to the least significant, a variable joins the group of the representative with which it has the
        strongest association, if that is at least `redundancy` (0.8 by default), else it starts a group. The
        association of two numbers is their absolute rank correlation, that of a number and labels the correlation ratio
        of the ranks, and that of labels Cramér's V.
        """
        if self.shortened is None:
            return []
        groups: dict[int, list[str]] = {}
        for v, group in zip(self.ranked.tolist(), self.shortened.representative.tolist(), strict=True):
            groups.setdefault(group, []).append(self.names[v])
        return list(groups.values())

    @property
    def adjustment(self) -> str:
        """How p-values were adjusted: as `p_adjust` says, or "maxT" by permutations."""
        method = str(self.asked.p_adjust)
        return "maxT" if self.runs[0].null_fit.is_permuted and method != "none" else method

    @property
    def plot(self) -> SelectionPlots:
        """Pictures, each as matplotlib Axes: gains, p_values, null_fit, null_histogram, correlation, synergies, why.

        With samples volcano, with halves stability, of times survival, of files of genotypes manhattan and qq.
        """
        from interplay.show.plots import SelectionPlots

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
        annotate(self, adata, prefix=prefix)

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
        from interplay.show.report.page import report_page, write_page

        write_page(report_page(self), path)

    def summary(self) -> str:
        """Return the result in words."""
        return summary_text(self)

    def details(self) -> str:
        """Return what was searched and where p-values come from, in one line.

        Examples
        --------
        >>> import numpy as np, interplay
        >>> X = np.random.default_rng(0).normal(size=(200, 10))
        >>> interplay.select(X, X[:, 3] > 0, dimensions=1, random_state=0).details()
        '1D; holm-adjusted p; numbers cut into 2 levels; no contrast variables; exact p-values; seed 0'
        """
        return details_text(self)

    def _repr_html_(self) -> str:
        return summary_html(self)

    @property
    def class_sizes(self) -> dict[str, int]:
        """Samples of each class, whatever classes were compared with each other; empty if the outcome is numbers."""
        # With one class against the rest, the first label is the rest, which is not a class.
        first = 1 if self.asked.multiclass == "ovr" and len(self.comparisons) > 1 else 0
        sizes: dict[str, int] = {}
        for run in self.runs:
            labels = run.class_labels[first:]  # of numbers, none
            sizes.update(zip(labels, run.class_sizes[first:][: len(labels)].tolist(), strict=True))
        return sizes

    def label_of(self, run: Run) -> str:
        """Return the label of a run: the classes it compares, the size of its tuples, or both."""
        if not self.tests:
            return run.decision
        return f"{run.dimensions}D" if len(self.comparisons) == 1 else f"{run.decision}, {run.dimensions}D"

    def _only_run(self) -> Run:
        if len(self.dimensions) > 1:
            sizes = ", ".join(f".of_dimension({k})" for k in self.dimensions)
            raise ValueError(f"there is one set of gains per size of tuples: use {sizes}, or .runs")
        if len(self.runs) > 1:
            listed = ", ".join(run.decision for run in self.runs)
            raise ValueError(f"there is one set of gains per run: use .runs[i].gains (runs: {listed})")
        return self.runs[0]

    def _number_of(self, variable: str | int) -> int:
        if isinstance(variable, str):
            if variable not in self.names:
                raise ValueError(
                    f"variable {shown(variable)} is not among the {len(self.names)} variables of this selection"
                )
            return self.names.index(variable)
        return check_int("variable", variable, low=0, high=len(self.names) - 1)
