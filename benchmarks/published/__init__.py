"""Benchmarks that others made, or whose settings others published: a page each, with the peers' figures beside ours.

::

    listopad.py   quantitative epistasis, simulated by EpiGEN; the figures of eight programs
    hyper.py      R/qtl's hypertension in mice; scantwo beside interactions
    gametes.py    pure 2- to 5-way models at the settings of the ReliefF papers
    madelon.py    the NIPS 2003 set Madelon
    nips2003.py   the other sets of that challenge, where their files are at hand

``python benchmarks/published_pages.py NAME`` runs one and writes benchmarks/published/NAME.md and
benchmarks/results/NAME.json.
"""
