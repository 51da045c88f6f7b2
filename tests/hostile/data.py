"""A small good table, from which the bad ones are made, and short names for calls that look at it."""

import numpy as np
import pandas as pd

import interplay

N_SAMPLES, N_VARS = 60, 5

_rng = np.random.default_rng(0)
X = _rng.normal(size=(N_SAMPLES, N_VARS))
Y = ((X[:, 1] > 0) ^ (X[:, 3] > 0)).astype(np.int64)
FRAME = pd.DataFrame(X, columns=[f"v{v}" for v in range(N_VARS)])

#: 0, 1 and 2, as genotypes are.
CODES = _rng.integers(0, 3, size=(N_SAMPLES, N_VARS))


def gains(table=X, y=Y, **settings):
    return interplay.max_information_gain(table, y, **settings)


def selected(table=X, y=Y, **settings):
    return interplay.select(table, y, **{"dimensions": 2, "n_contrast": 30, "random_state": 0} | settings)


def with_value(value, *, row=7, column=2):
    """The table with one value changed."""
    changed = X.copy()
    changed[row, column] = value
    return changed
