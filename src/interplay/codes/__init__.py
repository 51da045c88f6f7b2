"""The way of the data, a file per step.

::

    table.py            X                    → Table            (n_samples, n_vars), read by blocks of columns
    decision.py         y                    → DecisionClasses  (n_samples,)
    comparisons.py      DecisionClasses      → Comparisons      all classes at once, each pair, each against the rest
    survival.py         (time, event)        → Survival, DecisionClasses   martingale residuals, cut by rank
    strata.py, groups.py, covariates.py      what else is known of each sample
    contrast.py         Table                → ContrastTable    permuted columns, made when they are read
    clustered_samples.py  a warning where samples look as if they belonged together
    discrete_codes.py   Table                → DiscreteCodes    (n_vars, n_samples) uint8, one per discretisation
    rank_scores.py      Coder                → scores           (n_vars, n_samples) mid-ranks, block by block
    bit_planes.py       codes + classes      → BitPlanes        (n_planes, n_words) uint64, samples split by class
    interaction_tables.py  planes + tuples    → tables        samples per cell, stratum and class of many tuples
    frozen_cuts.py      codes of a table     → cuts             to cut new samples alike
    positions.py        .bim, tables, lists  → Positions        where variables lie
    sample_split.py     classes, strata      → samples to search in, and to test in
                        ... interplay.engines: planes → tuple counts → information gain → MaxGains ...
                        ... interplay.statistics: maxima → null fit → p-values ...

Codes, engines and statistics do not know each other; ``interplay.search`` and the rooms of the questions join them.
"""
