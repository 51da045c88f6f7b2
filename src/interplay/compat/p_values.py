"""χ² probabilities → p-values, under the older package's names and by its search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.checks import check_int, check_numbers, warn
from interplay.infer.lsq_fit import Bounds, check_bounds, fit_lsq
from interplay.infer.null_fit import MIN_REFERENCE_VARIABLES, fit_null


@dataclass(frozen=True, eq=False)
class FitPValueResult:
    """A fitted null and its p-values.

    Attributes
    ----------
    p_values : (n_vars,) float64
    dist_param, err_param : float
        α = 1/γ and its error. The older package has these names too, but leaves them 0.
    sq_dev : float
        Mean squared deviation of the fit, which the older package leaves 0 too.
    """

    p_values: FloatArray
    dist_param: float
    err_param: float
    sq_dev: float


def fit_p_value(
    chisq: npt.ArrayLike,
    chisq_contrast: npt.ArrayLike | None,
    *,
    exponential_fit: bool,
    irr_vars_num: int | None = None,
    ign_low_ig_vars_num: int | None = None,
    min_irr_vars_num: int | None = None,
    max_ign_low_ig_vars_num: int | None = None,
    search_points: int = 8,
) -> FitPValueResult:
    """Fit the null distribution to χ² probabilities and return p-values.

    In new scripts, use `interplay.fit_null` with ``fit="lsq"``; it takes gains instead of probabilities.

    Parameters
    ----------
    chisq : (n_vars,) array_like
        χ² tail probabilities of the variables' gains.
    chisq_contrast : (n_contrast,) array_like or None
        χ² tail probabilities of the contrast variables. If there are none, the null distribution is fitted to `chisq`.
    exponential_fit : bool
        ``mode="exp"`` of `fit_null`, otherwise ``mode="lin"``.
    irr_vars_num : int, optional
        Number of irrelevant variables, ``n_irrelevant`` of `fit_null`.
    ign_low_ig_vars_num : int, optional
        Number of variables of low gain that are left out, ``n_ignored`` of `fit_null`. With contrast variables, one
        more is left out, as in the older package.
    min_irr_vars_num, max_ign_low_ig_vars_num : int, optional
        Bounds of the search for these numbers, ``min_irrelevant`` and ``max_ignored`` of `fit_null`.
    search_points : int
        Number of candidates that are tried in each pass of the search.

    Returns
    -------
    FitPValueResult
        ``.p_values``, ``.dist_param``, ``.err_param``, ``.sq_dev``

    Warns
    -----
    UserWarning
        If the search ends at one of its bounds. The older package raises.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay import compat as mdfs
    >>> rng = np.random.default_rng(0)
    >>> contrast = rng.random((200, 50)).min(axis=1)  # each the smallest of 50
    >>> fitted = mdfs.fit_p_value([1e-30, 0.02], contrast, exponential_fit=True)
    >>> print(f"{fitted.p_values[0]:.0e} {fitted.p_values[1]:.1f}")
    5e-29 0.7
    """
    tail_p = _probabilities("chisq", chisq)
    contrast = np.empty(0) if chisq_contrast is None else _probabilities("chisq_contrast", chisq_contrast)
    search_points = check_int("search_points", search_points, low=3)
    mode = "exp" if exponential_fit else "lin"
    n_ignored = ign_low_ig_vars_num
    if n_ignored is not None:
        n_ignored = check_int("ign_low_ig_vars_num", n_ignored, low=0) + (len(contrast) > 0)
    elif len(contrast) >= MIN_REFERENCE_VARIABLES:
        bounds = check_bounds(
            len(contrast),
            n_irrelevant=irr_vars_num,
            min_irrelevant=min_irr_vars_num,
            max_ignored=max_ign_low_ig_vars_num,
        )
        n_ignored = _search_ignored(np.sort(contrast)[::-1], mode, bounds, search_points)
    null = fit_null(
        _with_two_df(tail_p),
        dimensions=2,
        contrast_gain=_with_two_df(contrast) if len(contrast) else None,
        df=2.0,
        unit="chi2",
        mode=mode,
        fit="lsq",
        n_irrelevant=irr_vars_num,
        n_ignored=n_ignored,
        min_irrelevant=min_irr_vars_num,
        max_ignored=max_ign_low_ig_vars_num,
        search_points=search_points,
    )
    return FitPValueResult(
        p_values=null.p_values(),
        dist_param=null.alpha,
        err_param=null.alpha_error,
        sq_dev=float(null.sq_dev[null.n_irrelevant - 1]),
    )


def _search_ignored(tail_p: FloatArray, mode: str, bounds: Bounds, search_points: int) -> int:
    """Search the number of contrast variables of low gain to ignore, as the older package does.

    The search differs from that of "lsq": steps are rounded with halves up, and the last passes may go one further.
    """

    def deviation(n_ignored: int) -> float:
        fitted = fit_lsq(
            tail_p,
            mode=mode,
            whole_window=True,
            bounds=bounds._replace(n_ignored=n_ignored),
            search_points=search_points,
        )
        return float(fitted.sq_dev[fitted.n_irrelevant - 1])

    best, least = 0, deviation(0)
    low, high = 0, bounds.max_ignored - 1
    while True:
        step = max(1, math.floor((high - low) / search_points + 0.5))
        for n_ignored in range(low, high, step):
            found = deviation(n_ignored)
            if found < least:
                best, least = n_ignored, found
        if step == 1:
            break
        low, high = max(0, best - step), min(bounds.max_ignored, best + step)
    if 0 < best >= bounds.max_ignored - 2:
        warn(
            f"the null fit ignores {best} contrast variables of low gain, about the largest number allowed, so it may "
            "be inaccurate: remove constant and nearly constant columns, or raise max_ign_low_ig_vars_num"
        )
    return best


def _probabilities(name: str, values: npt.ArrayLike) -> FloatArray:
    p = check_numbers(name, values, (None,))
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{name} must hold probabilities, from 0 to 1: χ² tail probabilities, not gains")
    return p


def _with_two_df(tail_p: FloatArray) -> FloatArray:
    """Return the values of χ² with two degrees of freedom that have these tail probabilities: −2 ln p."""
    smallest = np.finfo(np.float64).smallest_subnormal  # the statistic stays finite where p underflows to 0
    statistic: FloatArray = -2 * np.log(np.maximum(tail_p, smallest))
    return statistic
