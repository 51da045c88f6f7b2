"""Table, outcome, strata, groups, covariates → Study: the data of a call, checked once.

::

    study.py             X, y, strata, groups, covariates → Study     `make_study`; every later step reads it
    table.py             X                    → Table            (n_samples, n_vars), read by blocks of columns
    anndata_table.py     AnnData              → Table
    columns.py           one column           → numbers, or numbers of levels; which texts are numbers with slips
    subsets.py           Table                → some variables, or samples; samples to search in, and to test in
    named_columns.py     names of columns     → their values, and the table without them; labels in one order?
    outcomes/            y                    → the outcome: classes, numbers, times
    rank_thresholds.py   number of samples    → the ranks at which a column is cut
    design.py            strata, groups, offset, covariates → Design: one argument, and the columns of a model
    full_model.py        outcome, design      → FullModel: its residuals, searched, and likelihood ratios of columns
    table_checks.py      Table → do its rows have an order; variables that number the samples, or label subjects
    clustered_samples.py a warning where samples look as if they belonged together
    comparisons.py       outcome              → Comparisons: all classes at once, each pair, each against the rest
    positions.py         .bim, tables, lists  → Positions        where variables lie
    fingerprint.py       table and outcome    → a hash by which checkpoints, shards and results know each other

A new kind of outcome is added here (outcomes/, study.py) and read by codes, statistics and results.
"""
