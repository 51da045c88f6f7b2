"""Fixed effects and sums of χ² over studies, beside statsmodels and SciPy."""

import numpy as np
import pytest
from scipy.stats import chi2, combine_pvalues
from statsmodels.stats.meta_analysis import combine_effects

from interplay.infer.combined_studies import fixed_effect, summed_chi2


@pytest.mark.parametrize("n_studies", [2, 3, 12])
def test_fixed_effect_is_that_of_statsmodels(n_studies):
    rng = np.random.default_rng(n_studies)
    effects, errors = rng.normal(0.3, 0.5, (40, n_studies)), rng.uniform(0.05, 0.6, (40, n_studies))
    ours = fixed_effect(effects, errors)
    for row in range(len(effects)):
        theirs = combine_effects(effects[row], errors[row] ** 2)
        table = theirs.summary_frame().loc["fixed effect"]
        assert ours.estimate[row] == pytest.approx(table["eff"], rel=1e-12)
        assert ours.error[row] == pytest.approx(table["sd_eff"], rel=1e-12)
        homogeneity = theirs.test_homogeneity()
        assert ours.q[row] == pytest.approx(homogeneity.statistic, rel=1e-9)
        assert ours.df[row] == n_studies - 1
        assert np.exp(ours.log_p_heterogeneity[row]) == pytest.approx(homogeneity.pvalue, rel=1e-9)
        assert ours.i2[row] == pytest.approx(max(theirs.i2, 0.0), rel=1e-9, abs=1e-12)
        assert np.exp(ours.log_p[row]) == pytest.approx(2 * _normal_tail(abs(table["eff"] / table["sd_eff"])), rel=1e-9)


def _normal_tail(z):
    from scipy.stats import norm

    return float(norm.sf(z))


def test_studies_without_an_effect_are_left_out():
    with_gap = fixed_effect([[0.2, np.nan, 0.6]], [[0.1, 0.2, 0.3]])
    assert with_gap.estimate == fixed_effect([[0.2, 0.6]], [[0.1, 0.3]]).estimate
    assert np.isnan(fixed_effect([[0.2, np.nan]], [[0.1, 0.2]]).estimate).all()
    assert fixed_effect([[0.2, 0.2]], [[0.1, 0.1]]).i2.tolist() == [0.0]


def test_two_degrees_of_freedom_are_fishers_method():
    p = np.random.default_rng(0).uniform(size=(50, 4))
    ours = summed_chi2(np.log(p), np.full(p.shape, 2))
    theirs = [combine_pvalues(row, method="fisher") for row in p]
    np.testing.assert_allclose(ours.statistic, [one.statistic for one in theirs], rtol=1e-12)
    np.testing.assert_allclose(np.exp(ours.log_p), [one.pvalue for one in theirs], rtol=1e-10)


def test_p_values_of_chi2_add_up_chi2_and_degrees_of_freedom():
    rng = np.random.default_rng(1)
    df = rng.integers(1, 9, (50, 3))
    statistic = rng.chisquare(df)
    ours = summed_chi2(chi2.logsf(statistic, df), df)
    np.testing.assert_allclose(ours.statistic, statistic.sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(np.exp(ours.log_p), chi2.sf(statistic.sum(axis=1), df.sum(axis=1)), rtol=1e-8)


def test_tiny_p_values_do_not_underflow():
    found = summed_chi2([[-2000.0, -3000.0]], [[1, 4]])
    assert np.isfinite(found.log_p).all()
    assert found.log_p[0] < -4900
    assert np.isnan(summed_chi2([[-1.0, np.nan]], [[1, 0]]).log_p).all()
    assert fixed_effect([[80.0, 90.0]], [[1.0, 1.0]]).log_p[0] < -7000


def test_noise_is_uniform():
    """4,000 tuples without an effect, three studies each."""
    rng = np.random.default_rng(2)
    errors = rng.uniform(0.1, 0.5, (4000, 3))
    found = fixed_effect(rng.normal(0, errors), errors)
    for log_p in (
        found.log_p,
        found.log_p_heterogeneity,
        summed_chi2(np.log(rng.uniform(size=(4000, 3))), np.full((4000, 3), 4)).log_p,
    ):
        assert 0.04 < (np.exp(log_p) < 0.05).mean() < 0.06
