"""Gains and counts → p-values, effects, verdicts. Knows neither tables of users nor engines.

::

    null_fit.py            maxima             → NullFit          `fit_null`
    null_distribution.py   NullFit itself: the distribution of the gains of irrelevant variables
    reference_fit.py       gains of reference variables → parameters of that distribution; how well they fit
    lsq_fit.py, likelihood_fit.py              the estimators behind it
    shape_posterior.py     small V            → p-values averaged over all shapes of the tail that these allow
    tail_guard.py          NullFit + contrast → p-values that contrast variables do not contradict
    p_values.py            gains + NullFit    → p-values, adjusted p-values, an order
    conditional_test.py    counts             → p-values of single variables, given the margins, by one of
    margin_tables.py           all tables with the same margins
    gain_moments.py            mean and variance of the gain, where these are too many
    strata_convolution.py      sums over strata
    score_test.py          scores of samples  → p-values of a difference between classes (ranks: Mann–Whitney)
    level_score_test.py    counts             → the same for columns of few values, exact where they are few
    correlation_test.py    scores, number outcome → p-values of correlations, by permutation moments
    drawn_levels.py        sums over levels   → tails of sums of numbers, listed or by saddlepoint
    level_gain_test.py     sums over levels   → p-values of single variables about numbers
    given_test.py          scores of samples  → the same given other, strong variables
    product_maxima.py      scores, residuals  → the strongest product of each variable with another
    number_products.py     the same for a number outcome, with p-values
    arms.py                which tests are combined in one call, with what weights
    arm_p_values.py        p-values of tests  → p-values of arms and variables, and how each variable was found
    combined_p.py          several p-values   → one: their weighted harmonic mean; weights learnt from other variables
    covariate_test.py, log_rank.py             classes or times + cells → does a tuple tell more than covariates?
    smooth_columns.py      numbers            → columns of splines, products of proper subsets
    retest.py              second tests of variables, with covariates or times
    survival_curves.py     times + cells      → Kaplan and Meier's curves
    verdicts.py            tests of tuples    → interaction, additive, unclear
    association.py         two variables      → how much they say the same; groups of redundant variables
    short_list.py          columns + outcome  → variables that are relevant given each other, forward
    replication_test.py    columns, new samples → p-values given other columns: classes, numbers, times, groups
    leaks.py               values + classes   → is a column a leak of the outcome, or an identifier?
    few_samples.py         class sizes        → a note where samples are too few for the tables of a tuple
    effects/               values + outcome   → direction and size of the effect of a variable, with intervals
    permutations/          classes and groups → allowed relabelings → step-down maxT p-values
    interaction/           counts of tuples   → is it an interaction? G², p-values, effect sizes, bounds for a search
    number_interaction/    numbers in cells   → the same for an outcome of numbers: F, HC3, effect sizes
"""
