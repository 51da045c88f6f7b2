"""Words: what tables, summaries, reports and plots say differently by kind of outcome, a field for each place.

Texts in braces are filled in by whoever shows them; what is filled in is never read as a text to fill in.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of one kind of outcome."""

    #: Name of the kind, by which results know it.
    kind: str
    #: The outcome in a call.
    y: str = "y"
    #: Fields of `TupleTests` that tests of this kind have beside those of all kinds.
    columns: tuple[str, ...]
    #: `statistic`, `symbol`, `effect`: columns of tables with the statistic and the effect, and the statistic as people
    #: write it.
    statistic: str = "chi2"
    symbol: str = "G²"
    effect: str
    #: `effect_short`, `effect_in_words`, `product_in_words`, `effect_head`, `effect_first`: the effect of a tuple: with
    #: its interval; on axes; the same of dosages; in the head of a report's table, where that is shorter; and in
    #: samples in which it was found first.
    effect_short: str
    effect_in_words: str
    product_in_words: str
    effect_head: str = ""
    effect_first: str = "effect, first"
    #: `together`, `in_cell`: kinds of effects of a variable in tuples: of the interaction, and in the cell that departs
    #: most.
    together: str
    in_cell: str
    #: Whether effects are logarithms of ratios.
    is_ratio: bool = True
    #: Whether tests are of counts of classes, where χ² chooses the discretisation.
    counts_classes: bool = False
    #: Whether the cell that departs most has an effect.
    has_cell_effects: bool = True
    #: Whether exact tests, bootstraps or F correct the statistic.
    corrected: bool = True
    #: Whether cells have survival curves.
    has_curves: bool = False
    #: `beside`, `beside_permuted`, `of_pairs`, `more`: columns of tables after the method, also with p-values from
    #: permutations; after the interval of the effect, where the first of them is known of any tuple, and always.
    beside: tuple[str, ...]
    beside_permuted: tuple[str, ...] = ()
    of_pairs: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    #: Those that summaries show.
    shown_beside: tuple[str, ...] = ()
    #: Fields of tests that hold for independent samples only.
    of_independent: tuple[str, ...]
    #: `robust_lost`, `scales`, `scale_column`: notes of summaries: tuples that robust variances lose; names of two
    #: scales, and the column that compares them.
    robust_lost: str = ""
    #: Whether a tuple has to be significant with robust variances, too.
    needs_robust: bool = False
    scales: str = ""
    scale_column: str = ""
    #: `model`, `model_of_many`: the model that has an interaction, or not; with more than two classes.
    model: str
    model_of_many: str = ""
    #: `residuals`, `ratios`: the residuals of the model, which are searched, and its tests; likelihood ratios if not
    #: given.
    residuals: str
    ratios: str = ""
    #: Where tuples beside smooth effects have to be significant as well.
    other_link: str = ""
    #: `hypothesis`, `hypothesis_of_products`, `ranked`, `p_values`: sentences of the methods of a search for
    #: interactions.
    hypothesis: str = ""
    hypothesis_of_products: str = ""
    ranked: str = "χ² at the effective degrees of freedom"
    p_values: str = ""
    #: `cell`, `cell_change`, `cell_caption`, `extremes`: what a cell shows; what is alike where effects add up; below
    #: cells; the largest and the smallest.
    cell: str
    cell_change: str
    cell_caption: str
    extremes: str
    #: `boxes`, `boxes_in_model`: what boxes of cells show, without and with a model.
    boxes: str = "mean of the outcome"
    boxes_in_model: str = "mean of the outcome"
    #: `outcome`, `outcome_said`, `outcome_in_methods`, `gain`, `exact`: the outcome in details, summary and methods;
    #: what its gain is, and the exact test of single variables.
    outcome: str
    outcome_said: str
    outcome_in_methods: str
    gain: str = ", half the number of samples times the logarithm of the ratio of residual sums of squares"
    exact: str = (
        "the permutation distribution of the outcome's sums over the levels of a variable{within}; it is exact where "
        "samples are few{several}"
    )
    #: Names of scales of the outcome, and of what is compared on each.
    scale_names: dict[str, str] = field(default_factory=dict)

    def model_of(self, n_classes: int) -> str:
        """Return the name of the model of so many classes; 0 where there are none."""
        return self.model_of_many if n_classes > 2 else self.model


