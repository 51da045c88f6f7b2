"""Tables and outcomes of users → what is searched: checked once, coded, packed into bit planes.

::

    study/    X, y, strata, groups, covariates, offset → Study; kinds of outcomes in study/outcomes
    codes/    columns → levels → bit planes; ranks; contrast variables
    models/   regressions of numbers, classes and times on columns
"""
