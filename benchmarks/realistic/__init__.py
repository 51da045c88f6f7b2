"""Designs that people have and that broke the promise once: how often is anything found where nothing is true?

::

    designs.py             a line of designs, each with tables and tests → shares of tables, with standard errors
    skewed_covariates.py   numbers that are linear in a covariate with outliers
    rare_columns.py        columns of few ones, outcomes that are mostly equal, given covariates
    proxies.py             correlated columns: pairs of stand-ins for causes in the table
    modified_effects.py    effects that depend on a covariate, which other columns go with
    page.py                results                                       → docs/realistic_designs.md
    __main__.py            all of it                                     → benchmarks/results/realistic_*.json

A new line is a module with a `LINE`, and its name in `LINES` of `page.py`.
"""
