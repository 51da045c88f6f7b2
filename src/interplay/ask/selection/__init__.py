"""Which variables carry information about the outcome? `select`, whole or in shards.

The path of every question: call → study → plan → search (into a sink) → statistics → result.

::

    call.py             `select`: its arguments, in and out
    arguments.py        descriptions of arguments of `select`, `search_shard` and `MDFSSelector`
    settings.py         arguments            → SelectionSettings: frozen and checked once
    dimensions.py       `dimensions`, `arms` → the sizes of tuples to search in one call
    task.py             arguments            → SelectionTask: study and settings, checked against each other
    holdout.py          study, share         → samples to search in and samples held out, which test the finds
    runs.py             SelectionTask        → SearchedSelection: a search per comparison of classes and size of tuples
    variable_tests.py   a comparison         → VariableTests: tests of its variables, whatever the outcome is
    score_tests.py      rank scores          → ScoreTests: tests of variables alone and given others, products
    arm_tests.py        searches, scores     → the p-values of all tests that are combined
    significance.py     gains                → null fits → p-values → relevant variables → Selection
    confirmation.py     finds + full models → p-values with covariates, offset or times
    by_chromosome.py    an offset each       → a search of each chromosome's variables → one Selection
    stability.py        SelectionTask        → the same in halves of the samples → Stability
    explanation.py      Selection + study    → correlations, tuples, tests, counts, curves, cautions
    best_tuples.py      relevant variables   → the tuples that explain them
    selected_tuples.py  these tuples         → tests of their interactions, adjusted for all tuples
    variable_effects.py relevant variables   → direction and size of the effect of each
    unit_columns.py     variables, tuples    → columns by which a short list tests them
    short_list.py       relevant variables   → groups of redundant ones, a short list
    best_order.py       Selection + study    → an order of variables for models
    best_curve.py       SelectionTask        → what the first n variables of that order explain, by cross-fitting
    cautions.py         finds                → warnings of leaks and identifiers
    part.py, shards.py  one shard            → Part; all parts → Selection     `search_shard`, `merge_parts`
"""
