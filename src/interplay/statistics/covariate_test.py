"""Classes, cells of a tuple, covariates → is the tuple informative beyond the covariates?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.beta_tail import log_f_tail
from interplay.base.chi_squared import chi2_of_log_tail
from interplay.models.linear import independent_columns

#: A mean log-likelihood with a smaller gradient than this is at its maximum.
_NEARLY_FLAT = 1e-4


def covariate_test(
    codes: IntArray, cells: IntArray, parts: Sequence[IntArray], design: FloatArray
) -> tuple[float, int]:
    """Compare models of the classes by their likelihoods: covariates with all cells, and with effects of parts.

    The logistic (two classes) or multinomial model of statsmodels. With one part that is the same for all samples, this
    tests the cells beyond covariates. With the cells of all members of a tuple but one, it tests the contribution of
    this member; with all parts that lack one member, the interaction of the tuple beside covariates.

    Parameters
    ----------
    codes : (n_samples,) int64
        Classes.
    cells : (n_samples,) int64
        Number of the cell of each sample.
    parts : sequence of (n_samples,) int64
        Cells of each part; each cell of the whole lies in one cell of a part.
    design : (n_samples, n_columns) float64
        Covariates.

    Returns
    -------
    chi2 : float
        Twice the difference of the log-likelihoods.
    df : int
        Its degrees of freedom: columns of the one model that are not in the other, times the classes but one.
    """
    n_classes = int(codes.max()) + 1
    of_parts = np.hstack([cell_columns(each) for each in parts])
    smaller, larger = (independent_columns(np.hstack([each, design])) for each in (of_parts, cell_columns(cells)))
    df = (larger.shape[1] - smaller.shape[1]) * (n_classes - 1)
    if df <= 0:
        return 0.0, 0
    with _quiet_models() as sm:
        kind = sm.Logit if n_classes == 2 else sm.MNLogit
        fits = [
            _log_likelihood(kind(codes, each, check_rank=False, hasconst=True), each.shape[1] * (n_classes - 1))
            for each in (larger, smaller)
        ]
    return max(2.0 * (fits[0] - fits[1]), 0.0), df


def linear_test(
    scores: FloatArray, cells: IntArray, parts: Sequence[IntArray], design: FloatArray
) -> tuple[float, int]:
    """Compare the models of `covariate_test` for a number outcome, (n_samples,): linear, with normal errors.

    The statistic is that of the F test on the scale of χ²: it has the p-value of F where samples are few.
    """
    of_parts = np.hstack([cell_columns(each) for each in parts])
    return nested_linear_test(scores, np.hstack([of_parts, design]), np.hstack([cell_columns(cells), design]))


def nested_linear_test(scores: FloatArray, smaller: FloatArray, larger: FloatArray) -> tuple[float, int]:
    """Compare two linear models of a number outcome, given by their columns; the larger one contains the smaller.

    The statistic is as in `linear_test`.
    """
    smaller, larger = independent_columns(smaller), independent_columns(larger)
    df, df_residual = larger.shape[1] - smaller.shape[1], len(scores) - larger.shape[1]
    if df <= 0 or df_residual <= 0:
        return 0.0, 0
    left = [
        float(((scores - each @ np.linalg.lstsq(each, scores, rcond=None)[0]) ** 2).sum()) for each in (smaller, larger)
    ]
    return f_as_chi2(left[0] - left[1], left[1], df, df_residual), df


def f_as_chi2(explained: float, left: float, df: int, df_residual: int) -> float:
    """Return the χ² that has the p-value of F, of sums of squares that are explained and left."""
    if left <= 0:
        return float((df_residual + df) * 50.0)
    f = explained / df / (left / df_residual)
    return float(chi2_of_log_tail(log_f_tail(f, df, df_residual), df))


def hazard_test(
    time: FloatArray, event: npt.NDArray[Any], cells: IntArray, part_cells: IntArray, design: FloatArray
) -> tuple[float, int]:
    """Compare the models for times that may be censored: by the partial likelihoods of Cox's proportional hazards.

    Parameters
    ----------
    time, event : (n_samples,) float64, bool
    cells, design
        As in `covariate_test`.
    part_cells : (n_samples,) int64
        Cells of its one part.
    """
    constant = np.ones((len(time), 1))
    # Hazards have no constant: it stands first, and is left out again.
    smaller, larger = (
        independent_columns(np.hstack([constant, cell_columns(each)[:, 1:], design]))[:, 1:]
        for each in (part_cells, cells)
    )
    df = larger.shape[1] - smaller.shape[1]
    if df <= 0 or not event.any():
        return 0.0, 0
    status = event.astype(np.int64)
    with _quiet_models() as sm:
        fits = [_log_likelihood(sm.PHReg(time, each, status=status), each.shape[1]) for each in (larger, smaller)]
    return max(2.0 * (fits[0] - fits[1]), 0.0), df


def cell_columns(cells: IntArray) -> FloatArray:
    """Return a column of 0 and 1 for each cell."""
    numbers = numbered(cells)
    return np.asarray(numbers[:, np.newaxis] == np.arange(int(numbers.max()) + 1), dtype=np.float64)


@contextmanager
def _quiet_models() -> Iterator[Any]:
    """Yield statsmodels, without its warnings and those of NumPy in it.

    A cell of one class only has an infinite coefficient, of which they warn: the likelihood converges all the same.
    """
    import statsmodels.api as sm  # outside of what follows: the import has all its warnings shown again

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield sm


def _log_likelihood(model: Any, n_parameters: int) -> float:
    """Return the logarithm of the largest likelihood of a model; NaN where it cannot be found."""
    try:
        # Of a cell of one class only, a coefficient grows by 1 in each step: enough of them for any purpose.
        found = float(model.fit(method="newton", maxiter=40, tol=1e-8, disp=0, warn_convergence=False).llf)
    except np.linalg.LinAlgError:  # the steps have become too small to be told apart
        found = np.nan
    if np.isfinite(found):
        return found
    from scipy.optimize import minimize

    n = len(model.endog)

    def minus_mean(parameters: FloatArray) -> tuple[float, FloatArray]:
        value = -model.loglike(parameters) / n
        return value if np.isfinite(value) else np.inf, -model.score(parameters) / n

    climbed = minimize(minus_mean, np.zeros(n_parameters), jac=True, method="BFGS", options={"gtol": 1e-6})
    return float(-n * climbed.fun) if np.abs(climbed.jac).max() < _NEARLY_FLAT else np.nan
