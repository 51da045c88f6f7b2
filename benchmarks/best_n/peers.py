"""Orders of variables by packages that are no dependency, in an environment of their own.

python peers.py METHOD DATA.npz
"""

import json
import sys
import time

import numpy as np


def mrmr_selection(X, y, is_number):
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    frame = pd.DataFrame(X)
    call = mrmr_regression if is_number else mrmr_classif
    return call(frame, pd.Series(y), K=min(50, X.shape[1]), show_progress=False, n_jobs=1)


def multisurf(X, y, is_number):
    import skrebate

    return np.argsort(-skrebate.MultiSURF(n_jobs=1).fit(X, y).feature_importances_)


def boruta(X, y, is_number):
    """Variables of one rank by the importance of a forest."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = (RandomForestRegressor if is_number else RandomForestClassifier)(max_depth=5, random_state=0)
    found = BorutaPy(forest, n_estimators=100, max_iter=20, random_state=0).fit(X, y)
    importance = forest.set_params(n_estimators=100).fit(X, y).feature_importances_
    return np.lexsort((-importance, found.ranking_))


data = np.load(sys.argv[2])
started = time.process_time()
order = globals()[sys.argv[1]](data["X"], data["y"], bool(data["is_number"]))
print(json.dumps({"order": [int(v) for v in order][:50], "seconds": time.process_time() - started}))
