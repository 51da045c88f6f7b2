"""Interactions of hazards: against statsmodels, and where censoring depends on a member."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2, kstest

import interplay
from interplay.base.arrays import DecisionClasses
from interplay.models.cox import martingale_residuals
from interplay.statistics.interaction.beside_test import interaction_beside, nested_models
from interplay.statistics.survival.cox_interaction import cox_interaction, hazard_interaction


def censored_by_b(seed, n=1000, *, product=0.0, n_vars=2):
    """Log hazards of a and b add up, but for a product; b is seen ten times as long where it is 1."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_vars))
    a, b = X[:, 0], X[:, 1]
    time = rng.exponential(np.exp(-1.5 * a - 1.5 * b - product * a * b))
    last = rng.exponential(np.where(b == 1, 1.0, 0.1))
    return X, np.minimum(time, last), time <= last


def models_of(X):
    outcome = DecisionClasses(np.zeros(len(X), dtype=np.int64), ["all"])
    return nested_models(outcome, X[:, :2].T.astype(np.int64), np.empty((len(X), 0)))


def test_against_statsmodels():
    X, time, event = censored_by_b(0, product=1.0)
    columns = np.column_stack([X, X[:, 0] * X[:, 1]]).astype(float)
    fits = [sm.PHReg(time, each, status=event * 1, ties="efron").fit(disp=0) for each in (columns, columns[:, :2])]
    found, df = cox_interaction(time, event, models_of(X))
    assert (found, df) == (pytest.approx(2 * (fits[0].llf - fits[1].llf), abs=1e-5), 1)
    effect = hazard_interaction(time, event, X.T)
    assert effect.log_ratio == pytest.approx(fits[0].params[2], abs=1e-5)
    assert [effect.low, effect.high] == pytest.approx(fits[0].conf_int()[2], abs=1e-4)


def test_some_samples_strata_and_entries():
    X, time, event = censored_by_b(0, product=1.0)
    rows = np.flatnonzero(np.arange(1000) % 3)
    strata, entry, offset = np.arange(1000) % 4, time * 0.3, np.linspace(0, 1, 1000)
    models = models_of(X)._replace(rows=rows, columns=models_of(X).columns[rows])
    found = cox_interaction(time, event, models, entry=entry, strata=strata, offset=offset)
    columns = np.column_stack([X, X[:, 0] * X[:, 1]]).astype(float)[rows]
    fits = [
        sm.PHReg(time[rows], each, status=event[rows] * 1, entry=entry[rows], strata=strata[rows],
                 offset=offset[rows], ties="efron").fit(disp=0).llf
        for each in (columns, columns[:, :2])
    ]  # fmt: skip
    assert found == (pytest.approx(2 * (fits[0] - fits[1]), abs=1e-5), 1)


def test_p_values_are_uniform_where_censoring_depends_on_a_member():
    hazards, classes = [], []
    for seed in range(200):
        X, time, event = censored_by_b(seed, 500)
        models = models_of(X)
        hazards.append(chi2.sf(cox_interaction(time, event, models)[0], 1))
        residuals = martingale_residuals(time, event)
        outcome = DecisionClasses((residuals > np.median(residuals)).astype(np.int64), ["low", "high"])
        classes.append(chi2.sf(interaction_beside(outcome, models)[0], 1))
    assert kstest(hazards, "uniform").pvalue > 0.001
    assert np.mean(np.array(classes) < 0.05) > 0.5  # residuals that are cut do interact


def test_no_interval_without_all_cells():
    X, time, event = censored_by_b(0)
    kept = (X[:, 0] == 0) | (X[:, 1] == 0)
    assert np.isnan(hazard_interaction(time[kept], event[kept], X[kept].T)).all()


@pytest.mark.parametrize("seed", range(4))
def test_verdicts_of_select(seed):
    """Effects that add up are no interaction because of censoring; a product is one."""
    X, time, event = censored_by_b(seed, n_vars=8)
    found = interplay.select(X, (time, event), dimensions=2, random_state=0)
    assert "x0" in found.relevant
    assert "interaction" not in found.table["verdict"].tolist()
    X, time, event = censored_by_b(seed, n_vars=8, product=-3.0)
    found = interplay.select(X, (time, event), dimensions=2, random_state=0)
    assert found.table.loc[0, "verdict"] == "interaction"
