"""A variable found given others → the rank correlation with the outcome that remains given these."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.effects.estimate import Estimate
from interplay.infer.effects.number_effects import correlation
from interplay.infer.given_test import centred_within


def correlation_given(
    scores: FloatArray, others: FloatArray, target: FloatArray, strata: IntArray | None = None
) -> Estimate:
    """Return the partial correlation of scores, (n_samples,), with a target, given others, (n_others, n_samples).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 500))
    >>> round(correlation_given(a, b[np.newaxis], a + 3 * b).value, 6)
    1.0
    """
    codes = np.zeros(len(scores), dtype=np.int64) if strata is None else strata
    x, *rest, y = centred_within(np.vstack([scores, others, target]), codes)
    if rest:
        basis = np.linalg.qr(np.array(rest).T)[0].T
        x, y = (row - (row @ basis.T) @ basis for row in (x, y))
    return correlation(x, y, n_fitted=len(rest) + int(codes.max(initial=0)))
