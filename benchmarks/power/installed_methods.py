"""Methods that need nothing but interplay and what it depends on: functions of X, y and what a method may be told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import stats
from sklearn.feature_selection import SelectFdr, f_classif, mutual_info_classif

import interplay
from interplay.infer.p_values import adjust
from power.call import Hints, best

LEVEL = 0.05


def _interplay(X: np.ndarray, y: np.ndarray, hints: Hints, *, dimensions: int | str, p_adjust: str) -> np.ndarray:
    found = interplay.select(X, y, dimensions=dimensions, p_adjust=p_adjust, random_state=hints.seed, n_jobs=1)
    return found.ranked


def _welch(X: np.ndarray, y: np.ndarray, hints: Hints, *, p_adjust: str) -> np.ndarray:
    """Welch's t-test; of more than two classes, the analysis of variance of equal variances."""
    groups = [X[y == label] for label in np.unique(y)]
    test = stats.ttest_ind(*groups, equal_var=False) if len(groups) == 2 else stats.f_oneway(*groups)
    return _below_level(test.pvalue, p_adjust)


def _rank(X: np.ndarray, y: np.ndarray, hints: Hints, *, p_adjust: str) -> np.ndarray:
    """Mann and Whitney's test; of more than two classes, Kruskal and Wallis'."""
    groups = [X[y == label] for label in np.unique(y)]
    test = stats.mannwhitneyu(*groups) if len(groups) == 2 else stats.kruskal(*groups)
    return _below_level(test.pvalue, p_adjust)


def _below_level(p_value: np.ndarray, p_adjust: str) -> np.ndarray:
    return np.flatnonzero(adjust(np.nan_to_num(p_value, nan=1.0), p_adjust) < LEVEL)


def _select_fdr(X: np.ndarray, y: np.ndarray, hints: Hints) -> np.ndarray:
    return SelectFdr(f_classif, alpha=LEVEL).fit(X, y).get_support(indices=True)


def _mutual_info(X: np.ndarray, y: np.ndarray, hints: Hints) -> np.ndarray:
    scores = mutual_info_classif(X, y, discrete_features=hints.genotypes, random_state=hints.seed)
    return best(scores, hints.n_relevant)


FUNCTIONS: dict[str, Callable[[np.ndarray, np.ndarray, Hints], np.ndarray]] = {
    **{
        f"interplay_{k}d_{adjust.lower()}": partial(_interplay, dimensions=k, p_adjust=adjust)
        for k in (1, 2, 3, 4)
        for adjust in ("holm", "BH")
    },
    "interplay_auto_holm": partial(_interplay, dimensions="auto", p_adjust="holm"),
    "interplay_auto_bh": partial(_interplay, dimensions="auto", p_adjust="BH"),
    "welch": partial(_welch, p_adjust="BH"),
    "welch_holm": partial(_welch, p_adjust="holm"),
    "rank": partial(_rank, p_adjust="BH"),
    "rank_holm": partial(_rank, p_adjust="holm"),
    "select_fdr": _select_fdr,
    "mutual_info": _mutual_info,
}

PACKAGES = {
    **{name: "interplay" for name in FUNCTIONS if name.startswith("interplay")},
    **dict.fromkeys(["welch", "welch_holm", "rank", "rank_holm"], "scipy"),
    "select_fdr": "scikit-learn",
    "mutual_info": "scikit-learn",
}
