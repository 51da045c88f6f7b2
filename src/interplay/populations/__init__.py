"""Relatives, populations, and a polygenic background of genotypes (public in `interplay.genetics`).

::

    components.py   variants that are hardly correlated, in blocks; principal_components() of them, as covariates
    kinship.py      relatives(): pairs of related samples, families, and what to do
    polygenic.py    polygenic_offsets(): what all variants predict, without each chromosome (ridge regressions)
"""
