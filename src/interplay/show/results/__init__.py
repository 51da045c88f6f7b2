"""Results of the calls: they hold and show, and compute nothing.

::

    result.py                  Result: the common part of Selection and Interactions
    selection.py               Selection: table, summary, plots, report
    run.py                     Run: one search of a selection and its null fit
    one_size.py                one size of tuples of a Selection → a Selection of its own, or Interactions
    selection_table.py         Selection → tables of its variables, contrast variables and tuples
    selection_summary.py       Selection → a few lines of text
    shown_variables.py         Selection → the short table in summaries and notebooks: direction, size, partners
    synergy_table.py           tuples that explain relevant variables → a table, a graph
    interactions.py            Interactions: tuples that interact; table, summary, plots, report
    interaction_table.py       tests → columns with names, a graph
    clump_table.py             leads, and tuples or variables that are correlated with them → a table
    tagging.py                 leads, samples, more columns → verdicts: does another column explain a lead?
    neighbours.py              columns near the members of leads → columns of their effects
    tagged.py                  Tagging: the verdicts, as a result holds them
    interaction_summary.py     Interactions → a few lines of text
    combined.py                Combined: tests of several studies as one
    combined_summary.py        Combined → its table, a few lines of text
    interaction_rules.py       Interactions → rules in words or SQL; the lists of interactions that other models take
    replicated.py              Replication: relevant variables in new samples, beside the first ones
    variable_replication.py    Selection + new samples → tests of its variables, each in the way it was found
    replication.py             listed tuples and new samples → tests in the new samples
    number_replication.py      the same for one tuple and an outcome of numbers
    smooth_replication.py      significant tuples there, tested again beside smooth effects of cut numbers
    provenance.py              when, by which engine and versions a result was made; of shards, summed
    summary_words.py           parts of a summary that both share: samples, classes, strata, cuts, table
    table_file.py              a table of results → a csv, tsv, json or Parquet file
    saved.py                   Selection, Interactions or Combined ↔ one file
    loaded.py                  content of a file → whether it is a consistent result
"""
