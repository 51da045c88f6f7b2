"""Relatives, populations, and a polygenic background of genotypes (public in `interplay.genetics`).

::

    variants.py     a table of genotypes → variants that are hardly correlated, and blocks of them, standardised
    components.py   principal_components(): the directions in which populations differ, as covariates
    kinship.py      relatives(): pairs of related samples, families, and what to do
    polygenic.py    polygenic_offsets(): what all variants predict, without each chromosome (ridge regressions)
"""
