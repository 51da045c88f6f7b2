"""Regressions of an outcome on columns, fitted by maximum likelihood: numbers, classes, times. No tests, no messages.

::

    newton.py      log-likelihood     → its maximum, also where coefficients grow without end
    linear.py      numbers + columns  → LinearFit; which columns are sums of others; columns of cells
    classes.py     classes + columns  → ClassFit: logistic and multinomial models; likelihood ratios, also of probits
    splines.py     numbers            → columns of natural cubic splines
    risk_sets.py   times              → RiskSets: sums over the samples at risk at each event, and over events
    cell_risk_sets.py  risk sets + columns of a few different rows → CellRiskSets: the same sums, cell by cell
    cox.py         times + columns    → CoxFit: proportional hazards; martingale residuals

`study` uses these models for outcomes that are adjusted before the search, `statistics` for tests of finds.
"""
