"""The n variables that a model should get: `Selection.best` beside other orders of variables, in nested folds.

::

    __main__.py    runs folds that are not done yet, for so many minutes, and writes benchmarks/results/best_n.json
    sets.py        published and made tables, on which orders are judged
    development.py other tables, on which the method was chosen
    methods.py     orders of variables: ours, those of scikit-learn, and of others' packages
    peers.py       these packages, where they are installed

``docs/measured.py`` makes the tables of the page `best_n` of the documentation from the JSON.
"""
