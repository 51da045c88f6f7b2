"""The n variables that a model should get: `Selection.best` beside other orders of variables, in nested folds.

::

    __main__.py    runs folds that are not done yet, for so many minutes, and writes benchmarks/results/best_n.json
    sets.py        published and made tables; which of them the method was tuned on
    methods.py     orders of variables: ours, those of scikit-learn, and others' packages in an environment of their own
    peers.py       these packages: a script for that environment

``docs/measured.py`` makes the tables of the page `best_n` of the documentation from the JSON.
"""
