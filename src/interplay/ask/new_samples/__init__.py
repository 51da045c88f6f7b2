"""Results and new samples, cut as the first ones → the same claims, tested as searches test them.

::

    tuples.py      tuples that interact → their tests in new samples, by levels or products; again beside smooth effects
    variables.py   relevant variables   → their tests in new samples, each in the way in which it was found
    tagging.py     leads, more columns  → verdicts: does another column explain a lead?

Methods of results come here by `interplay.show.results.result.in_new_samples`.
"""
