"""Times that may be censored or truncated → tests, hazard ratios, curves, concordance. The models are in `models/`.

::

    hazard_effects.py        variables that were found, times → Harrell's concordance, a check of proportional hazards
    survival_curves.py       times → Kaplan and Meier's estimate with Greenwood's intervals; curves of the cells of a
                             tuple
"""
