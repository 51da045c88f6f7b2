"""Classes, groups, strata → relabelings that are as likely as the observed one → p-values. No model is fitted.

::

    exchangeability.py   classes + groups + strata → `Exchangeability`: which relabelings are allowed, how many; a
                         refusal where these are too few
    within_groups.py     scores + relabelings → correlations with the outcome within groups
    permutation_null.py  statistics of the data and of relabelings → step-down maxT p-values; a `NullFit` that has them

Samples of a group (cells of a donor, members of a family) are alike, so that their labels are not exchangeable one by
one. Exchangeability follows Winkler et al. (2015), *Multi-level block permutation*, NeuroImage 123.
"""

from interplay.infer.permutations.exchangeability import Exchangeability, exchangeability
from interplay.infer.permutations.permutation_null import StepDown

__all__ = ["Exchangeability", "StepDown", "exchangeability"]
