"""Orders of variables for models, each from training samples alone."""

from __future__ import annotations

import importlib.util
import time
import warnings

import numpy as np

import interplay
from benchmarks.best_n import peers

#: Variables that an order has.
LONGEST = 50

#: Methods of `peers.py`: the module that each needs, and the samples × variables up to which it runs.
PEERS = {
    "mrmr_selection": ("mrmr", 1 << 15),
    "multisurf": ("skrebate", 1 << 19),
    "boruta": ("boruta", 1 << 19),
    "ebm": ("interpret", 1 << 16),
}

#: What takes long comes last.
SLOW = ("sequential", "mutual information", *PEERS)

#: Variables up to which scikit-learn's sequential selection runs: of classes, of numbers.
_MOST_SEQUENTIAL = (30, 110)


def methods() -> list[str]:
    own = ["interplay", "F", "mRMR", "forest", "mutual information", "sequential"]
    return own + [name for name, (module, _) in PEERS.items() if importlib.util.find_spec(module)]


def order_by(
    method: str, X: np.ndarray, y: np.ndarray, *, is_number: bool, dimensions: tuple[int, ...]
) -> tuple[list[int], float] | None:
    """Return the first variables and the seconds of processor time; None where a method is not run."""
    if method in PEERS and X.size > PEERS[method][1]:
        return None
    if method == "sequential" and X.shape[1] > _MOST_SEQUENTIAL[is_number]:
        return None
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method in PEERS:
            order = getattr(peers, method)(X, y, is_number)
        else:
            order = _own(method, X, y, is_number, dimensions)
    return [int(v) for v in order[:LONGEST]], time.process_time() - started


def _own(method: str, X: np.ndarray, y: np.ndarray, is_number: bool, dimensions: tuple[int, ...]) -> np.ndarray:
    from sklearn import ensemble, feature_selection

    if method in ("interplay", "smallest p"):
        found = interplay.select(X, y, dimensions=dimensions, random_state=0, n_jobs=1)
        return found.best(min(LONGEST, X.shape[1])).numbers if method == "interplay" else found.by_significance
    if method in ("F", "mRMR"):
        with np.errstate(all="ignore"):
            test = feature_selection.f_regression if is_number else feature_selection.f_classif
            f = np.nan_to_num(test(X, y)[0])
        return np.argsort(-f, kind="stable") if method == "F" else _mrmr(X, f)
    if method == "mutual information":
        name = "mutual_info_regression" if is_number else "mutual_info_classif"
        return np.argsort(-getattr(feature_selection, name)(X, y, random_state=0), kind="stable")
    if method == "forest":
        kind = ensemble.RandomForestRegressor if is_number else ensemble.RandomForestClassifier
        return np.argsort(-kind(300, random_state=0).fit(X, y).feature_importances_, kind="stable")
    return _sequential(X, y, is_number)


def _mrmr(X: np.ndarray, f: np.ndarray) -> np.ndarray:
    """F over the mean correlation with those before: `mrmr_selection`, which takes minutes for 4000 columns.

    The benchmark runs the package itself on small tables, beside this, where it is installed.
    """
    rows = (X - X.mean(axis=0)).T
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    chosen = [int(np.argmax(f))]
    like = np.zeros(len(rows))
    while len(chosen) < min(LONGEST, len(rows)):
        like += np.maximum(np.abs(rows @ rows[chosen[-1]]), 0.001)  # as the package clips it
        score = f / (like / len(chosen))
        score[chosen] = -1.0
        chosen.append(int(np.argmax(score)))
    return np.array(chosen)


def _sequential(X: np.ndarray, y: np.ndarray, is_number: bool) -> np.ndarray:
    """Forward, one variable after the other, by cross-validated linear models; the rest of the columns last."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), Ridge() if is_number else LogisticRegression(max_iter=300))
    chosen: list[int] = []
    while len(chosen) < min(10, X.shape[1]):
        left = [v for v in range(X.shape[1]) if v not in chosen]
        chosen.append(max(left, key=lambda v: cross_val_score(model, X[:, [*chosen, v]], y, cv=4).mean()))
    return np.array(chosen)
