"""Tables whose effects add up, and tables of two variables that interact."""

import numpy as np


def additive(seed, n=500, n_vars=30):
    """logit = 2 x₀ + 2 x₁: two effects that add up, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_vars))
    return X, rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0] - 2 * X[:, 1]))


def xor(seed, n=400, n_vars=15, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_vars))
    return X, ((X[:, 2] > 0) ^ (X[:, 9] > 0)) ^ (rng.random(n) < noise)
