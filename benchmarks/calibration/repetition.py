"""One repetition of a cell → one row: what select() makes of a table, and what other fits would make of it."""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from typing import Any

import numpy as np

import interplay
from interplay.infer.p_values import adjust

from .cells import Cell
from .null_data import N_PLANTED, make_data

LEVEL = 0.05
OTHER_FITS = ("lsq", "mle", "weibull", "tail", "predictive", "union")
FDR_METHODS = ("holm", "BH", "BY")


def repeat(cell: Cell, repetition: int) -> dict[str, Any]:
    X, y, strata = make_data(cell, repetition)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = interplay.select(
            X,
            y,
            dimensions=cell.dimensions or "auto",
            divisions=cell.divisions,
            discretizations=cell.discretizations,
            n_contrast=cell.n_contrast,
            strata=strata,
            random_state=repetition,
        )
    p = result.p_value
    fits = [run.null_fit for run in result.runs]
    row = {
        "repetition": repetition,
        "smallest_p_adjusted": float(result.p_adjusted.min()),
        # Of one variable, which is the same in all repetitions: these are independent, those of a table are not.
        "p_of_last": float(p[-1]),
        "share_below_05": float((p < 0.05).mean()),
        "share_below_01": float((p < 0.01).mean()),
        "fit": fits[0].fit if cell.dimensions else "combined",
        "ks_p": fits[0].ks_p if cell.dimensions else math.nan,
        "warned": " | ".join(sorted({str(warning.message) for warning in caught})),
    }
    if cell.planted:
        row |= _found_and_false(p)
    if cell.dimensions == 0:
        row |= {f"any_test_{test.name.replace(' ', '_')}": _any_selected(test.log_p) for test in result.tests}
        row |= {"share_below_0005": float((p < 0.0005).mean())}
    elif fits[0].mode != "raw":
        row |= _other_fits(result, cell)
    return row


def _any_selected(log_p: np.ndarray) -> bool:
    """Say whether a test by itself would have selected anything."""
    p = np.exp(log_p[~np.isnan(log_p)])
    return bool(len(p) and adjust(p).min() < LEVEL)


def _found_and_false(p: np.ndarray) -> dict[str, float]:
    row = {}
    for method in FDR_METHODS:
        selected = adjust(p, method) < LEVEL
        row[f"n_found_{method}"] = int(selected[:N_PLANTED].sum())
        row[f"n_false_{method}"] = int(selected[N_PLANTED:].sum())
    return row


def _other_fits(result: interplay.Selection, cell: Cell) -> dict[str, Any]:
    gains = result.gains
    row: dict[str, Any] = {}
    for fit in OTHER_FITS:
        with warnings.catch_warnings(), suppress(ValueError):  # where all gains are the same, there is no shape to fit
            warnings.simplefilter("ignore")  # a search may end at its bounds
            null = interplay.fit_null(
                gains.gain,
                dimensions=cell.dimensions,
                divisions=cell.divisions,
                discretizations=cell.discretizations,
                contrast_gain=gains.contrast_gain,
                contrast_df=gains.contrast_df,
                df=gains.df,
                fit=fit,
                n_classes=len(cell.shares),
            )
            row[f"any_{fit}"] = bool(adjust(null.p_values()).min() < LEVEL)
            if fit != "union" and cell.n_contrast != "auto":
                row[f"n_tests_{fit}"] = _number_of_tests(null)
    return row


def _number_of_tests(null: interplay.NullFit) -> float:
    """Return how many independent tests would put p = 0.05 at the same gain; for "weibull", γ alone means little."""
    hazard = -math.log1p(-0.05)
    return hazard / (hazard / null.gamma) ** (1 / null.delta)
