"""Selections of several studies → Combined: the p-values of each variable by Fisher's method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.results.combined import COMBINED_METHODS, Combined
from interplay.results.selection import Selection
from interplay.statistics.combined_studies import summed_chi2
from interplay.statistics.p_values import adjust


def combined_variables(read: Sequence[Selection], studies: list[str], settings: dict[str, Any]) -> Combined:
    """Combine variables, matched by their names; each p-value is one of two degrees of freedom."""
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
    no_effect, no_effects = np.full(len(names), np.nan), np.full(log_p.shape, np.nan)
    return Combined(
        kind="variables",
        names=names,
        studies=studies,
        tuples=order[:, np.newaxis].astype(np.int64),
        log_p_studies=log_p[order],
        effects=no_effects,
        errors=no_effects,
        status=[_status(studies, known[row].tolist()) for row in order.tolist()],
        method=np.where(is_combined, COMBINED_METHODS.index("p-values"), -1)[order],
        statistic=combined.statistic[order],
        df=combined.df[order],
        log_p=combined.log_p[order],
        p_adjusted=p_adjusted[order],
        effect=no_effect,
        error=no_effect,
        q=no_effect,
        q_df=np.zeros(len(names), dtype=np.int64),
        log_p_heterogeneity=no_effect,
        i2=no_effect,
        of_cutting=np.zeros(len(names), dtype=bool),
        n_tests=int(is_combined.sum()),
        effect_name="",
        settings=settings,
        provenance={"studies": [_record(one) for one in read], "selected_in": []},
    )


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
