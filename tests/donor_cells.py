"""Cells of donors: samples that are not independent of each other."""

import numpy as np


def donors(n_donors=20, n_cells=15, n_vars=12, icc=0.3, seed=0):
    """Cells of donors, every second of them ill, and nothing to be found."""
    rng = np.random.default_rng(seed)
    donor = np.repeat(np.arange(n_donors), n_cells)
    own = rng.normal(size=(len(donor), n_vars)) * np.sqrt(1 - icc)
    X = own + np.sqrt(icc) * rng.normal(size=(n_donors, n_vars))[donor]
    return X, donor % 2, donor
