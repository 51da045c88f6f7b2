"""Which tuples act together? `interactions`, whole or in shards.

The path of every question: call → study → plan → search (into a sink) → statistics → result.

::

    call.py                 `interactions`: its arguments, in and out
    task.py                 arguments       → InteractionTask: study, settings, tuples to search and to list
    family.py               variables, partners, distance → TupleFamily: which tuples, and how many
    products.py             tuples          → those whose products, or shapes, of scores are significant, not cut
    coded_task.py           a task + codes  → its tests, tests beside others, and the named result
    listed_tests.py         screened tuples → TupleTests adjusted for the search, as far as they are listed
    find.py                 screen → tests → adjustment → Interactions; again, where the first screen listed too little
    bulk_tests.py           tuples at random → are their tests inflated? are samples relatives?
    in_groups.py            the same for samples that belong together: permutations of whole groups' labels,
                            each searched for its smallest p-values
    beside_columns.py       significant tuples tested again beside correlated columns that have effects
    merge.py                parts of all shards → one result     `merge_interactions`

Tests of tuples, which `select` makes as well, are in ``interplay.ask.tuple_tests``, statistics in
``interplay.infer.interaction`` and ``interplay.infer.number_interaction``, the result is
``interplay.show.results.interactions``.
"""
