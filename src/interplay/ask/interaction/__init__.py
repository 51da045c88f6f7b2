"""Which tuples act together? `interactions`, whole or in shards.

The path of every question: call → study → plan → search (into a sink) → statistics → result.

::

    call.py                 `interactions`: its arguments, in and out
    task.py                 arguments       → InteractionTask: study, settings, tuples to search and to list
    coding.py               levels, dosages or products, where the outcome and the variables allow for them
    family.py               variables, partners, distance → TupleFamily: which tuples, and how many
    screen.py               a comparison    → ScreenedTuples: all tuples whose interaction may be significant
    target_tests.py         a comparison    → TargetTests: bars, tests and words of its tuples, whatever the outcome is
    class_tests.py          the same for classes, by tables of counts
    number_tests.py         the same for numbers and residuals, by sums in cells
    product_screen.py       pairs           → those whose product of dosages may be significant; curved variables
    products.py             tuples          → those whose products of scores are significant, variables not cut
    prospects.py            tuples          → those that a list can hold, by bounds of their p-values
    tests.py                how tests are asked for; the best discretisation of each tuple
    coded_task.py           a task + codes  → its tests, tests beside others, and the named result
    listed_tests.py         screened tuples → TupleTests adjusted for the search, as far as they are listed
    find.py                 screen → tests → adjustment → Interactions; again, where the first screen listed too little
    bulk_tests.py           tuples at random → are their tests inflated? are samples relatives?
    in_groups.py            the same for samples that belong together: permutations of whole groups' labels
    relabeled_screen.py     many labelings  → the smallest p-values of each
    tuple_samples.py        a tuple         → levels of its members, sample by sample
    beside_smooth.py        significant tuples of cut numbers tested again beside smooth effects of the numbers
    beside_columns.py       significant tuples tested again beside correlated columns that have effects
    in_model.py             tuples          → their tests with covariates, an offset or times, by the full model
    merge.py                parts of all shards → one result     `merge_interactions`

Statistics are in ``interplay.infer.interaction`` and ``interplay.infer.number_interaction``, the result is
``interplay.show.results.interactions``.
"""
