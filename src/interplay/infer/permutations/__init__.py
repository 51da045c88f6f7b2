"""Classes, groups, strata → relabelings that are as likely as the observed one → p-values. No model is fitted.

::

    blocks.py            one set of samples whose labels may change places, and all ways in which they may
    exchangeability.py   classes + groups + strata  → `Exchangeability`   which relabelings are allowed, how many, p ≥ ?
    reach.py             … + significance level     → a refusal, with the reason, where p cannot be that small
    step_down.py         statistics of relabelings  → `StepDown`          Westfall and Young's step-down maxT p-values
    permutation_null.py  maxima of a search         → `PermutationNull`   p-values of all variables, as a `NullFit`

Samples of a group (cells of a donor, members of a family) are alike, so that their labels are not exchangeable one by
one. Exchangeability follows Winkler et al. (2015), *Multi-level block permutation*, NeuroImage 123.
"""

from interplay.infer.permutations.exchangeability import Exchangeability, exchangeability
from interplay.infer.permutations.step_down import StepDown

__all__ = ["Exchangeability", "StepDown", "exchangeability"]
