"""Adjusted p-values and the order of significance, against R's and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from interplay.infer.p_values import (
    ADJUST_METHODS,
    adjust,
    chi2_tail,
    hazard,
    log_hazard,
    relevant_mask,
    significance_order,
)
from shared_data import REFERENCE, needs_shared

R_METHODS = ("holm", "BH", "BY", "bonferroni", "hochberg", "hommel")


def reference_files():
    return sorted(path.stem for path in REFERENCE.glob("*.npz")) if REFERENCE.is_dir() else []


@needs_shared
@pytest.mark.parametrize("stem", reference_files())
def test_adjust_equals_r(stem):
    with np.load(REFERENCE / f"{stem}.npz") as archive:
        reference = dict(archive)
    for key in [key for key in reference if key.endswith("_adj_holm")]:
        prefix = key.removesuffix("_adj_holm")
        # R adjusts p-values above 1, which the original has in mode "lin", without a word.
        p = np.minimum(reference[f"{prefix}_p_value"][: len(reference[key])], 1)
        for method in R_METHODS:
            original = np.minimum(reference[f"{prefix}_adj_{method}"], 1)
            np.testing.assert_allclose(adjust(p, method), original, rtol=1e-10)
        for method, level_key in (("holm", "relevant_holm05"), ("BY", "relevant_BY05")):
            found = np.flatnonzero(relevant_mask(adjust(p, method), level=0.05)) + 1
            assert found.tolist() == sorted(np.atleast_1d(reference[f"{prefix}_{level_key}"]))
        order = significance_order(p)
        relevant = relevant_mask(adjust(p))
        assert (order[relevant[order]] + 1).tolist() == list(
            np.atleast_1d(reference[f"{prefix}_relevant_holm05_ordered"])
        )


@pytest.mark.parametrize("method", ADJUST_METHODS)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_p_values_are_ordered_p_values(method, p):
    adjusted = adjust(p, method)
    assert ((adjusted >= 0) & (adjusted <= 1)).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


@pytest.mark.parametrize("method", ADJUST_METHODS)
def test_tiny_p_values_survive(method):
    adjusted = adjust([1e-300, 1e-200, 0.3, 0.9], method)
    assert 1e-301 < adjusted[0] < 1e-298
    assert 1e-201 < adjusted[1] < 1e-198


@pytest.mark.parametrize("method", ADJUST_METHODS)
def test_missing_p_values_are_not_tests(method):
    p = np.array([0.01, np.nan, 0.02, 0.5, np.nan])
    adjusted = adjust(p, method)
    assert np.isnan(adjusted[[1, 4]]).all()
    np.testing.assert_array_equal(adjusted[[0, 2, 3]], adjust(p[[0, 2, 3]], method))
    assert np.isnan(adjust([np.nan], method)).all()
    assert adjust([], method).shape == (0,)


def test_names_of_r_and_statsmodels_mean_the_same():
    p = np.random.default_rng(0).uniform(size=50) ** 3
    for mine, theirs in (("BH", "fdr_bh"), ("fdr", "fdr_bh"), ("BY", "fdr_by"), ("hochberg", "simes-hochberg")):
        np.testing.assert_array_equal(adjust(p, mine), adjust(p, theirs))
    np.testing.assert_array_equal(adjust(p, "none"), p)


def test_input_is_not_changed():
    p = np.array([0.01, 0.2])
    adjust(p, "none")[0] = 9
    assert p.tolist() == [0.01, 0.2]


def test_level_is_checked():
    with pytest.raises(ValueError, match="level must be"):
        adjust([0.1], level=0.0)
    with pytest.raises(ValueError, match="level must be"):
        relevant_mask([0.1], level=1.5)


def test_relevant_is_strictly_below_the_level():
    assert relevant_mask([0.049, 0.05, np.nan, 1.0]).tolist() == [True, False, False, False]


def test_order_is_by_p_then_gain_then_position():
    p = [0.5, 0.0, np.nan, 0.0, 0.5]
    assert significance_order(p, [1.0, 5.0, -np.inf, 9.0, 1.0]).tolist() == [3, 1, 0, 4, 2]
    assert significance_order(p).tolist() == [1, 3, 0, 4, 2]
    with pytest.raises(ValueError, match="one entry per p-value"):
        significance_order(p, [1.0])


@pytest.mark.parametrize("df", [1.0, 2.0, 16.0, 162.0])
def test_chi2_functions(df):
    x = np.array([1e-8, 0.1, 1.0, 10.0, 100.0, 1000.0])
    np.testing.assert_allclose(chi2_tail(x, df), stats.chi2.sf(x, df), rtol=1e-10)
    reachable = stats.chi2.cdf(x, df) > 0
    tail = stats.chi2.sf(x, df)
    # logcdf of older scipy is 0 where the tail is small.
    minus_logcdf = np.where(tail < 0.5, -np.log1p(-np.minimum(tail, 0.5)), -stats.chi2.logcdf(x, df))
    np.testing.assert_allclose(hazard(x, df)[reachable], minus_logcdf[reachable], rtol=1e-10)
    assert np.isposinf(hazard(x, df)[~reachable]).all()
    positive = np.isfinite(hazard(x, df)) & (hazard(x, df) > 0)
    np.testing.assert_allclose(log_hazard(x, df)[positive], np.log(hazard(x, df)[positive]), rtol=1e-10)
    # Far in the tail ln T is ln V ≈ −x/2 + (df/2 − 1)·ln(x/2) − ln Γ(df/2).
    far = log_hazard(np.array([1e6]), df)[0]
    assert far == pytest.approx(-5e5, rel=0.01)
    assert np.isnan(hazard(np.array([np.nan]), df)).all()
