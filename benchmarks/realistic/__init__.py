"""Designs that people have and that broke the promise once: how often is anything found where nothing is true?

::

    designs.py             a line of designs, each with tables and tests → shares of tables, with standard errors
    skewed_covariates.py   numbers that are linear in a covariate with outliers
    rare_columns.py        columns of few ones, outcomes that are mostly equal, given covariates
    visits.py              visits of patients: columns drift or follow their last value
    batches.py             strata that are small and lack a class
    identifiers.py         texts that are nearly all different
    unequal_spread.py      columns that change the spread of a number alone
    replication.py         columns that were found once, tested again
    rare_pairs.py          rare columns in pairs
    shadows.py             pairs that ancestry correlates with a true one
    rows_in_time.py        rows that follow the last one
    intervals.py           the level that differs most
    recoding.py            other alleles, formats and orders of rows; separated classes
    kinds_of_effects.py    effects of every kind, beside tests that were told it
    proxies.py             correlated columns: pairs of stand-ins for causes in the table
    clean.py               tables with nothing wrong: refusals, doubts and cautions
    modified_effects.py    effects that depend on a covariate, which other columns go with
    page.py                results                                       → docs/realistic_designs.md
    __main__.py            all of it                                     → benchmarks/results/realistic_*.json

Populations and families, with components, offsets or groups and without: `benchmarks/genetics_lab/structure.py`. Power
of rare levels and few events: `benchmarks/power_formula.py`. Sixteen processes run a line in minutes (`--jobs 16`);
what is there is kept, so that a run that was stopped goes on.

A new line is a module with a `LINE`, and its name in `LINES` of `page.py`.
"""

import os

# Each process uses one core, before NumPy is imported: 1,770 small regressions are slow in threads that wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
