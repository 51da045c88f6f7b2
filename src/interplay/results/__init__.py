"""What users hold after a selection.

::

    selection.py       Selection: table, summary, plots, report
    run.py             Run: one search of a selection and its null fit
    one_size.py        Selection → what tuples of one size say by themselves
    selection_table.py Selection → tables of its variables, contrast variables and tuples
    clusters.py        correlations of relevant variables → groups of redundant ones
    selection_summary.py       Selection → a few lines of text
    sample_words.py    samples, classes, strata and cuts of a result → words
    arms.py            p-values of all tests → how each variable was found
    synergy_table.py   tuples that explain relevant variables → a table, a graph
    verdicts.py        is a tuple of a selection an interaction, additive, or neither shown?
    interactions.py    Interactions: tuples that interact; table, summary, plots, report
    tested_tuples.py   their tests, one row per tuple; also those of a selection's tuples
    table_tests.py     tables of counts → tests
    interaction_summary.py     Interactions → a few lines of text
    interaction_table.py       tests → columns with names, a graph
    selection_interactions.py  a Selection → the tests of its tuples, as Interactions
    replication.py     found tuples and new samples → tests in these
    saved.py           Selection or Interactions ↔ one file
    retests.py         second tests of what was found: with covariates, of censored times
    survival_curves.py Kaplan and Meier's curves of the cells of tuples
    table_file.py      a table of results → a csv, tsv, json or Parquet file
    loaded.py, loaded_interactions.py   whether what was read from a file holds together
"""
