"""Regressions of an outcome on columns, fitted by maximum likelihood: numbers, classes, times. No tests, no messages.

::

    newton.py      log-likelihood     → its maximum, also where coefficients grow without end
    linear.py      numbers + columns  → LinearFit; which columns are sums of others
    classes.py     classes + columns  → ClassFit: logistic and multinomial models; likelihood ratios, also of probits
    risk_sets.py   times              → RiskSets: sums over the samples at risk at each event, and over events
    cox.py         times + columns    → CoxFit: proportional hazards; martingale residuals

`study` uses these models for outcomes that are adjusted before the search, `statistics` for tests of finds.
"""
