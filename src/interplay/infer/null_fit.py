"""Maximum gains → NullFit: how large a gain an irrelevant variable reaches by chance.

V, the χ² tail probability of a variable's maximum gain, is too small for a p-value, because the gain is the largest
of many. For γ independent tests the p-value is 1 − (1 − V)^γ. The tests overlap, so γ is not their number but is
fitted to reference variables that are known, or found, to be irrelevant.

A null fit + the gains of its contrast variables → the same, with p-values that these do not contradict.

Outliers of an outcome whose values are compared, not ranked, make gains that no smooth distribution describes: a cell
with the outlier alone explains most of the variance. Contrast variables then have p-values that chance does not give
them. In such a case no p-value is smaller than the share of contrast variables with as large a gain.

A note where samples are too few for anything to be found in 2D and more.

Contrast variables have the same few values as the others, and the null is fitted to these, so p-values hold. Where
samples are so few that gains stay below those of χ², p-values are too large and nothing can be found: users who find
nothing should know this reason. docs/calibration.md shows where that is. (In 1D p-values come from an exact test.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import MAX_LEVELS, FloatArray, IntArray
from interplay.base.checks import check_choice, check_flag, check_int, shown
from interplay.base.tails import chi2_tail, log_chi2_tail
from interplay.infer.null_distribution import MODES, NullFit
from interplay.infer.p_values import CHI2_PER_UNIT, chi2_statistic, with_df
from interplay.infer.reference_fit import (
    LIKELIHOOD_FITS,
    MAX_FREE_SHAPE,
    MIN_REFERENCE_VARIABLES,
    FittedNull,
    Reference,
    check_bounds,
    fit_reference,
    goodness_of_fit,
    is_one_heavy_tail,
)

__all__ = ["FITS", "MIN_REFERENCE_VARIABLES", "MODES", "NullFit", "fit_null"]

FITS = ("auto", "lsq", *LIKELIHOOD_FITS, "union")

#: "auto" trusts a fit to no fewer contrast variables: "weibull" is fitted to most of them, "predictive" to a quarter.
MIN_CONTRAST = {"weibull": 30, "predictive": 200}

#: "auto" does not trust a fit whose reference variables are this unlike it. Mostly these are then of several kinds,
#: such as many constant or rare columns among others, and no one distribution holds for all.
MIN_KS_P = 0.01

#: 1D only: with fewer thresholds than this in all discretisations, p is taken as proportional to V.
MIN_THRESHOLDS_FOR_EXP = 12


def fit_null(
    gains: npt.ArrayLike,
    *,
    dimensions: int,
    divisions: int = 1,
    discretizations: int = 1,
    contrast_gain: npt.ArrayLike | None = None,
    contrast_df: float | npt.ArrayLike | None = None,
    mode: str = "auto",
    fit: str = "auto",
    auto_fit: str = "weibull",
    free_shape: bool = False,
    df: float | npt.ArrayLike | None = None,
    n_irrelevant: int | None = None,
    n_ignored: int | None = None,
    min_irrelevant: int | None = None,
    max_ignored: int | None = None,
    search_points: int = 8,
    unit: str = "bits",
    n_classes: int = 2,
    n_vars: int | None = None,
) -> NullFit:
    """Fit the null distribution of the maximum gain.

    Parameters
    ----------
    gains : (n_vars,) array_like
        Maximum gain of each real variable. Variables without one (NaN or −∞) get p = NaN and are left out.
    dimensions, divisions, discretizations, n_classes : int
        As in the search that gave the gains.
    contrast_gain : (n_contrast,) array_like, optional
        Maximum gains of contrast variables. If given, the null distribution is fitted to these alone; otherwise to the
        real variables, from which the relevant ones must be separated.
    contrast_df : float or (n_contrast,) array_like, optional
        Their degrees of freedom; those of the real variables if these are all the same.
    mode : {"auto", "raw", "lin", "exp"}
        "raw": p = V, the χ² tail probability. "lin": p = V/α, at most 1. "exp": p = 1 − (1 − V)^(1/α). "auto": in 1D
        with one discretisation "raw"; for "union" "lin"; for "lsq" in 1D with ``divisions · discretizations`` < 12
        "lin"; else "exp".
    fit : {"auto", "lsq", "mle", "weibull", "tail", "predictive", "union"}
        How γ = 1/α is found. In 1D with one discretisation nothing is fitted, whatever this argument is.

        - "lsq": the original method, weighted least squares, with a search for the variables to ignore (low gains)
          and, without contrast variables, for the irrelevant ones.
        - "mle": γ = −n / Σ ln(1 − V). Sensitive to columns with few distinct values, whose V is close to 1.
        - "tail": the same from the lowest fifth of V; of the others it only counts that they are larger (censored).
        - "weibull": −ln(1 − V) is Weibull distributed with a shape δ ≤ 1: the overlap between tuples makes it smaller
          than 1. Maximum likelihood, the highest values of V (a quarter of them, half of them if many) censored.
        - "predictive": the same from the lowest quarter of V, which has nearly the shape of the tail. p is the mean
          over all γ and δ that these values allow, so that it includes the uncertainty of the fit, which grows beyond
          the reference variables. `select` with several dimensions fits synergies and products in this way.
        - "union": no fit; γ is the number of tests of a variable, C(n_vars − 1, dimensions − 1) · discretizations,
          and p = γ·V. Every discretisation is one more test of each tuple. The bound holds under any dependence between
          the tests, and is more conservative the more they are correlated.

        "mle", "tail", "weibull" and "predictive" without contrast variables use the irrelevant variables that the
        search of "lsq" finds, as if these were a complete sample.

        "auto" puts calibration first. On noise (13 settings with 1,000 data sets each, other than those on which the
        rules were chosen: 1D to 3D, 36 to 200 variables, 100 to 600 samples, classes from 50/50 to 10/90, 1 to 30
        discretisations, also correlated, constant and rare columns) the probability of selecting anything at Holm
        0.05 was 0.007 to 0.036 for "union"; 0.020 to 0.050 for "weibull" with 30, 100 or 300 contrast variables in 2D
        and 3D, with 4.5 % to 5.2 % of p-values below 0.05, and up to 0.059 in 1D; 0.03 to 0.10 for "lsq". Therefore:
        "weibull" with at least 30 contrast variables in 2D and more; "union" with fewer, and in 1D. Without contrast
        variables in 2D and more "lsq", as it is the one that finds the irrelevant variables among relevant ones.
        "lsq", too, where `mode` rules out the others. Where the fit fails or its Kolmogorov–Smirnov p is below 0.01
        (many constant or rare columns, all gains the same), "union". The page on calibration in the documentation
        has a larger study, with the same outcome.
    auto_fit : {"weibull", "predictive"}
        What "auto" fits to contrast variables in 2D and more: "weibull", or "predictive", if there are at least 200 of
        them, and if they are of several kinds (degrees of freedom), come in clusters or have a shape above 1.
    free_shape : bool
        Whether the shape δ of "predictive" may be larger than 1. Of maximum gains it may not: overlap only makes the
        tail heavier, and what a variable tells alone has the tail of χ². What is beyond that (synergies) has a lighter
        tail where levels are rare or samples few.
    df : float or (n_vars,) array_like, optional
        Degrees of freedom; (n_classes − 1)·divisions·(divisions + 1)^(dimensions − 1) if not given. 0 (a variable
        with one level) gives p = 1.
    n_irrelevant, n_ignored : int, optional
        Set the numbers instead of searching for them. "mle", "tail", "weibull" and "predictive" ignore no contrast
        variables unless told to.
    min_irrelevant, max_ignored : int, optional
        Bounds of the search; for n reference variables min(n // 3, 30) and n // 3.
    search_points : int
        Candidates for the number of ignored variables that are tried in each pass.
    unit : {"bits", "nats", "chi2"}
        Unit of all gains; "chi2" are doubled nats.
    n_vars : int, optional
        Number of variables that were searched, for "union"; ``len(gains)`` if not given.

    Returns
    -------
    NullFit

    Warns
    -----
    UserWarning
        If the search ends at one of its bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay.infer.null_fit import fit_null
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.chisquare(2, size=(200, 50)).max(axis=1)  # each the largest of 50 tests
    >>> null = fit_null(np.append(noise, 60.0), dimensions=2, unit="chi2", fit="lsq")
    >>> 40 < null.gamma < 60
    True
    >>> bool(null.p_values()[-1] < 1e-10)
    True
    """
    dimensions = check_int("dimensions", dimensions, low=1, high=64)
    divisions = check_int("divisions", divisions, low=1, high=MAX_LEVELS - 1)
    discretizations = check_int("discretizations", discretizations, low=1)
    search_points = check_int("search_points", search_points, low=3)
    n_classes = check_int("n_classes", n_classes, low=2, high=2**31 - 1)
    check_choice("unit", unit, CHI2_PER_UNIT)
    check_choice("mode", mode, MODES)
    check_choice("fit", fit, FITS)
    check_choice("auto_fit", auto_fit, MIN_CONTRAST)
    check_flag("free_shape", free_shape)

    statistic = chi2_statistic(gains, unit=unit)
    if df is None:
        df = float((n_classes - 1) * divisions * (divisions + 1) ** (dimensions - 1))
    statistic, df_real = with_df("df", statistic, df)
    if contrast_gain is None:
        contrast, df_contrast = np.empty(0), df_real
    else:
        contrast = chi2_statistic(contrast_gain, unit=unit, name="contrast_gain")
        contrast, df_contrast = with_df("contrast_df", contrast, _df_of_contrast(df_real, contrast_df))
    n_vars = check_int("n_vars", len(statistic) if n_vars is None else n_vars, low=1)

    has_contrast = len(contrast) > 0
    fitted_to, df_fitted_to = (contrast, df_contrast) if has_contrast else (statistic, df_real)
    reference = Reference.of(fitted_to, df_fitted_to, is_contrast=has_contrast)
    given = {
        "n_irrelevant": n_irrelevant,
        "n_ignored": n_ignored,
        "min_irrelevant": min_irrelevant,
        "max_ignored": max_ignored,
    }
    may_fall_back = fit == "auto" and mode == "auto" and all(number is None for number in given.values())
    fit, mode = _resolve(
        fit,
        mode,
        auto_fit=auto_fit,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        n_contrast=reference.n_contrast,
    )
    fit, found = _fit(
        reference,
        fit=fit,
        mode=mode,
        may_fall_back=may_fall_back,
        given=given,
        search_points=search_points,
        max_delta=MAX_FREE_SHAPE if free_shape else 1.0,
    )
    if found is None:
        fit, mode = "union", "raw" if mode == "raw" else "lin"
        n_tests = _number_of_tests(n_vars, dimensions=dimensions, discretizations=discretizations)
        found = FittedNull(gamma=1.0 if mode == "raw" else n_tests, n_irrelevant=reference.n_contrast)
    reference_p = reference.p_values(found.tail(mode))
    return NullFit(
        alpha=1.0 / found.gamma,
        alpha_error=found.gamma_error / found.gamma**2,
        gamma=found.gamma,
        gamma_error=found.gamma_error,
        delta=found.delta,
        delta_error=found.delta_error,
        mode=mode,
        fit=fit,
        n_irrelevant=found.n_irrelevant,
        n_ignored=found.n_ignored,
        min_irrelevant=found.min_irrelevant,
        max_ignored=found.max_ignored,
        n_reference=len(reference),
        n_contrast=reference.n_contrast,
        ks_p=goodness_of_fit(reference, found, mode=mode),
        df=df_real,
        unit=unit,
        statistic=statistic,
        chi2_p=chi2_tail(statistic, df_real),
        reference_p=reference_p[found.n_ignored :][: found.n_irrelevant] if found.n_irrelevant else reference_p,
        sq_dev=found.sq_dev,
        n_uncensored=found.n_uncensored or 0,
        shapes=np.empty((3, 0)) if found.posterior is None else found.posterior.to_array(),
    )


def _fit(
    reference: Reference,
    *,
    fit: str,
    mode: str,
    may_fall_back: bool,
    given: Mapping[str, int | None],
    search_points: int,
    max_delta: float,
) -> tuple[str, FittedNull | None]:
    """Return the name of the fit that was made, and its parameters.

    None stands for "union", asked for or fallen back on: nothing is fitted, so nothing can be fitted badly.
    """
    n = len(reference)
    is_enough = n >= MIN_REFERENCE_VARIABLES
    if mode == "raw" and not is_enough:
        return fit, FittedNull(gamma=1.0, n_irrelevant=n)
    if fit != "union" and not is_enough and not may_fall_back:
        raise ValueError(
            f"fit={fit!r} needs at least {MIN_REFERENCE_VARIABLES} {reference.in_words} with a gain, and there are "
            f"{n}: add contrast variables, or use fit='union'"
        )
    if fit == "union" or not is_enough:
        return fit, None
    if given["n_ignored"] is None and reference.is_contrast and fit in LIKELIHOOD_FITS:
        given = {**given, "n_ignored": 0}  # likelihood fits censor low gains instead
    fit_as = partial(
        fit_reference,
        reference,
        mode=mode,
        bounds=check_bounds(n, **given),
        search_points=search_points,
        max_delta=max_delta,
    )
    try:
        found = fit_as(fit=fit)
        if may_fall_back and fit == "predictive" and is_one_heavy_tail(reference, found):
            fit = "weibull"
            found = fit_as(fit=fit)
    except ValueError:
        if not may_fall_back:
            raise
        return fit, None
    # NaN, of too few values, is no good fit either.
    is_bad = may_fall_back and mode != "raw" and not goodness_of_fit(reference, found, mode=mode) >= MIN_KS_P
    return fit, None if is_bad else found


def _resolve(
    fit: str, mode: str, *, auto_fit: str, dimensions: int, divisions: int, discretizations: int, n_contrast: int
) -> tuple[str, str]:
    """Turn "auto" into a fit and a mode; the reasons are in the docstring of `fit_null`."""
    allowed = {"union": ("auto", "lin")} | dict.fromkeys(LIKELIHOOD_FITS, ("auto", "exp"))
    if mode not in allowed.get(fit, MODES):
        raise ValueError(f"mode={mode!r} does not go with fit={fit!r}: leave mode at 'auto'")
    needs_no_fit = mode == "raw" or (mode == "auto" and dimensions == 1 and discretizations == 1)
    if fit == "auto":
        if needs_no_fit or mode == "lin":
            fit = "lsq"
        elif dimensions > 1 and n_contrast >= MIN_CONTRAST["weibull"]:
            fit = auto_fit if n_contrast >= MIN_CONTRAST[auto_fit] else "weibull"
        elif mode == "auto" and (dimensions == 1 or n_contrast > 0):
            fit = "union"
        else:
            fit = "lsq"
    if needs_no_fit:
        return fit, "raw"
    if mode == "auto":
        few_thresholds = dimensions == 1 and divisions * discretizations < MIN_THRESHOLDS_FOR_EXP
        mode = "lin" if fit == "union" or (fit == "lsq" and few_thresholds) else "exp"
    return fit, mode


def _number_of_tests(n_vars: int, *, dimensions: int, discretizations: int) -> float:
    if n_vars < dimensions:
        raise ValueError(f"n_vars must be at least dimensions ({dimensions}) for fit='union', not {n_vars}")
    return min(float(math.comb(n_vars - 1, dimensions - 1)) * discretizations, 1e300)


def _df_of_contrast(df: float | FloatArray, contrast_df: float | npt.ArrayLike | None) -> float | npt.ArrayLike:
    if contrast_df is not None:
        return contrast_df
    if isinstance(df, np.ndarray):
        raise ValueError("contrast_df must be given, one per contrast variable: df differs between the variables")
    return df


#: The smallest p-value of contrast variables, times their number, is below this by chance once in a thousand fits.
_IMPLAUSIBLE = 1e-3


def guarded(null_fit: NullFit, contrast_gain: FloatArray, contrast_df: FloatArray) -> NullFit:
    """Return the fit, with a lower bound of its p-values where contrast variables say that its tail is wrong.

    Examples
    --------
    >>> from interplay.infer.null_fit import fit_null
    >>> rng = np.random.default_rng(0)
    >>> contrast = rng.chisquare(2, size=(300, 50)).max(axis=1) / CHI2_PER_UNIT["bits"]
    >>> contrast[:3] += 100  # outliers
    >>> null = fit_null([30.0], dimensions=2, contrast_gain=contrast, n_vars=51)
    >>> bool(null.p_values()[0] < 1e-5), bool(guarded(null, contrast, np.full(300, 2.0)).p_values()[0] > 0.01)
    (True, True)
    """
    known = np.isfinite(contrast_gain) & (contrast_df > 0)
    n_contrast = int(np.count_nonzero(known))
    if null_fit.is_exact or null_fit.is_permuted or n_contrast == 0:
        return null_fit
    log_p = null_fit.log_p_values(contrast_gain[known] * null_fit.inflation, df=contrast_df[known])
    if float(log_p.min()) + np.log(n_contrast) >= np.log(_IMPLAUSIBLE):
        return null_fit
    of_contrast = np.sort(
        log_chi2_tail(CHI2_PER_UNIT["bits"] * np.maximum(contrast_gain[known], 0), contrast_df[known])
    )
    own = log_chi2_tail(null_fit.statistic, null_fit.df)
    n_as_large = np.searchsorted(of_contrast, own, side="right")
    share = np.log((1 + n_as_large) / (n_contrast + 1))
    return replace(null_fit, least_log_p=np.where(np.isnan(null_fit.statistic), -np.inf, share))


#: 2D and more: samples of the smallest class per degree of freedom. Two levels: 3 in each cell of a tuple's table.
MIN_PER_DEGREE_OF_FREEDOM = 6


class FewSamplesWarning(UserWarning):
    """Variables are relevant by χ², and not by an exact test, because there are few samples.

    This warning is no longer given, because p-values in 1D come from an exact test. The name stays for filters that
    mention it.
    """


def note_on_sparse_tuples(class_labels: list[str], class_sizes: IntArray, df: IntArray, *, dimensions: int) -> str:
    """Say that tuples have too few samples per cell for anything to be found; nothing if they have enough.

    `df` are the degrees of freedom of the variables. Numbers have no classes: no labels, and the size of all.
    """
    if not class_labels:
        return _note_on_numbers(int(class_sizes.sum()), float(np.median(df)) if len(df) else 0.0, dimensions)
    per_class = float(np.median(df)) / (len(class_sizes) - 1) if len(df) else 0.0
    smallest = int(np.argmin(class_sizes))
    if class_sizes[smallest] >= MIN_PER_DEGREE_OF_FREEDOM * per_class:
        return ""
    return (
        f"class {shown(class_labels[smallest])} has {class_sizes[smallest]} samples, too few for the tables of "
        f"dimensions={dimensions} ({per_class:g} degrees of freedom): p-values are too large and true effects are "
        "missed; lower dimensions or divisions, merge rare classes, or gather more samples"
    )


def _note_on_numbers(n_samples: int, df: float, dimensions: int) -> str:
    if n_samples >= 2 * MIN_PER_DEGREE_OF_FREEDOM * df:
        return ""
    return (
        f"{n_samples} samples are too few for the tables of dimensions={dimensions} ({df:g} degrees of freedom): "
        "p-values are too large and true effects are missed; lower dimensions or divisions, or gather more samples"
    )
