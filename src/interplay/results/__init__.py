"""What users hold after a selection.

::

    selection.py       Selection: table, summary, plots, report
    synergy_table.py   tuples that explain relevant variables → a table, a graph
    retests.py         second tests of what was found: with covariates, of censored times
    survival_curves.py Kaplan and Meier's curves of the cells of tuples
    saved.py           Selection ↔ one file
    table_file.py      a table of results → a csv, tsv, json or Parquet file
    loaded.py          whether a Selection read from a file holds together
"""
