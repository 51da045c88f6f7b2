"""RERI: the interaction on the additive scale, compared with logistic models of statsmodels and the delta method."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import interplay
from interplay.infer.interaction.effect import relative_excess_risk


def statsmodels_reri(counts):
    """RERI of a 2 × 2 × 2 table by a logistic model with a product, and its interval by the delta method."""
    cells = np.array([[1, a, b, a * b] for a in (0, 1) for b in (0, 1)], dtype=float)
    y = counts.reshape(4, 2)[:, ::-1] + 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model fits every cell
        fit = sm.GLM(y, cells, family=sm.families.Binomial()).fit(tol=1e-12, maxiter=100)
    _, a, b, ab = fit.params
    both = np.exp(a + b + ab)
    slopes = np.array([0, both - np.exp(a), both - np.exp(b), both])
    estimate = both - np.exp(a) - np.exp(b) + 1
    error = np.sqrt(slopes @ fit.cov_params() @ slopes)
    return estimate, estimate - 1.959964 * error, estimate + 1.959964 * error


@pytest.mark.parametrize("seed", range(8))
def test_reri_and_its_interval_are_those_of_a_logistic_model(seed):
    counts = np.random.default_rng(seed).integers(3, 200, size=(2, 2, 2))
    found = relative_excess_risk(counts[np.newaxis, np.newaxis], np.ones((1, 1), dtype=np.int64))
    assert [float(one[0]) for one in found] == pytest.approx(statsmodels_reri(counts), rel=1e-5)


def test_strata_are_weighted_by_their_variances():
    counts = np.random.default_rng(0).integers(5, 200, size=(2, 2, 2, 2))
    found = relative_excess_risk(counts[np.newaxis], np.ones((1, 2), dtype=np.int64))
    parts = [statsmodels_reri(each) for each in counts]
    weights = [1 / (high - low) ** 2 for _, low, high in parts]
    mean = sum(w * estimate for w, (estimate, _, _) in zip(weights, parts, strict=True)) / sum(weights)
    assert found.estimate[0] == pytest.approx(mean, rel=1e-5)


def test_other_tables_have_none():
    for shape in ((1, 1, 3, 2, 2), (1, 1, 2, 2, 3), (1, 1, 2, 2, 2, 2)):
        found = relative_excess_risk(np.full(shape, 9), np.ones((1, 1), dtype=np.int64))
        assert np.isnan(found.estimate).all()


def risks(table, n=6000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, size=(n, 4)), columns=list("abcd"))
    p = np.array([table[a, b] for a, b in zip(frame["a"], frame["b"], strict=True)])
    return frame, np.where(rng.random(n) < p, "ill", "well")[:, np.newaxis].ravel()


def test_scales_of_classes():
    """Classes are in the order of their names: odds are those of "well"."""
    same = {(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.8, (1, 1): 0.2}
    frame, y = risks(same)
    found = interplay.interactions(frame, y)
    row = found.table.iloc[0]
    assert row["members"] == ("a", "b")
    assert row["scales"] == "both"
    assert row["reri_low"] > 0
    assert row["log_or"] > 0
    assert "1 of 1 on both scales, log odds and risks" in found.summary()
    # Risks that add up: 2 + 2 − 1 = 3 times the odds, less than the product.
    odds = {(0, 0): 0.1, (0, 1): 0.5, (1, 0): 0.5, (1, 1): 0.9}
    added = {cell: 1 - value / (1 + value) for cell, value in odds.items()}
    found = interplay.interactions(*risks(added, 20_000))
    assert found.table["scales"][0] == "log odds only"
    assert found.table["reri_low"][0] < 0 < found.table["reri_high"][0]
    assert "on log odds only" in found.summary()


def test_numbers_say_their_scales():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, size=(600, 4)), columns=list("abcd"))
    y = (frame["a"] ^ frame["b"]).to_numpy() + rng.normal(size=600)
    assert "on both scales, ranks and values" in interplay.interactions(frame, y).summary()
