"""`select` and `interactions` as scikit-learn transformers.

::

    selector.py               MDFSSelector: the variables that `select` finds, and why others are left out
    interaction_features.py   InteractionFeatures: X and features of the tuples that `interactions` finds
    tuple_features.py         tuples of a result → their features in any samples: cells, values (out of fold), products
    fit_samples.py            X, outcome, strata … of fit() → a checked table, and arguments of select(), interactions()
"""

from interplay.ask.estimators.interaction_features import InteractionFeatures
from interplay.ask.estimators.selector import MDFSSelector

__all__ = ["InteractionFeatures", "MDFSSelector"]
