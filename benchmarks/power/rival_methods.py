"""Methods of other packages, each with its default settings and one thread. Runs in an environment of its own."""

from __future__ import annotations

from collections.abc import Callable

import boruta
import fast_select
import mdfs
import numpy as np
import skrebate
from sklearn.ensemble import RandomForestClassifier

from power.call import Hints, best


def _boruta(X: np.ndarray, y: np.ndarray, hints: Hints) -> np.ndarray:
    # The forest that Boruta's documentation proposes.
    forest = RandomForestClassifier(n_jobs=1, class_weight="balanced", max_depth=5)
    return np.flatnonzero(boruta.BorutaPy(forest, n_estimators="auto", random_state=hints.seed).fit(X, y).support_)


def _mdfs(dimensions: int) -> Callable[[np.ndarray, np.ndarray, Hints], np.ndarray]:
    def select(X: np.ndarray, y: np.ndarray, hints: Hints) -> np.ndarray:
        # Its function for discrete variables stops with an UnboundLocalError. Genotypes go through the usual one, and
        # three levels serve them better than the default of two.
        found = mdfs.run(
            np.asfortranarray(X, dtype=np.float64),
            y.astype(np.int32),
            dimensions=dimensions,
            divisions=2 if hints.genotypes else 1,
            seed=hints.seed,
        )
        return np.asarray(found["relevant_variables"])

    return select


def _skrebate(algorithm: type) -> Callable[[np.ndarray, np.ndarray, Hints], np.ndarray]:
    return lambda X, y, hints: best(algorithm(n_jobs=1).fit(X, y).feature_importances_, hints.n_relevant)


def _fast_select(algorithm: type) -> Callable[[np.ndarray, np.ndarray, Hints], np.ndarray]:
    return lambda X, y, hints: best(
        algorithm(n_features_to_select=hints.n_relevant, backend="cpu", n_jobs=1).fit(X, y).feature_importances_,
        hints.n_relevant,
    )


def _mdr(X: np.ndarray, y: np.ndarray, hints: Hints) -> np.ndarray:
    return np.asarray(fast_select.MDR(k=hints.n_relevant, backend="cpu").fit(X.astype(int), y).best_interaction_)


FUNCTIONS: dict[str, Callable[[np.ndarray, np.ndarray, Hints], np.ndarray]] = {
    "boruta": _boruta,
    "mdfs_2d": _mdfs(2),
    "mdfs_3d": _mdfs(3),
    "skrebate_relieff": _skrebate(skrebate.ReliefF),
    "skrebate_multisurf": _skrebate(skrebate.MultiSURF),
    "fast_select_relieff": _fast_select(fast_select.ReliefF),
    "fast_select_multisurf": _fast_select(fast_select.MultiSURF),
    "fast_select_mdr": _mdr,
}

PACKAGES = {
    "boruta": "Boruta",
    "mdfs_2d": "mdfs",
    "mdfs_3d": "mdfs",
    "skrebate_relieff": "skrebate",
    "skrebate_multisurf": "skrebate",
    "fast_select_relieff": "fast-select",
    "fast_select_multisurf": "fast-select",
    "fast_select_mdr": "fast-select",
}