CLASSES = Words(
    kind="classes",
    columns=("min_expected", "reri", "reri_low", "reri_high", "residual_class"),
    effect="log_or",
    effect_short="log odds ratio",
    effect_in_words="log odds ratio of the interaction",
    product_in_words="log odds ratio of the interaction",
    effect_head="log odds ratio",
    effect_first="log odds, first",
    together="odds ratio of the interaction",
    in_cell="odds ratio in one cell",
    counts_classes=True,
    beside=("min_expected",),
    beside_permuted=("min_expected",),
    of_pairs=("reri", "reri_low", "reri_high", "scales"),
    of_independent=("ci_low", "ci_high", "reri_low", "reri_high"),
    scales="log odds and risks",
    scale_column="reri",
    model="logistic",
    residuals="residuals of a logistic model, class minus probability,",
    model_of_many="multinomial",
    other_link="with probits in place of log odds",
    hypothesis="The null hypothesis of a tuple is the log-linear model that contains all terms of proper subsets of "
    "its members; the test statistic is the likelihood ratio G²",
    p_values="With two levels and two classes, p-values are exact (Zelen's test). Elsewhere a p-value is the larger of "
    "two: that of χ² at the effective degrees of freedom, and that of a parametric bootstrap (Bartlett's correction, "
    "200 tables). {adjustment} Confidence intervals of log odds ratios are Woolf's, with ½ added to every count.",
    cell="share",
    cell_change="log odds change",
    cell_caption="share of {name}",
    extremes="The share of {name} is {high:.0%} where {where}, and {low:.0%} where {there}.",
    outcome="{classes}",
    outcome_said="the outcome has {sizes}",
    outcome_in_methods="had {sizes}",
    gain="",
    exact="a conditional test of the gain, given the numbers of samples of each level and class{within}; the test is "
    "exact wherever expected counts are small{several}",
)

NUMBERS = Words(
    kind="numbers",
    columns=("df_residual", "estimate_sd", "robust_log_p", "robust_adjusted", "other_log_p", "other_adjusted"),
    statistic="f",
    symbol="F",
    effect="effect",
    effect_short="difference of differences",
    effect_in_words="difference of differences",
    product_in_words="coefficient of the product",
    together="difference of differences",
    in_cell="difference of means in one cell",
    is_ratio=False,
    corrected=False,
    beside=("p_robust", "holds_robust", "p_other_scale", "scales"),
    more=("effect_sd",),
    shown_beside=("p_robust", "scales"),
    of_independent=("ci_low", "ci_high", "robust_log_p", "robust_adjusted", "other_log_p", "other_adjusted"),
    robust_lost="{n_lost} of {n_found} tuples with a significant F {are} not significant where cells may differ in "
    "their variances (p_robust, HC3), and so no interaction: unequal spread of the outcome, or cells with few samples, "
    "may be all there is.",
    needs_robust=True,
    scales="{scale} and {other}",
    scale_column="p_other_scale",
    model="linear",
    residuals="residuals of a linear model of the outcome's normal scores",
    ratios="F tests of linear models",
    other_link="on the values of the outcome",
    hypothesis="The outcome is a number, compared by {scores}. The null hypothesis of a tuple is that the means of its "
    "cells are sums of functions of proper subsets of its members; it is tested by F. Cells of fewer than {fewest} "
    "samples (more, where most samples have one value) are no part of the hypothesis",
    hypothesis_of_products="The outcome is a number, compared by {scores}. Levels are dosages: the null hypothesis of "
    "a tuple is the linear model of the products of all proper subsets of its members; the product of all is tested by "
    "F",
    ranked="the p-value of F",
    p_values="{adjustment} Robust p-values are those of Wald tests with HC3 variances, compared with F at Johansen's "
    "degrees of freedom; confidence intervals have HC3 variances, too.",
    cell="mean",
    cell_change="mean changes",
    cell_caption="mean of {name}, and its quartiles",
    extremes="The mean of {name} is {high:.3g} where {where}, and {low:.3g} where {there}.",
    boxes_in_model="mean of the outcome, not adjusted",
    outcome="outcome a number{middle}, by {scale}",
    outcome_said="the outcome is a number{middle}",
    outcome_in_methods="was a number{middle}, of which {compared} were compared",
    scale_names={"ranks": "normal scores of its ranks", "values": "its values"},
)

