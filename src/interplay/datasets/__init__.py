"""Tables to try the method on: simulated ones with a known truth, and the original Madelon.

::

    madelon.py            make_madelon: variables that matter alone, in pairs or only in larger groups, among noise;
                          fetch_madelon: the original, downloaded once
    epistasis.py          make_epistasis: genotypes with tuples that act together, EpistasisTruth
    penetrance.py         shares of genotypes and a model → the effect of every cell of a tuple
"""

from interplay.datasets.epistasis import EpistasisTruth, make_epistasis
from interplay.datasets.madelon import MadelonTruth, fetch_madelon, make_madelon

__all__ = ["EpistasisTruth", "MadelonTruth", "fetch_madelon", "make_epistasis", "make_madelon"]
