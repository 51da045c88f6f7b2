"""Which tuples act together? `interactions`, whole or in shards.

The path of every question: call → study → plan → search (into a sink) → statistics → result.

::

    call.py               `interactions`: its arguments, in and out
    task.py               arguments       → InteractionTask: study, settings, tuples to search and to list
    family.py             variables, partners, distance → TupleFamily: which tuples, and how many
    p_value_caps.py       adjustment, max_p, top → up to which p-value tuples have to be found
    screen.py             a comparison    → ScreenedTuples: all tuples whose interaction may be significant
    prospects.py          tuples          → those that a list can hold, by bounds of their p-values
    tests.py              tuples          → TestedTuples: tests of their interactions
    find.py               screen → tests → adjustment → Interactions; again, where the first screen listed too little
    in_groups.py          the same for samples that belong together: permutations of whole groups' labels
    relabeled_screen.py   many labelings  → the smallest p-values of each
    beside_covariates.py  significant tuples tested again with covariates
    merge.py              parts of all shards → one result     `merge_interactions`

Statistics are in ``interplay.statistics.interaction``, the result is ``interplay.results.interactions``.
"""
