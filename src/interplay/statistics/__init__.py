"""Maxima → what chance gives → p-values. Knows gains and counts, neither tables nor engines.

::

    null_fit.py            maxima             → NullFit          `fit_null`
    null_distribution.py   NullFit itself: the distribution of the gains of irrelevant variables
    lsq_fit.py, likelihood_fit.py              the estimators behind it
    p_values.py            gains + NullFit    → p-values, adjusted p-values, an order
    exact_test.py          counts             → exact p-values
    few_samples.py         counts             → a warning where χ² cannot be trusted
    interaction/           counts of tuples   → is it an interaction? G², p-values, effect sizes, bounds for a search
"""
