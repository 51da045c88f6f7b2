"""Gains and counts → p-values, effects, verdicts. Knows neither tables of users nor engines.

::

    null_fit.py            maxima             → NullFit          `fit_null`
    null_distribution.py   NullFit itself: the distribution of the gains of irrelevant variables
    reference_fit.py       gains of reference variables, or of a window → parameters of that distribution; how well
                           they fit; the estimators by maximum likelihood
    p_values.py            gains + NullFit → p-values, adjusted p-values, an order; small V: averaged over all shapes
                           of the tail
    conditional_test.py    counts             → p-values of single variables, given the margins, by one of
    margin_tables.py           all tables with the same margins; mean and variance of the gain, where these are too
                               many
    score_test.py          scores of samples, or levels of columns with few values → p-values of a difference between
                           classes
    correlation_test.py    scores, number outcome → p-values of correlations; sums over levels → p-values of gains
    drawn_levels.py        sums over levels   → tails of sums of numbers, listed or by saddlepoint
    given_test.py          scores of samples → the same given other, strong variables, also in a model of covariates
    product_maxima.py      scores, residuals → the strongest product of each variable with another; for numbers with
                           p-values
    int_products.py        rows of small integers × rows of small integers → their scalar products, exactly
    product_pairs.py       integer scores, residuals → pairs whose product or shape may be significant
    arms.py                which tests are combined in one call, with what weights → p-values of arms and variables,
                           their harmonic mean
    combined_studies.py    tests of studies   → one: fixed effects with heterogeneity, sums of χ²
    smooth_columns.py      splines, levels    → columns of smooth effects of tuples, products of proper subsets
    residual_test.py       residuals of a model, scores → p-values of variables in the model; tails by saddlepoints
    model_tests.py         relevant variables in the full model
    stability.py           finds in halves of the samples → how often variables and tuples come back
    verdicts.py            tests of tuples    → interaction, additive, unclear
    short_list.py          columns + outcome → variables that are relevant given each other, forward; groups of
                           redundant variables
    best_order.py          scores + evidence  → an order in which each variable adds most to those before it
    best_curve.py          orders of parts    → what the first n variables explain in the other samples
    claims.py              one variable, any outcome → p-values of each claim, by the tests of the search
    linkage.py             columns → which are correlated, as a sparse list of r²; tuples, r² → leads, and the tuples
                           that join each
    neighbour_screen.py    a tuple, columns   → statistics of many neighbours at once, by linear models
    neighbours.py          leads, tables      → columns near or correlated with members, as columns of their effects
    proxies.py             a tuple, columns   → columns whose effects it may stand in for
    tagging.py             a tuple, columns   → holds, explained by a column, cannot be told
    leaks.py               values + classes   → is a column a leak of the outcome?
    survival/              times              → curves and hazards of the levels of a variable
    effects/               values + outcome   → direction and size of the effect of a variable, with intervals
    permutations/          classes and groups → allowed relabelings → step-down maxT p-values
    interaction/           counts of tuples   → is it an interaction? G², p-values, effect sizes, bounds for a search
    number_interaction/    numbers in cells   → the same for an outcome of numbers: F, HC3, effect sizes
    power/                 effects of cells   → the chance that these tests find them
"""
