"""Methods that need nothing but interplay and what it depends on: functions of X, y and what a method may be told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import stats
from sklearn.feature_selection import SelectFdr, f_classif, mutual_info_classif

import interplay
from power.call import Hints, best

LEVEL = 0.05


def _interplay(X: np.ndarray, y: np.ndarray, hints: Hints, *, dimensions: int, p_adjust: str) -> np.ndarray:
    found = interplay.select(X, y, dimensions=dimensions, p_adjust=p_adjust, random_state=hints.seed, n_jobs=1)
    return found.ranked


def _welch(X: np.ndarray, y: np.ndarray, hints: Hints) -> np.ndarray:
    p_value = stats.ttest_ind(X[y == 0], X[y == 1], equal_var=False).pvalue
    return np.flatnonzero(stats.false_discovery_control(p_value) < LEVEL)


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
    "welch": _welch,
    "select_fdr": _select_fdr,
    "mutual_info": _mutual_info,
}

PACKAGES = {
    **{name: "interplay" for name in FUNCTIONS if name.startswith("interplay")},
    "welch": "scipy",
    "select_fdr": "scikit-learn",
    "mutual_info": "scikit-learn",
}
