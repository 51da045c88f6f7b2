"""Rows, one per repetition → a summary, one line per cell."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from .repetition import FDR_METHODS, LEVEL, OTHER_FITS


def binomial_interval(n_hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a probability.

    Examples
    --------
    >>> [round(limit, 3) for limit in binomial_interval(10, 200)]
    [0.024, 0.09]
    """
    interval = stats.binomtest(n_hits, n).proportion_ci(confidence, method="exact")
    return float(interval.low), float(interval.high)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one line per cell, in the order of the rows, indexed by the cell's name."""
    rows = rows.astype(dict.fromkeys(rows.select_dtypes("float32"), "float64"))
    return pd.DataFrame(
        {cell: _of_cell(part) for cell, part in rows.groupby("cell", sort=False, observed=True)}
    ).T.infer_objects()


def fits_run(summary: pd.DataFrame) -> list[str]:
    """Return the fits that were compared in all of these cells: one that was added later may not have been."""
    return [fit for fit in OTHER_FITS if summary[f"any_{fit}"].notna().all()]


def too_bold(summary: pd.DataFrame, probability: str) -> pd.Series:
    """Say in which cells a probability is above the level by more than chance, given how many cells there are.

    One-sided, and at 0.05 over all cells together: of a hundred honest cells some exceed their own interval.
    """
    n_any = (summary[probability] * summary["repetitions"]).round().astype(int)
    chance = stats.binom.sf(n_any - 1, summary["repetitions"].astype(int), LEVEL)
    return pd.Series(chance < 0.05 / len(summary), index=summary.index)


def _of_cell(rows: pd.DataFrame) -> dict[str, object]:
    n = len(rows)
    n_any = int((rows["smallest_p_adjusted"] < LEVEL).sum())
    low, high = binomial_interval(n_any, n)
    n_silent = int(((rows["smallest_p_adjusted"] < LEVEL) & (rows["warned"] == "")).sum())
    silent_low, silent_high = binomial_interval(n_silent, n)
    planted = bool(rows["planted"].iloc[0])
    line = {
        "repetitions": n,
        "any_selected": n_any / n,
        "any_low": low,
        "any_high": high,
        "any_not_warned": n_silent / n,
        "not_warned_low": silent_low,
        "not_warned_high": silent_high,
        "share_below_05": rows["share_below_05"].mean(),
        "share_below_05_error": rows["share_below_05"].std() / np.sqrt(n),
        "share_below_01": rows["share_below_01"].mean(),
        "uniform_p": stats.kstest(rows["p_of_last"], "uniform").pvalue,
        "union_share": (rows["fit"] == "union").mean(),
        "warned_share": (rows["warned"] != "").mean(),
    }
    if "share_below_0005" in rows:
        line["share_below_0005"] = rows["share_below_0005"].mean()
    for fit in OTHER_FITS:
        line[f"any_{fit}"] = _mean(rows, f"any_{fit}")
        n_tests = rows.get(f"n_tests_{fit}", pd.Series(dtype=float)).dropna()
        if len(n_tests):
            line[f"n_tests_{fit}"] = n_tests.median()
            line[f"n_tests_{fit}_spread"] = np.log(n_tests).std()
    if planted:
        for method in FDR_METHODS:
            false, found = rows[f"n_false_{method}"], rows[f"n_found_{method}"]
            line[f"fdr_{method}"] = (false / np.maximum(false + found, 1)).mean()
            line[f"any_false_{method}"] = (false > 0).mean()
            line[f"found_{method}"] = found.mean()
    return line


def _mean(rows: pd.DataFrame, name: str) -> float:
    values = rows.get(name, pd.Series(dtype=float)).dropna()
    return float(values.astype(float).mean()) if len(values) else float("nan")
