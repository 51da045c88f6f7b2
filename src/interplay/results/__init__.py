"""What users hold after a selection.

::

    selection.py       Selection: table, summary, plots, report
    arms.py            p-values of all tests → how each variable was found
    synergy_table.py   tuples that explain relevant variables → a table, a graph
    saved.py           Selection ↔ one file
    table_file.py      a table of results → a csv, tsv, json or Parquet file
    loaded.py          whether a Selection read from a file holds together
"""
