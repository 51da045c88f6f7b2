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
    combined_studies.py    tests of studies   → one: fixed effects with heterogeneity, sums of χ²
    smooth_columns.py      splines, levels    → columns of smooth effects of tuples, products of proper subsets
    residual_tail.py       sums of residuals  → their tails by saddlepoints, where few samples carry a variable
    residual_test.py       residuals of a model, scores → p-values of variables in the model
    given_in_model.py      the same given strong variables
    model_tests.py         relevant variables in the full model
    stability.py           finds in halves of the samples → how often variables and tuples come back
    verdicts.py            tests of tuples    → interaction, additive, unclear
    association.py         two variables      → how much they say the same; groups of redundant variables
    short_list.py          columns + outcome  → variables that are relevant given each other, forward
    claims.py              one variable, any outcome → p-values of each claim, by the tests of the search
    linkage.py             columns            → which are correlated, as a sparse list of r²
    clumps.py              tuples, r²         → leads, and the tuples that join each
    neighbour_screen.py    a tuple, columns   → statistics of many neighbours at once, by linear models
    tagging.py             a tuple, columns   → holds, explained by a column, cannot be told
    leaks.py               values + classes   → is a column a leak of the outcome?
    few_samples.py         class sizes        → a note where samples are too few for the tables of a tuple
    survival/              times              → tests in Cox's model, log-rank tests, curves, concordance
    effects/               values + outcome   → direction and size of the effect of a variable, with intervals
    permutations/          classes and groups → allowed relabelings → step-down maxT p-values
    interaction/           counts of tuples   → is it an interaction? G², p-values, effect sizes, bounds for a search
    number_interaction/    numbers in cells   → the same for an outcome of numbers: F, HC3, effect sizes
    power/                 effects of cells   → the chance that these tests find them
"""
