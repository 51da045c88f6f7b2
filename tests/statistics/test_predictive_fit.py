"""The fit "predictive" against scipy's censored fits, against sums by brute force, and on values it is exact for."""

import math

import numpy as np
import pytest
from scipy import optimize, special, stats

import interplay
from interplay.infer.null_fit import fit_null
from interplay.infer.reference_fit import fit_likelihood
from interplay.show.report.methods import methods_paragraph


def weibull_log_t(rng, size, *, delta, gamma=50.0):
    """ln T with P(T > t) = exp(−γ·t^δ)."""
    return (np.log(rng.exponential(size=size)) - math.log(gamma)) / delta


def as_gains(log_t, df=3.0):
    """Gains on the scale of χ² whose V has −ln(1 − V) = T."""
    return 2 * special.gammainccinv(df / 2, -np.expm1(-np.exp(log_t)))


def predictive(log_t, *, free=True):
    fitted = fit_likelihood(log_t, fit="predictive", max_delta=math.inf if free else 1.0)
    assert fitted.posterior is not None
    assert fitted.posterior.is_consistent()
    return fitted


def censored(log_t, n_seen):
    t = np.sort(np.exp(log_t))
    return stats.CensoredData(uncensored=t[:n_seen], right=np.full(len(t) - n_seen, t[n_seen - 1]))


def log_likelihood(data, log_gamma, delta):
    law = stats.weibull_min(delta, scale=math.exp(-log_gamma / delta))
    return float(law.logpdf(data._uncensored).sum() + law.logsf(data._right).sum())


@pytest.mark.parametrize("delta", [0.8, 1.0, 1.6])
def test_parameters_are_those_of_scipys_censored_fit(delta):
    log_t = weibull_log_t(np.random.default_rng(1), 400, delta=delta)
    fitted = predictive(log_t)
    assert fitted.n_uncensored == 100
    shape, _, scale = stats.weibull_min.fit(censored(log_t, 100), floc=0)
    assert fitted.delta == pytest.approx(shape, rel=1e-4)
    assert fitted.gamma == pytest.approx(scale**-shape, rel=1e-3)


def test_standard_errors_are_those_of_the_curvature():
    log_t = weibull_log_t(np.random.default_rng(2), 400, delta=0.9)
    fitted, data = predictive(log_t), censored(log_t, 100)
    at, step = np.array([math.log(fitted.gamma), fitted.delta]), 1e-3

    def slope(parameters):
        return optimize.approx_fprime(parameters, lambda x: log_likelihood(data, *x), step)

    curvature = np.array([(slope(at + d) - slope(at - d)) / (2 * step) for d in step * np.eye(2)])
    log_gamma_error, delta_error = np.sqrt(np.diag(np.linalg.inv(-curvature)))
    assert fitted.delta_error == pytest.approx(delta_error, rel=0.01)
    assert fitted.gamma_error == pytest.approx(fitted.gamma * log_gamma_error, rel=0.01)


@pytest.mark.parametrize("n", [40, 400])
def test_p_values_are_means_over_the_posterior(n):
    """By a sum over location and scale of ln T, with scipy's densities and the invariant prior: uniform in both."""
    log_t = weibull_log_t(np.random.default_rng(3), n, delta=0.9)
    fitted = predictive(log_t)
    data = censored(log_t, fitted.n_uncensored)
    log_gamma, error = math.log(fitted.gamma), fitted.gamma_error / fitted.gamma
    location = -log_gamma / fitted.delta + np.linspace(-1, 1, 81) * 9 * error / fitted.delta
    log_scale = -math.log(fitted.delta) + np.linspace(-1, 1, 41) * 7 * fitted.delta_error / fitted.delta
    log_post = np.array([[log_likelihood(data, -mu / math.exp(s), math.exp(-s)) for mu in location] for s in log_scale])
    weight = np.exp(log_post - log_post.max())
    weight /= weight.sum()
    assert weight[:, [0, -1]].sum() + weight[[0, -1]].sum() < 1e-4  # it is all there
    new = np.quantile(log_t, 0.2) - np.array([0.0, 2.0, 6.0])
    hazard = np.exp((new[:, None, None] - location) / np.exp(log_scale)[:, None])
    expected = (weight * -np.expm1(-hazard)).sum(axis=(1, 2))
    np.testing.assert_allclose(np.exp(fitted.posterior.log_p(new)), expected, rtol=2e-3)


