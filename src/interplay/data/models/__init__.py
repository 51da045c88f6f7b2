"""Regressions of an outcome on columns, fitted by maximum likelihood: numbers, classes, times. No tests, no messages.

::

    linear.py      numbers and columns → least squares; natural splines; Newton's method for concave log-likelihoods
    classes.py     classes + columns  → ClassFit: logistic and multinomial models; likelihood ratios, also of probits
    per_unit.py    many variables, one at a time → slopes beside known columns, linear and logistic
    risk_sets.py   times              → RiskSets: sums over the samples at risk at each event, and over events
    cox.py         times + columns    → CoxFit: proportional hazards, of many tables of cells at once; residuals

`data/study` uses these models for outcomes that are adjusted before the search, `infer` for tests of finds.
"""
