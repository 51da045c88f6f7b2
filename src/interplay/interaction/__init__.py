"""A table and an outcome → the tuples that interact.

::

    find.py       `interactions`
    task.py       its arguments, checked; samples split where some are held out
    data.py       what is searched: table, outcome, strata, which tuples
    in_groups.py  the same where samples belong together: permutations of whole groups' labels
    beside_covariates.py  significant tuples tested again with covariates
    merge.py      parts of all shards → one result     `merge_interactions`
    search.py     screen → tests → adjustment, again with a wider screen where that could list too little → Interactions

Statistics are in ``interplay.statistics.interaction``, what users hold in ``interplay.results.interactions``.
"""