@pytest.mark.parametrize(("n", "delta"), [(24, 0.8), (80, 1.5)])
def test_of_weibull_values_a_share_alpha_gets_p_below_alpha(n, delta):
    """With any number of reference variables, as the uncertainty of the fit is in the p-values; it matters."""
    rng = np.random.default_rng(4)
    p, plugged_in = [], []
    for _ in range(2000):
        fitted = predictive(weibull_log_t(rng, n, delta=delta))
        new = weibull_log_t(rng, 5, delta=delta)
        p.append(np.exp(fitted.posterior.log_p(new)))
        plugged_in.append(-np.expm1(-fitted.gamma * np.exp(fitted.delta * new)))
    for alpha in (0.3, 0.05, 0.005):
        share = (np.array(p) < alpha).mean(axis=1)
        assert abs(share.mean() - alpha) < 4 * share.std() / math.sqrt(len(share))
    assert (np.array(plugged_in) < 0.005).mean() > 1.5 * 0.005


def test_tiny_p_values_are_numbers():
    fitted = predictive(weibull_log_t(np.random.default_rng(5), 400, delta=0.9))
    log_p = fitted.posterior.log_p(-np.array([10.0, 100.0, 1e3, 1e5, 1e6]))
    assert np.isfinite(log_p).all()
    assert (np.diff(log_p) < 0).all()
    lowest = fitted.posterior.delta[0]
    assert log_p[-1] == pytest.approx(-lowest * 1e6, rel=1e-3)  # the heaviest tail that is not ruled out decides
    assert fitted.posterior.log_p(np.array([np.inf]))[0] == 0
    assert np.isnan(fitted.posterior.log_p(np.array([np.nan]))[0])


def test_the_shape_is_free_only_where_it_may_be():
    log_t = weibull_log_t(np.random.default_rng(6), 400, delta=1.6)
    assert predictive(log_t).delta == pytest.approx(1.6, abs=0.5)
    bounded = predictive(log_t, free=False)
    assert bounded.delta == 1
    assert bounded.posterior.delta.max() == pytest.approx(1)
    rare = np.log([1e-4, 1e-6])
    assert (bounded.posterior.log_p(rare) > predictive(log_t).posterior.log_p(rare)).all()
    gains = as_gains(log_t)
    null = fit_null(gains, dimensions=2, df=3, contrast_gain=gains, unit="chi2", fit="predictive", free_shape=True)
    assert null.delta > 1.2
    assert fit_null(gains, dimensions=2, df=3, contrast_gain=gains, unit="chi2", fit="predictive").delta == 1


@pytest.mark.parametrize("place", [0.0, 0.2, 0.4, 0.6, 0.8])
def test_clusters_of_values_do_not_bend_the_shape(place):
    """Wherever in a cluster a quarter of the values ends, p is at least the probability of all values up to its end."""
    rng = np.random.default_rng(7)
    n_above, n_new = 0, 0
    for _ in range(60):
        # A value stands for those down to the next lower one, as with statistics that take few values.
        values, new = (0.6 * np.ceil(weibull_log_t(rng, n, delta=1.0) / 0.6 - place) + 0.6 * place for n in (300, 2000))
        fitted = predictive(values + rng.uniform(-0.01, 0, 300))
        assert fitted.half_gap == pytest.approx(0.3, abs=0.02)
        n_above += int((np.exp(fitted.posterior.log_p(new)) < 0.005).sum())
        n_new += len(new)
    assert n_above / n_new < 1.25 * 0.005
    plain = predictive(weibull_log_t(rng, 300, delta=1.0))
    assert plain.half_gap == 0


def test_clusters_are_no_bad_fit():
    rng = np.random.default_rng(8)
    log_t = 0.6 * np.ceil(weibull_log_t(rng, 300, delta=1.0) / 0.6) + rng.uniform(-0.01, 0, 300)
    gains = as_gains(log_t)
    arguments = {"dimensions": 2, "df": 3, "contrast_gain": gains, "unit": "chi2"}
    null = fit_null(gains, auto_fit="predictive", **arguments)
    assert null.fit == "predictive"
    assert null.ks_p > 0.05
    assert fit_null(gains, **arguments).fit == "union"  # "weibull" takes them for one
    # Two kinds of variables, one of which has far too many small V, still are one.
    mixture = as_gains(np.concatenate([log_t[:240], np.full(60, -20.0) + rng.uniform(-0.01, 0, 60)]))
    assert fit_null(mixture, auto_fit="predictive", **{**arguments, "contrast_gain": mixture}).fit == "union"


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(9)
    X = rng.binomial(2, rng.uniform(0.05, 0.5, size=50), size=(250, 50)).astype(float)
    return X, rng.permutation(np.repeat([0, 1], [180, 70]))


def fits_of(result):
    return {test.name: fit.fit for test in result.tests for fit in test.null_fits}


