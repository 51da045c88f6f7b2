"""Which variables carry information about the outcome? `select`, whole or in shards.

The path of every question: call → study → plan → search (into a sink) → statistics → result.

::

    call.py             `select`: its arguments, in and out
    settings.py         arguments, described → SelectionSettings: frozen and checked once; sizes of tuples
    task.py             arguments            → SelectionTask: study and settings, checked against each other; samples
                                               held out
    runs.py             SelectionTask        → SearchedSelection: a search per comparison of classes and size of tuples,
                                               tests of scores and products
    variable_tests.py   a comparison         → VariableTests: tests of its variables, whatever the outcome is
    significance.py     gains                → null fits → p-values of all tests → relevant variables → Selection
    confirmation.py     finds + full models → p-values with covariates, offset or times
    by_chromosome.py    an offset each       → a search of each chromosome's variables → one Selection
    explanation.py      Selection + study    → correlations, tuples, tests, counts, curves, cautions
    best_tuples.py      relevant variables   → the tuples that explain them; tests of these, adjusted for all tuples
    variable_effects.py relevant variables   → direction and size of the effect of each
    short_list.py       relevant variables   → groups of redundant ones, columns of each, a short list
    best_order.py       Selection + study    → an order of variables for models
    best_curve.py       SelectionTask        → the same in parts of the samples: Stability, and what the first n of that
                                               order explain
    cautions.py         finds                → warnings of leaks and identifiers
    part.py, shards.py  one shard            → Part; all parts → Selection     `search_shard`, `merge_parts`
"""
