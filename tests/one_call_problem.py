"""A table with effects of every kind that select() looks for in one call, and what it finds there."""

from functools import cache

import numpy as np

import interplay

N_SAMPLES, N_VARS = 400, 45


@cache
def mixed_effects():
    """A shift, a U shape, a smooth product and an exclusive or of three."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N_SAMPLES, N_VARS))
    triple = np.sign(X[:, 20] * X[:, 21] * X[:, 22])
    score = 1.2 * X[:, 3] + 1.2 * (X[:, 9] ** 2 - 1) + 1.5 * X[:, 11] * X[:, 12] + 2.5 * triple
    return X, (score + rng.logistic(size=N_SAMPLES) > 0).astype(int)


@cache
def found_in_mixed_effects():
    return interplay.select(*mixed_effects(), random_state=0)
