"""What users hold in their hands: it holds and shows, and computes nothing.

::

    selection.py               Selection: table, summary, plots, report
    run.py                     Run: one search of a selection and its null fit
    one_size.py                Selection → what tuples of one size say by themselves
    selection_table.py         Selection → tables of its variables, contrast variables and tuples
    selection_summary.py       Selection → a few lines of text
    synergy_table.py           tuples that explain relevant variables → a table, a graph
    interactions.py            Interactions: tuples that interact; table, summary, plots, report
    interaction_table.py       tests → columns with names, a graph
    interaction_summary.py     Interactions → a few lines of text
    selection_interactions.py  a Selection → the tests of its tuples, as Interactions
    replication.py             found tuples and new samples → tests in these
    provenance.py              when, by which engine and versions a result was made; of shards, summed
    sample_words.py            samples, classes, strata and cuts of a result → words
    table_file.py              a table of results → a csv, tsv, json or Parquet file
    saved.py                   Selection or Interactions ↔ one file
    loaded.py                  what was read from a file → whether it holds together
"""
