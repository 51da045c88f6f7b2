"""Orders of variables for models, each from training samples alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from pathlib import Path

import numpy as np

import interplay

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parents[1] / "build" / "best-n-peers"

#: Variables that an order has.
LONGEST = 50

#: Methods of `peers.py`, and the samples × variables up to which they run; the slow ones on the first fold of a table.
PEERS = {"mrmr_selection": 1 << 15, "multisurf": 1 << 17, "boruta": 1 << 16}
FIRST_FOLD_ONLY = ("mrmr_selection", "mutual information", "multisurf", "boruta", "sequential")

#: Variables up to which scikit-learn's sequential selection runs.
_MOST_SEQUENTIAL = 30


def methods() -> tuple[str, ...]:
    own = ("interplay", "smallest p", "F", "mRMR", "forest", "mutual information", "sequential")
    return (*own, *PEERS)


def order_by(
    method: str, X: np.ndarray, y: np.ndarray, *, is_number: bool, dimensions: tuple[int, ...]
) -> tuple[list[int], float] | None:
    """Return the first variables and the seconds of processor time; None where a method is not run."""
    if method in PEERS:
        return _by_peer(method, X, y, is_number) if X.size <= PEERS[method] else None
    if method == "sequential" and X.shape[1] > _MOST_SEQUENTIAL:
        return None
    started = time.process_time()
    order = _own(method, X, y, is_number, dimensions)
    return [int(v) for v in order[:LONGEST]], time.process_time() - started


def _own(method: str, X: np.ndarray, y: np.ndarray, is_number: bool, dimensions: tuple[int, ...]) -> np.ndarray:
    from sklearn import ensemble, feature_selection

    if method in ("interplay", "smallest p"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = interplay.select(X, y, dimensions=dimensions, random_state=0, n_jobs=1)
        return found.best(min(LONGEST, X.shape[1])).numbers if method == "interplay" else found.by_significance
    if method in ("F", "mRMR"):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
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

    The benchmark runs the package itself on small tables, beside this.
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


def python_of_peers() -> Path:
    """The interpreter of an environment that has the other packages."""
    python, ready = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "ready"
    wanted = HERE / "requirements.txt"
    if not ready.exists() or ready.read_text() != wanted.read_text():
        print("installing other packages into an environment of their own …", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", wanted], check=True)
        ready.write_text(wanted.read_text())
    return python


def _by_peer(method: str, X: np.ndarray, y: np.ndarray, is_number: bool) -> tuple[list[int], float]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, X=X, y=y, is_number=is_number)
        done = subprocess.run(
            [python_of_peers(), HERE / "peers.py", method, data],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    found = json.loads(done.stdout.splitlines()[-1])
    return found["order"], found["seconds"]
