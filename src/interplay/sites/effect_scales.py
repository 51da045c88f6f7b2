"""Effects of variables → the scale on which estimates are normal, and standard errors from their 95 % intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray

#: Of normal intervals of 95 %.
REACH = 1.959963984540054


def effect_scale(kind: str) -> str:
    """Return the scale on which effects of a kind are averaged: areas by logits, ratios by logarithms, and so on.

    Examples
    --------
    >>> effect_scale("AUC"), effect_scale("hazard ratio per SD"), effect_scale("difference in means")
    ('logit AUC', 'log hazard ratio per SD', 'difference in means')
    """
    if kind.startswith("AUC"):
        return f"logit {kind}"
    if "ratio" in kind:
        return f"log {kind}"
    return f"Fisher's z of {kind}" if "rho" in kind or "correlation" in kind else kind


def on_scale(values: FloatArray, kind: str) -> FloatArray:
    """Return effects of a kind on its scale; NaN where they are at the end of theirs."""
    scale = effect_scale(kind)
    with np.errstate(divide="ignore", invalid="ignore"):
        if scale.startswith("logit"):
            on_it: Any = np.log(values) - np.log1p(-values)
        elif scale.startswith("log "):
            on_it = np.log(values)
        else:
            on_it = np.arctanh(values) if scale.startswith("Fisher") else np.asarray(values, dtype=np.float64)
    return np.where(np.isfinite(on_it), on_it, np.nan)


def effect_and_error(effect: float, low: float, high: float, kind: str) -> tuple[float, float]:
    """Return an effect on its scale with its standard error; NaN where it is not known.

    Examples
    --------
    >>> effect, error = effect_and_error(2.0, 1.0, 4.0, "odds ratio")
    >>> round(effect, 3), round(error, 3)
    (0.693, 0.354)
    """
    value, begin, end = on_scale(np.array([effect, low, high], dtype=np.float64), kind).tolist()
    error = (end - begin) / (2 * REACH)
    return (value, error) if error > 0 and np.isfinite(value) else (np.nan, np.nan)
