"""A method that users pick in place of `select`, with its defaults, on one table. Runs in an environment of its own.

python selection_peers.py METHOD DATA.npz

Prints the chosen variables and processor seconds. Methods that only rank variables are told how many to choose.
"""

import json
import resource
import sys
import time

import numpy as np

#: A method that takes longer is stopped.
_MOST_SECONDS = 30


def boruta(x, y, n_true):
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    # The forest that Boruta's documentation proposes.
    forest = RandomForestClassifier(n_jobs=1, class_weight="balanced", max_depth=5)
    return np.flatnonzero(BorutaPy(forest, n_estimators="auto", random_state=0).fit(x, y).support_)


def mutual_information(x, y, n_true):
    from sklearn.feature_selection import mutual_info_classif

    return best(mutual_info_classif(x, y, random_state=0), n_true)


def multisurf(x, y, n_true):
    from skrebate import MultiSURF

    return best(MultiSURF(n_jobs=1).fit(x, y).feature_importances_, n_true)


def mrmr(x, y, n_true):
    import pandas as pd
    from mrmr import mrmr_classif

    return mrmr_classif(pd.DataFrame(x), pd.Series(y), K=n_true, n_jobs=1, show_progress=False)


def ebm_fast(x, y, n_true):
    """Members of the pairs that FAST ranks first."""
    from interpret.utils import measure_interactions

    ranked = measure_interactions(x, y)
    return first_members([pair for pair, _ in ranked], n_true)


def xgboost_shap(x, y, n_true):
    """Members of the pairs with the largest mean SHAP interaction in 200 samples, a variable with itself included."""
    import xgboost

    model = xgboost.XGBClassifier(n_jobs=1, random_state=0).fit(x, y)
    values = model.get_booster().predict(xgboost.DMatrix(x[:200]), pred_interactions=True)[:, :-1, :-1]
    strength = np.abs(values).mean(axis=0)
    order = np.argsort(-strength, axis=None, kind="stable")
    return first_members(zip(*np.unravel_index(order, strength.shape), strict=True), n_true)


def mdfs_2d(x, y, n_true):
    import mdfs

    found = mdfs.run(np.asfortranarray(x, dtype=np.float64), y.astype(np.int32), dimensions=2, seed=0)
    return found["relevant_variables"]


def best(scores, n):
    return np.argsort(-np.asarray(scores), kind="stable")[:n]


def first_members(tuples, n):
    found = {}
    for members in tuples:
        for v in members:
            if len(found) < n:
                found[int(v)] = None
    return list(found)


METHODS = (boruta, mutual_information, multisurf, mrmr, ebm_fast, xgboost_shap, mdfs_2d)


def main():
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS + 5))
    method = {each.__name__: each for each in METHODS}[sys.argv[1]]
    data = np.load(sys.argv[2])
    x, y, n_true = data["x"].astype(np.float64), data["y"].astype(np.int64), max(len(data["true"]), 1)
    method(x[:40], y[:40], min(n_true, 5)) if method is not multisurf else None  # imports
    began = time.process_time()
    chosen = method(x, y, n_true)
    print(json.dumps({"chosen": [int(v) for v in chosen], "seconds": time.process_time() - began}))


if __name__ == "__main__":
    main()
