"""Selections of several studies → Combined: the p-values of each variable by Fisher's method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray
from interplay.infer.combined_studies import fixed_effect, summed_chi2
from interplay.infer.p_values import adjust
from interplay.show.results.combined import COMBINED_METHODS, Combined
from interplay.show.results.selection import Selection


def combined_variables(read: Sequence[Selection], studies: list[str], settings: dict[str, Any]) -> Combined:
    """Combine variables, matched by their names: p-values by Fisher's method, effects by their inverse variances."""
    names = list(dict.fromkeys(name for one in read for name in one.names))
    number_of = {name: number for number, name in enumerate(names)}
    log_p = np.full((len(names), len(read)), np.nan)
    for place, one in enumerate(read):
        log_p[[number_of[name] for name in one.names], place] = one.log_p
    known = ~np.isnan(log_p)
    combined = summed_chi2(log_p, np.where(known, 2, 0))
    is_combined = known.sum(axis=1) >= 2
    p_adjusted = adjust(np.exp(combined.log_p), settings["p_adjust"], level=settings["level"])
    order = np.lexsort((np.arange(len(names)), np.where(is_combined, combined.log_p, np.inf)))
    effects, errors, scales = _effects(read, number_of, known)
    average = fixed_effect(effects, errors)
    return Combined(
        kind="variables",
        names=names,
        studies=studies,
        tuples=order[:, np.newaxis].astype(np.int64),
        log_p_studies=log_p[order],
        effects=effects[order],
        errors=errors[order],
        status=[_status(studies, known[row].tolist()) for row in order.tolist()],
        method=np.where(is_combined, COMBINED_METHODS.index("p-values"), -1)[order],
        statistic=combined.statistic[order],
        df=combined.df[order],
        log_p=combined.log_p[order],
        p_adjusted=p_adjusted[order],
        effect=average.estimate[order],
        error=average.error[order],
        q=average.q[order],
        q_df=average.df[order],
        log_p_heterogeneity=average.log_p_heterogeneity[order],
        i2=average.i2[order],
        of_cutting=np.zeros(len(names), dtype=bool),
        n_tests=int(is_combined.sum()),
        effect_name="effect" if any(scales) else "",
        effect_scale=[scales[row] for row in order.tolist()],
        settings=settings,
        provenance={"studies": [_record(one) for one in read], "selected_in": []},
    )


def _effects(
    read: Sequence[Selection], number_of: dict[str, int], known: BoolArray
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return effects and errors of variables, (n_vars, n_studies), and the scale of each.

    Selections have effects of their relevant variables. An average over the studies in which a variable is relevant
    would be too large, so that all studies that have the variable must have its effect, of one kind.
    """
    effects, errors = np.full(known.shape, np.nan), np.full(known.shape, np.nan)
    kinds: list[list[str]] = [[] for _ in number_of]
    for place, one in enumerate(read):
        table = one.table
        if not {"effect", "effect_low", "effect_high", "effect_kind"} <= set(table.columns):
            continue
        of_study = zip(
            *(table[name].tolist() for name in ("variable", "effect", "effect_low", "effect_high", "effect_kind")),
            strict=True,
        )
        for name, effect, low, high, kind in of_study:
            if isinstance(kind, str) and kind:
                row = number_of[name]
                effects[row, place], errors[row, place] = effect_and_error(effect, low, high, kind)
                kinds[row].append(kind)
    is_whole = (np.isfinite(errors) == known).all(axis=1) & (known.sum(axis=1) >= 2)
    is_whole &= np.array([len(set(of_row)) == 1 for of_row in kinds], dtype=bool)
    effects[~is_whole], errors[~is_whole] = np.nan, np.nan
    return effects, errors, [effect_scale(kinds[row][0]) if is_whole[row] else "" for row in range(len(kinds))]


def _status(studies: list[str], known: list[bool]) -> str:
    if sum(known) < 2:
        return "in one study only" if any(known) else "not tested"
    without = [name for name, is_known in zip(studies, known, strict=True) if not is_known]
    return f"combined without {', '.join(without)}" if without else "combined"


def _record(one: Selection) -> dict[str, Any]:
    return {
        "n_samples": int(one.provenance["n_samples"]),
        "data_fingerprint": one.provenance.get("data_fingerprint"),
        "n_tests": len(one.names),
        "is_replication": False,
        "versions": dict(one.provenance.get("versions", {})),
    }


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
