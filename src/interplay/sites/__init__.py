"""Several studies: results combined; and one search over sites that may not share their data.

::

    combine.py                results of studies    → Combined: `combine`, its arguments
    combined_interactions.py  tuples of studies     → fixed effects, heterogeneity, sums of χ²
    combined_variables.py     variables of studies  → Fisher's p-values
"""
