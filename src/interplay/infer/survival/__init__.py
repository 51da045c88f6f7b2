"""Times that may be censored or truncated → tests, hazard ratios, curves, concordance. The models are in `models/`.

::

    cox_score_test.py        many variables  → score tests, each added alone to Cox's model of covariates
    cox_test.py              nested models   → likelihood-ratio tests; hazard ratios with intervals
    proportional_hazards.py  a Cox model     → does the hazard ratio of a column change with time? (R's cox.zph)
    hazard_effects.py        variables       → hazard ratio, concordance, proportional hazards of each that was found
    kaplan_meier.py          times           → the product-limit estimate with Greenwood's intervals
    survival_curves.py       cells           → their Kaplan–Meier curves, kept with a result
    concordance.py           risks           → Harrell's C with its standard error
"""
