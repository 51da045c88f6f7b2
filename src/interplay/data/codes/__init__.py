"""Columns of a study → small numbers → bit planes: the form in which engines count.

::

    survey.py         Table                → levels of every column: missing and distinct values, thresholds
    coder.py          survey               → Coder: codes (n_vars, n_samples) uint8 of a discretisation: `discretize`
    contrast.py       Table                → ContrastTable: permuted columns, made when they are read
    planes.py         codes + target       → BitPlanes (n_planes, n_words) uint64, samples by class, or by score
    coded.py          comparisons          → CodedComparison: codes and planes, each made once for all that read them
    rank_scores.py    Coder                → mid-ranks (n_vars, n_samples), block by block
    cuts.py           Coder                → how variables and outcome were cut; CutCoder: new samples, cut alike
    tuple_counts.py   tables of tuples     → TupleCounts: counts with the names of levels, to be looked at

Codes, engines and statistics do not know each other; ``interplay.search`` and the rooms of the questions join them.
"""
