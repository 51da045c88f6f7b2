"""A number with its 95 % interval, and the kinds of effects that there are."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import IntArray

#: Coverage of all intervals.
CONFIDENCE = 0.95

AUC = "AUC"
ODDS_RATIO = "odds ratio"
CLIFF = "Cliff's delta"
RHO = "Spearman's rho"
PARTIAL_RHO = "rank correlation given others"
MEAN_DIFFERENCE = "difference in means"
HAZARD_RATIO = "hazard ratio"
HAZARD_RATIO_PER_SD = "hazard ratio per SD"
#: Of variables found in tuples: the effect of the interaction, of all cells or in the one that departs most.
ODDS_RATIO_TOGETHER = "odds ratio of the interaction"
DIFFERENCE_TOGETHER = "difference of differences"
HAZARD_RATIO_TOGETHER = "hazard ratio of the interaction"
ODDS_RATIO_IN_CELL = "odds ratio in one cell"
DIFFERENCE_IN_CELL = "difference of means in one cell"

#: The value of each kind where a variable has no effect.
NO_EFFECT = {
    AUC: 0.5,
    ODDS_RATIO: 1.0,
    CLIFF: 0.0,
    RHO: 0.0,
    PARTIAL_RHO: 0.0,
    MEAN_DIFFERENCE: 0.0,
    HAZARD_RATIO: 1.0,
    HAZARD_RATIO_PER_SD: 1.0,
    ODDS_RATIO_TOGETHER: 1.0,
    DIFFERENCE_TOGETHER: 0.0,
    HAZARD_RATIO_TOGETHER: 1.0,
    ODDS_RATIO_IN_CELL: 1.0,
    DIFFERENCE_IN_CELL: 0.0,
}


class Estimate(NamedTuple):
    """A number with its 95 % interval; NaN where it cannot be told."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan

    def includes(self, value: float) -> bool:
        """Say whether the interval includes a value, or is not known."""
        return not (self.low > value or self.high < value)


def normal_quantile() -> float:
    """Return the quantile of the normal distribution that bounds the intervals."""
    from scipy.special import ndtri

    return float(ndtri((1 + CONFIDENCE) / 2))


def strata_rows(strata: IntArray | None, n_samples: int) -> list[IntArray]:
    """Return the numbers of the samples of each stratum; of all, where there are none."""
    if strata is None:
        return [np.arange(n_samples)]
    return [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
