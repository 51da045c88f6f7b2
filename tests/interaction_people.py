"""A table of people with columns of all kinds, and interactions() of it with all kinds of settings."""

import numpy as np
import pandas as pd

import interplay

#: What `result` knows.
KINDS = ["two levels", "three levels", "triples", "strata", "labels", "continuous", "replication", "empty", "omit"]


def people(seed, n=500):
    """A table of all kinds of columns, with an interaction of a number and a label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"g{v}" for v in range(8)])
    frame["city"] = rng.choice(["Bern", "Graz", "Kiel"], n)
    frame["smokes"] = rng.random(n) < 0.4
    frame["genotype"] = rng.integers(0, 3, n)
    ill = ((frame["g3"] > 0) ^ frame["smokes"]) ^ (rng.random(n) < 0.15)
    return frame, np.where(ill, "ill", "well")


def result(kind):
    X, y = people(0)
    if kind == "two levels":
        return interplay.interactions(X.drop(columns=["city", "genotype"]), y, top=5)
    if kind == "three levels":
        return interplay.interactions(X, y, divisions=2, top=5)
    if kind == "triples":
        return interplay.interactions(X, y, dimensions=3, top=4)
    if kind == "strata":
        return interplay.interactions(X, y, strata="city", top=5)
    if kind == "labels":
        return interplay.interactions(X[["city", "smokes", "g3"]], y, max_p=1)
    if kind == "continuous":
        rng = np.random.default_rng(1)
        outcome = 2 * ((X["g3"] > 0) ^ X["smokes"]) + rng.normal(size=len(X))
        return interplay.interactions(X, outcome, decision_divisions=2, top=3)
    if kind == "replication":
        return interplay.interactions(X, y, top=3, holdout=0.4)
    if kind == "omit":
        X.loc[:30, "g3"] = np.nan
        return interplay.interactions(X, y, missing="omit", top=3)
    return interplay.interactions(X[["g0", "g1", "g2"]], y)
