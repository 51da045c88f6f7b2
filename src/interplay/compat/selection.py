"""run(): the older package's whole analysis, from data to relevant variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.base.arguments import described_by, taken_by
from interplay.base.arrays import MAX_CONTRAST
from interplay.base.checks import check_choice, check_int, check_real
from interplay.base.tails import chi2_tail
from interplay.compat.arguments import COMPAT_ARGUMENTS, CUT_DATA
from interplay.compat.contrast import gen_contrast_variables
from interplay.compat.max_gains import search_settings, searched_gains
from interplay.compat.p_values import fit_p_value
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.classes import decision_classes
from interplay.data.study.table import as_table
from interplay.infer.null_fit import MIN_REFERENCE_VARIABLES, MIN_THRESHOLDS_FOR_EXP
from interplay.infer.p_values import ADJUST_METHODS, adjust, chi2_statistic, relevant_mask


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
