"""p-values on two scales of an outcome → whether an interaction is one of both, or of its own scale only."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray

#: Significant on the other scale, too, after adjustment for all tuples.
BOTH = "both"
#: Between: less than significant after adjustment, more than nothing.
UNCLEAR = "unclear"

#: The other scale of each.
OTHER_SCALE = {"ranks": "values", "values": "ranks"}


def scale_words(p_other: FloatArray, p_other_adjusted: FloatArray, *, scale: str, level: float) -> list[str]:
    """Return for each tuple "both", "ranks only" (or "values only") or "unclear"; "" where the other is not known.

    An interaction is "ranks only" where its p-value on values, not adjusted, is above the significance level.

    Examples
    --------
    >>> scale_words(np.array([1e-9, 0.01, 0.3]), np.array([1e-5, 1.0, 1.0]), scale="ranks", level=0.05)
    ['both', 'unclear', 'ranks only']
    """
    words = []
    for p, adjusted in zip(p_other.tolist(), p_other_adjusted.tolist(), strict=True):
        if np.isnan(p):
            words.append("")
        else:
            words.append(BOTH if adjusted < level else f"{scale} only" if p > level else UNCLEAR)
    return words
