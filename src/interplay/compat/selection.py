"""run(): the older package's whole analysis, from data to relevant variables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import described_by, taken_by
from interplay.base.arrays import MAX_CONTRAST, FloatArray, IntArray
from interplay.base.checks import check_choice, check_int, check_numbers, check_real, warn
from interplay.base.tails import chi2_tail
from interplay.compat.codes import COMPAT_ARGUMENTS, CUT_DATA, check_seed
from interplay.compat.max_gains import search_settings, searched_gains
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.classes import decision_classes
from interplay.data.study.table import as_table
from interplay.infer.null_fit import MIN_REFERENCE_VARIABLES, MIN_THRESHOLDS_FOR_EXP, fit_null
from interplay.infer.p_values import ADJUST_METHODS, adjust, chi2_statistic, relevant_mask
from interplay.infer.reference_fit import Bounds, check_bounds, fit_lsq


@described_by(COMPAT_ARGUMENTS | CUT_DATA)
def run(
    data: Any,
    decision: Any,
    *,
    n_contrast: int | None = None,
    dimensions: int = 1,
    divisions: int = 1,
    discretizations: int = 1,
    seed: int | None = None,
    range_: float | None = None,
    pc_xi: float = 0.25,
    p_adjust_method: str = "holm",
    level: float = 0.05,
    use_CUDA: bool = False,
) -> dict[str, Any]:
    """Find the relevant variables.

    In new scripts, use `interplay.select` with ``fit="lsq"``, ``discrete="none"`` and, for one discretisation, an
    explicit `range_`.

    Parameters
    ----------
    n_contrast : int, optional
        Number of contrast variables. By default max(30, n_vars), and 0 in 1D with one discretisation. With 0, the null
        distribution is fitted to the variables themselves.
    p_adjust_method : str
        How p-values are adjusted for the number of variables: statsmodels' names, as in the older package, or R's.
    level : float
        A variable is relevant if its adjusted p-value is below this significance level.
    ...

    Returns
    -------
    dict
        contrast_indices : (n_contrast,) int32, None without contrast variables
            The columns that the contrast variables permute.
        statistic, statistic_contrast : (n_vars,) and (n_contrast,) float64, the latter None without contrast variables
            Maximum gains, in bits times samples.
        chi_squared, p_value, adjusted_p_value : (n_vars,) float64
            χ² tail probability of the gain, p-value, and adjusted p-value.
        relevant_variables : int64 array
            Numbers of the relevant variables from 0, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay import compat as mdfs
    >>> data = np.random.default_rng(0).normal(size=(400, 20))
    >>> decision = (data[:, 3] > 0) ^ (data[:, 11] > 0)
    >>> result = mdfs.run(data, decision, dimensions=2, seed=0)
    >>> result["relevant_variables"]
    array([ 3, 11])
    """
    arguments = dict(locals())
    table = as_table(data)
    classes = decision_classes(decision, n_samples=table.n_samples, decision="classes")
    settings = search_settings(table, **taken_by(search_settings, arguments))
    needs_no_fit = dimensions == 1 and discretizations == 1
    if n_contrast is None:
        n_contrast = 0 if needs_no_fit else max(30, table.n_vars)
    n_contrast = check_int("n_contrast", n_contrast, low=0, high=MAX_CONTRAST)
    if not needs_no_fit and (n_contrast or table.n_vars) < MIN_REFERENCE_VARIABLES:
        raise ValueError(
            f"n_contrast must be at least {MIN_REFERENCE_VARIABLES}, not {n_contrast}: "
            "fewer are not enough to estimate the null distribution"
        )
    check_choice("p_adjust_method", p_adjust_method, ADJUST_METHODS)
    level = check_real("level", level, low=0.0, high=1.0, low_open=True, high_open=True)

    contrast = gen_contrast_variables(table, n_contrast, settings.random_state) if n_contrast else None
    gains = searched_gains(
        Comparison("all classes", table, classes),
        settings,
        contrast=None if contrast is None else as_table(contrast.data),
    )
    p_value = chi_squared = chi2_tail(chi2_statistic(gains.gain, unit="bits"), gains.df)
    if not needs_no_fit:
        p_value = fit_p_value(
            chi_squared,
            chi2_tail(chi2_statistic(gains.contrast_gain, unit="bits"), gains.contrast_df) if n_contrast else None,
            exponential_fit=dimensions > 1 or divisions * discretizations >= MIN_THRESHOLDS_FOR_EXP,
        ).p_values
    adjusted = adjust(p_value, p_adjust_method, level=level)
    return {
        "contrast_indices": None if contrast is None else contrast.indices,
        "statistic": gains.gain,
        "statistic_contrast": None if contrast is None else gains.contrast_gain,
        "chi_squared": chi_squared,
        "p_value": p_value,
        "adjusted_p_value": adjusted,
        "relevant_variables": np.flatnonzero(relevant_mask(adjusted, level=level)),
    }


#: Smallest number of draws made at a time.
_DRAWS_AHEAD = 2**16


@dataclass(frozen=True, eq=False)
class GenContrastVariablesResult:
    """Contrast variables.

    Attributes
    ----------
    data : (n_samples, n_contrast) array, Fortran order
    indices : (n_contrast,) int32
        The column of the data that each contrast variable permutes.
    """

    data: npt.NDArray[Any]
    indices: npt.NDArray[np.int32]


@described_by(COMPAT_ARGUMENTS)
def gen_contrast_variables(data: Any, n_contrast: int, seed: int | None = None) -> GenContrastVariablesResult:
    """Make contrast variables: permuted copies of randomly chosen columns.

    In new scripts, use `interplay.contrast_variables`, whose columns do not depend on how many of them there are.

    Parameters
    ----------
    n_contrast : int
        Number of contrast variables. Up to n_vars of them are copies of different columns; beyond, columns are drawn
        with replacement.
    ...

    Returns
    -------
    GenContrastVariablesResult
        ``.data``, ``.indices``

    Examples
    --------
    >>> from interplay import compat as mdfs
    >>> contrast = mdfs.gen_contrast_variables([[1, 10], [2, 20], [3, 30], [4, 40]], 2, seed=0)
    >>> contrast.indices
    array([0, 1], dtype=int32)
    >>> contrast.data.T
    array([[ 2,  1,  4,  3],
           [10, 40, 30, 20]])
    """
    table = as_table(data)
    n_contrast = check_int("n_contrast", n_contrast, low=1, high=MAX_CONTRAST)
    draws = _Draws(check_seed(seed))
    choose = _distinct if n_contrast <= table.n_vars else _uniform
    sources = choose(draws, table.n_vars, n_contrast)
    contrast = table.columns(sources).copy()
    for values in contrast:
        values[:] = values[_distinct(draws, table.n_samples, table.n_samples)]
    return GenContrastVariablesResult(contrast.T, sources.astype(np.int32))


class _Draws:
    """The 32-bit draws of one MT19937, which can be inspected before they are used."""

    def __init__(self, seed: int) -> None:
        self._stream = np.random.RandomState(seed)
        self._ahead = np.empty(0, dtype=np.uint32)

    def peek(self, n: int) -> npt.NDArray[np.uint32]:
        """Return the next `n` draws without using them up."""
        missing = n - len(self._ahead)
        if missing > 0:
            fresh = self._stream.randint(0, 2**32, size=max(missing, _DRAWS_AHEAD), dtype=np.uint32)
            self._ahead = np.concatenate([self._ahead, fresh])
        return self._ahead[:n]

    def skip(self, n: int) -> None:
        self._ahead = self._ahead[n:]


def _distinct(draws: _Draws, limit: int, count: int) -> IntArray:
    """Return the first `count` different values of the draws modulo `limit`, in their order."""
    # The expected number of draws that meet all values is limit · (ln limit + 0.58).
    n = int(limit * (np.log(limit) + 3)) + 1
    while True:
        first_place = np.full(limit, n)
        np.minimum.at(first_place, draws.peek(n) % np.uint32(limit), np.arange(n))
        found = np.argsort(first_place, kind="stable")[:count]
        last_place = int(first_place[found[-1]])
        if last_place < n:
            draws.skip(last_place + 1)
            return found
        n *= 2


def _uniform(draws: _Draws, limit: int, count: int) -> IntArray:
    """Return `count` whole numbers below `limit`: the upper word of draw · limit, unless the lower one is too low.

    The C++ library's ``uniform_int_distribution`` does the same (Lemire's method).
    """
    n = count
    while True:
        product = draws.peek(n).astype(np.uint64) * np.uint64(limit)
        fair = np.flatnonzero((product & np.uint64(2**32 - 1)) >= 2**32 % limit)[:count]
        if len(fair) == count:
            draws.skip(int(fair[-1]) + 1)
            return (product[fair] >> np.uint64(32)).astype(np.int64)
        n += count


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
