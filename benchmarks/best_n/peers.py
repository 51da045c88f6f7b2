"""Orders of variables by packages that are no dependency: `requirements.txt`, best into a folder on PYTHONPATH."""

from __future__ import annotations

import numpy as np


def mrmr_selection(X: np.ndarray, y: np.ndarray, is_number: bool) -> np.ndarray:
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    frame = pd.DataFrame(X)
    call = mrmr_regression if is_number else mrmr_classif
    return np.array(call(frame, pd.Series(y), K=min(50, X.shape[1]), show_progress=False, n_jobs=1))


def multisurf(X: np.ndarray, y: np.ndarray, is_number: bool) -> np.ndarray:
    import skrebate

    return np.argsort(-skrebate.MultiSURF(n_jobs=1).fit(X, y).feature_importances_, kind="stable")


def boruta(X: np.ndarray, y: np.ndarray, is_number: bool) -> np.ndarray:
    """Variables of one rank by the importance of a forest."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = (RandomForestRegressor if is_number else RandomForestClassifier)(max_depth=5, random_state=0)
    found = BorutaPy(forest, n_estimators=100, max_iter=20, random_state=0).fit(X, y)
    importance = forest.set_params(n_estimators=100).fit(X, y).feature_importances_
    return np.lexsort((-importance, found.ranking_))


def ebm(X: np.ndarray, y: np.ndarray, is_number: bool) -> np.ndarray:
    """Boosted trees of one variable each: by mean absolute contribution, of products the half for each member."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingRegressor if is_number else ExplainableBoostingClassifier
    model = kind(outer_bags=4, interactions=0 if not is_number and len(np.unique(y)) > 2 else 10, n_jobs=1)
    model.fit(X, y)
    importance = np.zeros(X.shape[1])
    for members, value in zip(model.term_features_, model.term_importances(), strict=True):
        importance[list(members)] += value / len(members)
    return np.argsort(-importance, kind="stable")
