"""The G² that one site needs so that no tuple is missed whose G² over all sites reaches its threshold."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.infer.interaction.interaction_test import g2_thresholds

#: Thresholds are those of a p-value larger by this factor, beyond the room for exact p-values that they leave anyway:
#: of many small strata, exact p-values were up to 2.3 times smaller than those of χ² (18,000 tables, p > 1e-12).
SITE_SLACK = 4.0

#: Thresholds are lowered by this share, for rounding.
_ROUNDING = 1e-9

#: Thresholds are computed up to this number of degrees of freedom; beyond it the last one is used, which is lower.
_MAX_DF = 100_000


def site_shares(max_p: float, max_df: int, n_sites: int) -> FloatArray:
    """Return the G² that one of `n_sites` sites needs, by its own degrees of freedom: (max_df + 1,).

    With the site as a stratum, G² and degrees of freedom are sums over sites. Let f(d) be the threshold of the whole
    for d degrees of freedom, which is concave. A site with d has the share f(n_sites·d) / n_sites: by Jensen's
    inequality the shares of all sites add up to f(Σ d) at most. So where the sum of G² reaches f(Σ d), one site reaches
    its share. Where f is not concave (p-values above 0.1 or so), each share is that of one degree of freedom.

    Examples
    --------
    Of four sites, with the p-values of 4950 pairs.

    >>> site_shares(1e-5, 2, 4).round(2).tolist()
    [inf, 6.0, 8.09]
    """
    most = min(max_df * n_sites, _MAX_DF)
    of_whole = np.concatenate([[0.0], g2_thresholds(min(SITE_SLACK * max_p, 1.0), max(most, 2))[1:]])
    is_concave = bool((np.diff(of_whole, n=2) <= 0).all())
    df = np.minimum(np.arange(1, max_df + 1) * n_sites, len(of_whole) - 1) if is_concave else np.ones(max_df, dtype=int)
    return np.concatenate([[np.inf], of_whole[df] / n_sites * (1 - _ROUNDING)])
