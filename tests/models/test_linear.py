"""Least squares against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

from interplay.data.models.linear import fit_linear, independent_columns


def test_against_statsmodels():
    rng = np.random.default_rng(0)
    columns = np.column_stack([np.ones(50), rng.normal(size=(50, 3)) * [1, 1e4, 1e-4]])
    offset = rng.normal(size=50)
    scores = columns @ [1.0, 2.0, 3e-4, 0.0] + offset + rng.normal(size=50)
    expected = sm.OLS(scores - offset, columns).fit()
    fit = fit_linear(scores, columns, offset)
    assert fit.coefficients == pytest.approx(expected.params, rel=1e-8)
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(expected.bse, rel=1e-8)
    assert fit.residuals == pytest.approx(expected.resid)
    assert fit.df_residual == 46


def test_dependent_columns():
    rng = np.random.default_rng(0)
    columns = np.column_stack([np.ones(20), rng.normal(size=20)])
    scores = rng.normal(size=20)
    more = np.column_stack([columns, columns.sum(axis=1), np.zeros(20)])
    fit, plain = fit_linear(scores, more), fit_linear(scores, columns)
    assert fit.coefficients == pytest.approx([*plain.coefficients, 0, 0])
    assert fit.df_residual == plain.df_residual == 18
    assert fit.residuals == pytest.approx(plain.residuals)
    assert np.isnan(np.diag(fit.covariance)).tolist() == [False, False, True, True]
    assert independent_columns(more).shape == (20, 2)


def test_no_columns_and_no_samples_left_over():
    scores = np.arange(3.0)
    fit = fit_linear(scores, np.empty((3, 0)))
    assert (fit.residuals == scores).all()
    assert fit.df_residual == 3
    full = fit_linear(scores, np.eye(3))
    assert full.df_residual == 0
    assert np.isnan(full.covariance).all()