def test_the_call_with_several_dimensions_fits_synergies_so(table):
    result = interplay.select(*table, dimensions=(1, 2, 3), random_state=0)
    fits = fits_of(result)
    assert fits["synergy 2"] == fits["synergy 3"] == "predictive"
    assert fits["gain 2"] == "weibull"
    of_pairs = interplay.select(*table, dimensions=2, random_state=0)
    assert of_pairs.null_fit.fit == "weibull"
    np.testing.assert_array_equal(result.of_dimension(2).p_value, of_pairs.p_value)
    asked = interplay.select(*table, dimensions=(1, 2, 3), fit="weibull", random_state=0)
    assert set(fits_of(asked).values()) - {"lsq"} == {"weibull"}  # "lsq" names the exact test of 1D
    few = interplay.select(*table, dimensions=(1, 2, 3), n_contrast=100, random_state=0)
    assert "predictive" not in fits_of(few).values()


def test_sparse_genotypes_have_uniform_p_values(table):
    """Their synergies fall short of χ²: "weibull" gives 0.4 of the p-values below 0.05 that there should be."""
    result = interplay.select(*table, dimensions=(1, 2, 3), n_contrast=2300, random_state=1)
    for test in result.tests:
        if test.name.startswith("synergy"):
            null = test.null_fits[0]
            assert null.delta > 1
            assert stats.binomtest(int((null.reference_p < 0.05).sum()), len(null.reference_p), 0.05).pvalue > 1e-3
            assert "mean over the posterior" in null.summary()


def test_a_saved_selection_keeps_it(table, tmp_path):
    result = interplay.select(*table, dimensions=(1, 2), random_state=0)
    result.save(tmp_path / "result")
    path = next(tmp_path.iterdir())
    again = interplay.load(path)
    for test, other in zip(result.tests, again.tests, strict=True):
        for fit, stored in zip(test.null_fits, other.null_fits, strict=True):
            np.testing.assert_array_equal(fit.shapes, stored.shapes)
            np.testing.assert_array_equal(fit.log_p_values(), stored.log_p_values())


def test_auto_takes_it_where_something_speaks_against_one_heavy_tail():
    rng = np.random.default_rng(10)

    def chosen(log_t, df=3.0, **others):
        gains = as_gains(log_t, df)
        arguments = {"dimensions": 2, "df": df, "contrast_gain": gains, "contrast_df": df, "unit": "chi2"}
        return fit_null(gains, auto_fit="predictive", free_shape=True, **arguments, **others).fit

    heavy = weibull_log_t(rng, 300, delta=0.8)
    assert chosen(heavy) == "weibull"
    assert chosen(heavy, np.repeat([3.0, 4.0], 150)) == "predictive"  # several kinds of tuples
    assert chosen(weibull_log_t(rng, 300, delta=1.8)) == "predictive"  # a light tail
    assert chosen(0.6 * np.ceil(heavy / 0.6) + rng.uniform(-0.01, 0, 300)) == "predictive"  # clusters
    assert chosen(heavy[:150], np.repeat([3.0, 4.0], 75)) == "weibull"  # a quarter would be too few
    assert chosen(heavy, fit="predictive") == "predictive"


def test_shapes_of_a_file_are_checked():
    good = predictive(weibull_log_t(np.random.default_rng(11), 100, delta=1.0)).posterior
    shapes, sums, weights = good.to_array()
    for bad in (
        (shapes, sums, 2 * weights, good.n_seen),
        (-shapes, sums, weights, good.n_seen),
        (shapes, sums * math.nan, weights, good.n_seen),
        (shapes, sums[:-1], weights, good.n_seen),
        (shapes, sums, weights, 0),
    ):
        assert not type(good)(*bad).is_consistent()


def test_the_report_says_so(table):
    text = methods_paragraph(interplay.select(*table, dimensions=(1, 2, 3), random_state=0))
    expected = "of synergy 2 and of synergy 3 under the null hypothesis was fitted by Bayesian averaging"
    assert expected in text
    assert "Bayesian" not in methods_paragraph(interplay.select(*table, dimensions=2, random_state=0))


@pytest.mark.parametrize("spread", [1e-13, 1e-6, 1e-3])
def test_largest_gains_that_are_nearly_the_same_do_not_overflow(spread):
    rng = np.random.default_rng(0)
    contrast = np.sort(as_gains(weibull_log_t(rng, 400, delta=1.0)))
    contrast[-160:] = contrast[-160] * (1 + spread * rng.random(160))
    fitted = fit_null(
        contrast[:50], contrast_gain=contrast, dimensions=2, df=3.0, unit="chi2", auto_fit="predictive", free_shape=True
    )
    assert fitted.fit == "union"
    assert np.isfinite(fitted.log_p_values()).all()
