"""Tables of real studies: what `select` and `interactions` find in them, beside what is known of them.

::

    sources.py    a package and a name        → a data frame: scikit-learn, statsmodels, lifelines, scikit-survival, R
    tables.py     the tables, what is known of each, what must be found and what must be said
    study.py      a table                     → what was found, and the messages of a first attempt
    page.py       results                     → docs/real_tables.md
    __main__.py   all of it                   → benchmarks/results/real_tables.json
"""