TIMES = Words(
    kind="times",
    y="(time, event)",
    columns=("robust_log_p", "robust_adjusted"),
    effect="log_hr",
    effect_short="log hazard ratio",
    effect_in_words="log hazard ratio of the interaction",
    product_in_words="log hazard ratio of the interaction",
    together="hazard ratio of the interaction",
    in_cell="",
    has_cell_effects=False,
    has_curves=True,
    beside=("p_robust", "holds_robust"),
    beside_permuted=("p_robust",),
    of_independent=("robust_adjusted",),
    robust_lost="{n_lost} of {n_found} significant tuples {are} not significant "
    "with robust variances (p_robust, Lin and Wei): hazards that are not proportional, or cells with few events, may "
    "be all there is.",
    model="Cox",
    residuals="martingale residuals of Cox's proportional hazards model",
    cell="mean residual",
    cell_change="log hazard changes",
    cell_caption="mean residual (events seen minus expected), and its quartiles",
    extremes="The mean residual (events seen minus expected) is {high:.3g} where {where}, and {low:.3g} where {there}.",
    boxes_in_model="mean residual (higher: earlier events)",
    outcome="times, {n_events} events",
    outcome_said="the outcome is a time to an event ({n_events} events)",
    outcome_in_methods="was the time to an event, censored where there was none ({n_events} events)",
)


ORDERED = Words(
    kind="ordered",
    columns=(),
    effect="log_or",
    effect_short="log odds ratio of a higher class",
    effect_in_words="log odds ratio of the interaction",
    product_in_words="log odds ratio of the interaction",
    effect_head="log odds ratio",
    effect_first="log odds, first",
    together="odds ratio of the interaction",
    in_cell="",
    has_cell_effects=False,
    beside=(),
    of_independent=(),
    model="proportional-odds",
    residuals="score residuals of a proportional-odds model",
    hypothesis="The outcome has ordered classes. The null hypothesis of a tuple is that log odds of a higher class, "
    "alike at every threshold, are sums of functions of proper subsets of its members",
    p_values="{adjustment} Each tuple that the screen of residuals left was tested by the likelihood ratio of two "
    "proportional-odds models.",
    cell="mean class",
    cell_change="log odds of a higher class change",
    cell_caption="mean of {name}, its classes counted from 0, and quartiles",
    extremes="The mean class of {name} is {high:.3g} where {where}, and {low:.3g} where {there} (counted from 0).",
    boxes="mean class of the outcome, counted from 0",
    boxes_in_model="mean class of the outcome, counted from 0, not adjusted",
    outcome="outcome in ordered classes: {order}",
    outcome_said="the outcome has ordered classes ({order})",
    outcome_in_methods="had ordered classes ({order})",
)


#: The words of each kind of outcome, by its name.
WORDS = {words.kind: words for words in (CLASSES, NUMBERS, TIMES, ORDERED)}


def tests_in_words(model: str) -> tuple[str, str]:
    """Return the residuals of a model, and its tests.

    Examples
    --------
    >>> tests_in_words("Cox")
    ("martingale residuals of Cox's proportional hazards model", 'likelihood ratios of Cox models')
    """
    words = next((words for words in WORDS.values() if words.model == model), CLASSES)
    return words.residuals, words.ratios or f"likelihood ratios of {model} models"
