"""The null fit against the original's outputs, against simulated nulls, and at its edges."""

import dataclasses
import math
import re
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from interplay.infer.null_fit import MIN_REFERENCE_VARIABLES, NullFit, fit_null
from interplay.infer.reference_fit import LIKELIHOOD_FITS, fit_likelihood
from shared_data import REFERENCE, needs_shared

# The calls behind pvalue_options.npz, as fit_null says them.
OPTION_GRID = {
    "default": {},
    "irr": {"n_irrelevant": 480, "max_ignored": 15},
    "irr300": {"n_irrelevant": 300},
    "ign": {"n_ignored": 50},
    "both": {"n_irrelevant": 400, "n_ignored": 20},
    "minirr": {"min_irrelevant": 100},
    "maxign": {"max_ignored": 40},
    "sp4": {"search_points": 4},
    "sp50": {"search_points": 50},
    "nats": {"unit": "nats"},
    "doubled": {"unit": "chi2"},  # doubled bits there: the gains are turned into nats below
    "df3": {"df": 3},
    "dfvec": {"df": "vector"},
    "resp2": {"n_classes": 3},
    "tiny12": {},
    **{
        f"1d_{mode}_{name}": {"mode": mode, **options}
        for mode in ("raw", "lin", "exp")
        for name, options in (("ign10", {"n_ignored": 10}), ("irr480", {"n_irrelevant": 480, "max_ignored": 15}))
    },
}


def load(stem):
    with np.load(REFERENCE / f"{stem}.npz") as archive:
        return dict(archive)


def quietly(*args, **kwargs):
    """fit_null without its warnings: some of the original's cases end at a border."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return fit_null(*args, **kwargs)


def assert_equals_original(null, reference, prefix, contrast_gain=None):
    def original(key):
        return reference[f"{prefix}_{key}"]

    assert null.alpha == pytest.approx(float(original("dist_param")), rel=1e-9)
    assert null.gamma == pytest.approx(1 / float(original("dist_param")), rel=1e-9)
    assert null.alpha_error == pytest.approx(float(original("err_param")), rel=1e-8)
    assert null.n_irrelevant == original("irr_vars")
    assert null.n_ignored == original("ign_low")
    assert null.min_irrelevant == original("min_irr_vars")
    assert null.max_ignored == original("max_ign_low")
    # R sums the asymptotic series up to terms of 1e-6 only.
    assert null.ks_p == pytest.approx(float(original("fit_p_value")), abs=3e-5)
    np.testing.assert_allclose(null.sq_dev, original("sq_dev"), rtol=1e-8)
    p = null.p_values()
    if contrast_gain is not None:
        p = np.concatenate([p, null.p_values(contrast_gain)])
    np.testing.assert_allclose(p, np.minimum(original("p_value"), 1.0), rtol=1e-8)
    np.testing.assert_allclose(null.log_p_values(), np.log(p[: len(null.chi2_p)]), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(null.chi2_p, original("chi_squared_p")[: len(null.chi2_p)], rtol=1e-8)


@needs_shared
def test_the_option_grid_is_complete():
    prefixes = {key.removesuffix("_dist_param")[3:] for key in load("pvalue_options") if key.endswith("_dist_param")}
    assert prefixes == set(OPTION_GRID)


@needs_shared
@pytest.mark.parametrize("name", OPTION_GRID)
def test_lsq_equals_the_original_in_every_option(name):
    reference = load("pvalue_options")
    options = dict(OPTION_GRID[name])
    dimensions = 1 if name.startswith("1d") else 2
    gains = reference[f"ig_{dimensions}d"]
    if name == "doubled":
        gains = gains * math.log(2)
    if name == "tiny12":
        gains = gains[:12]
    if options.get("df") == "vector":
        options["df"] = reference["pv_dfvec_df"]
    assert_equals_original(quietly(gains, dimensions=dimensions, fit="lsq", **options), reference, f"pv_{name}")


def reference_runs():
    """Every other fit of the original: file, prefix of its keys, arguments."""
    if not REFERENCE.is_dir():
        return
    for path in sorted(REFERENCE.glob("*.npz")):
        if path.stem == "pvalue_options":
            continue
        with np.load(path) as archive:
            prefixes = [key.removesuffix("_dist_param") for key in archive if key.endswith("_dist_param")]
        for prefix in prefixes:
            dimensions = int((re.search(r"_(\d)d", prefix) or re.search(r"_(\d)d", path.stem)).group(1))
            divisions = re.search(r"div(\d)", path.stem)
            mode = re.search(r"_(raw|lin|exp)$", prefix)
            yield pytest.param(
                path.stem,
                prefix,
                {
                    "dimensions": dimensions,
                    "divisions": int(divisions.group(1)) if divisions else 1,
                    "mode": mode.group(1) if mode else "auto",
                },
                id=f"{path.stem}-{prefix}",
            )


@needs_shared
@pytest.mark.parametrize(("stem", "prefix", "arguments"), list(reference_runs()))
def test_lsq_equals_the_original_in_every_run(stem, prefix, arguments):
    reference = load(stem)
    by_dimension = f"ig_{arguments['dimensions']}d"
    gains = reference[by_dimension if by_dimension in reference else "ig"]
    contrast = None
    if len(reference[f"{prefix}_p_value"]) > len(gains):
        contrast = reference["contrast_" + (by_dimension if by_dimension in reference else "ig")]
    null = quietly(gains, contrast_gain=contrast, fit="lsq", **arguments)
    assert null.n_contrast == (0 if contrast is None else len(contrast))
    assert_equals_original(null, reference, prefix, contrast)


@needs_shared
@pytest.mark.parametrize(
    ("stem", "mode", "arguments"),
    [
        ("madelon_1d_disc30_seed0", "exp", {"discretizations": 30}),
        ("madelon_1d_disc5_div2_seed0", "lin", {"discretizations": 5, "divisions": 2}),
        ("madelon_1d_div1_range0_contrast500_seed0", "raw", {}),
    ],
)
def test_mode_auto_is_the_one_of_the_original(stem, mode, arguments):
    reference = load(stem)
    null = quietly(reference["ig"], dimensions=1, contrast_gain=reference["contrast_ig"], fit="lsq", **arguments)
    assert null.mode == mode
    np.testing.assert_allclose(null.p_values(), np.minimum(reference["mdfs_p_value"][:500], 1), rtol=1e-8)


@needs_shared
def test_auto_finds_what_the_paper_finds_with_contrast_variables():
    reference = load("madelon_2d_blind_seed118912")
    null = fit_null(reference["ig"], dimensions=2, discretizations=30, contrast_gain=reference["contrast_ig"])
    assert null.fit == "weibull"
    found = set(np.flatnonzero(null.p_values() * 500 < 0.05) + 1)
    paper = {476, 242, 49, 379, 154, 282, 434, 339, 494, 454, 452, 29, 319, 443, 129, 473, 106, 337, 65}
    assert found == paper


# ---- simulated nulls


def null_statistic(rng, n, *, gamma, delta=1.0, df=2.0):
    """χ² values whose T = −ln(1 − V) is Weibull; for δ = 1, V is Beta(1, γ)."""
    hazard = (rng.exponential(size=n) / gamma) ** (1 / delta)
    return 2 * special.gammainccinv(df / 2, -np.expm1(-hazard))


def fit_contrast(contrast, **arguments):
    return fit_null(np.array([1.0]), dimensions=2, contrast_gain=contrast, unit="chi2", **arguments)


# α of "lsq" is the mean of V, which is 1/γ for large γ only.
@pytest.mark.parametrize(
    ("fit", "gamma"),
    [
        (fit, gamma)
        for fit in ("mle", "tail", "weibull", "lsq")
        for gamma in (3.0, 200.0, 5e4)
        if (fit, gamma) != ("lsq", 3)
    ],
)
def test_fits_recover_gamma(fit, gamma):
    null = fit_contrast(null_statistic(np.random.default_rng(1), 3000, gamma=gamma), fit=fit)
    assert null.fit == fit
    assert null.mode == "exp"
    assert abs(null.gamma - gamma) < 4 * null.gamma_error
    assert null.alpha == pytest.approx(1 / null.gamma)
    assert null.alpha_error / null.alpha == pytest.approx(null.gamma_error / null.gamma)
    assert null.ks_p > 1e-3


def test_weibull_recovers_its_shape():
    null = fit_contrast(null_statistic(np.random.default_rng(2), 5000, gamma=300.0, delta=0.85), fit="weibull")
    assert abs(null.delta - 0.85) < 4 * null.delta_error
    assert abs(null.gamma - 300) < 4 * null.gamma_error
    assert null.delta_error < 0.02
    assert null.ks_p > 1e-3


def test_weibull_never_has_a_lighter_tail_than_the_exponential():
    statistic = null_statistic(np.random.default_rng(3), 400, gamma=300.0, delta=1.5)
    null = fit_contrast(statistic, fit="weibull")
    assert null.delta == 1.0
    hazard = np.sort(-np.log1p(-special.gammaincc(1.0, statistic / 2)))
    seen = 200
    assert null.gamma == pytest.approx(seen / (hazard[:seen].sum() + (400 - seen) * hazard[seen - 1]))


@pytest.mark.parametrize("fit", LIKELIHOOD_FITS)
def test_every_likelihood_fit_recovers_the_rate_of_independent_tests(fit):
    """Whatever is listed there: under γ independent tests T is exponential with rate γ."""
    log_hazard = np.log(np.random.default_rng(7).exponential(size=20_000) / 100)
    found = fit_likelihood(log_hazard, fit=fit)
    assert abs(math.log(found.gamma / 100)) < 5 * found.gamma_error / found.gamma
    assert found.delta == pytest.approx(1.0, abs=0.05)
    assert 5 <= found.n_uncensored <= 20_000
    null = fit_contrast(null_statistic(np.random.default_rng(8), 400, gamma=100.0, delta=1.0), fit=fit)
    assert null.fit == fit
    assert null.ks_p > 1e-3


def test_standard_errors_are_the_spread_of_the_estimates():
    rng = np.random.default_rng(4)
    fits = {"mle": [], "tail": [], "weibull": []}
    for _ in range(300):
        hazard = (rng.exponential(size=300) / 100) ** (1 / 0.7)
        fits["weibull"].append(fit_likelihood(np.log(hazard), fit="weibull"))
        log_hazard = np.log(rng.exponential(size=300) / 100)
        fits["mle"].append(fit_likelihood(log_hazard, fit="mle"))
        fits["tail"].append(fit_likelihood(log_hazard, fit="tail"))
    for found in fits.values():
        # Logarithms, as γ itself is skewed.
        z = np.array([(math.log(f.gamma) - math.log(100)) / (f.gamma_error / f.gamma) for f in found])
        assert abs(z.mean()) < 0.3
        assert 0.85 < z.std() < 1.15
    z = np.array([(f.delta - 0.7) / f.delta_error for f in fits["weibull"]])
    assert abs(z.mean()) < 0.3
    assert 0.85 < z.std() < 1.15


def test_mle_is_its_formula():
    statistic = null_statistic(np.random.default_rng(5), 50, gamma=20.0)
    expected = -50 / np.log1p(-stats.chi2.sf(statistic, 2)).sum()
    assert fit_contrast(statistic, fit="mle").gamma == pytest.approx(expected)


def test_tail_is_its_formula():
    statistic = null_statistic(np.random.default_rng(5), 50, gamma=20.0)
    hazard = np.sort(-np.log1p(-stats.chi2.sf(statistic, 2)))
    expected = 10 / (hazard[:10].sum() + 40 * hazard[9])
    assert fit_contrast(statistic, fit="tail").gamma == pytest.approx(expected)


@pytest.mark.parametrize("fit", ["tail", "weibull"])
def test_censored_fits_do_not_mind_constant_columns(fit):
    statistic = null_statistic(np.random.default_rng(6), 300, gamma=100.0)
    clean = fit_contrast(statistic, fit=fit)
    dirty = fit_contrast(np.append(statistic, np.zeros(15)), fit=fit)
    assert dirty.gamma == pytest.approx(clean.gamma, rel=0.15)


@pytest.mark.parametrize("fit", ["mle", "tail", "weibull"])
def test_likelihood_fits_without_contrast_use_the_irrelevant_variables(fit):
    rng = np.random.default_rng(7)
    gains = np.append(null_statistic(rng, 400, gamma=100.0), rng.uniform(80, 200, size=20))
    null = fit_null(gains, dimensions=2, unit="chi2", fit=fit)
    lsq = fit_null(gains, dimensions=2, unit="chi2", fit="lsq")
    assert (null.n_irrelevant, null.n_ignored) == (lsq.n_irrelevant, lsq.n_ignored)
    assert abs(null.n_irrelevant - 400) < 10
    assert abs(null.gamma - 100) < 4 * null.gamma_error
    assert (null.p_values()[400:] < 1e-6).all()


# ---- union and the choice of a fit


@pytest.mark.parametrize(
    ("dimensions", "discretizations", "tests"), [(2, 1, 99), (3, 1, 4851), (2, 30, 2970), (1, 5, 5)]
)
def test_union_counts_every_test(dimensions, discretizations, tests):
    gains = np.linspace(0, 40, 100)
    null = fit_null(gains, dimensions=dimensions, discretizations=discretizations, fit="union")
    assert null.gamma == tests
    assert null.mode == "lin"
    assert math.isnan(null.gamma_error)
    assert math.isnan(null.ks_p)
    np.testing.assert_allclose(null.p_values(), np.minimum(1, tests * null.chi2_p))
    more = fit_null(gains, dimensions=dimensions, discretizations=discretizations, fit="union", n_vars=200)
    assert more.gamma == math.comb(199, dimensions - 1) * discretizations


def test_union_needs_no_reference_variables():
    assert fit_null([50.0, 0.1], dimensions=2, fit="union").p_values()[0] < 1e-14


@pytest.mark.parametrize(
    ("dimensions", "discretizations", "n_contrast", "mode", "expected"),
    [
        (2, 1, 0, "auto", ("lsq", "exp")),
        (2, 1, 10, "auto", ("union", "lin")),
        (2, 1, 30, "auto", ("weibull", "exp")),
        (3, 30, 300, "auto", ("weibull", "exp")),
        (1, 1, 0, "auto", ("lsq", "raw")),
        (1, 1, 300, "auto", ("lsq", "raw")),
        (1, 5, 0, "auto", ("union", "lin")),
        (1, 30, 300, "auto", ("union", "lin")),
        (1, 30, 300, "exp", ("lsq", "exp")),
        (2, 1, 300, "lin", ("lsq", "lin")),
        (2, 1, 300, "raw", ("lsq", "raw")),
        (2, 1, 10, "exp", ("lsq", "exp")),
    ],
)
def test_auto(dimensions, discretizations, n_contrast, mode, expected):
    rng = np.random.default_rng(8)
    contrast = rng.chisquare(4, n_contrast) if n_contrast else None
    null = quietly(
        rng.chisquare(4, 60),
        dimensions=dimensions,
        discretizations=discretizations,
        contrast_gain=contrast,
        mode=mode,
        unit="chi2",
    )
    assert (null.fit, null.mode) == expected


@pytest.mark.parametrize("fit", ["lsq", "mle", "weibull", "tail", "predictive", "union"])
def test_one_dimension_and_one_discretisation_need_no_fit(fit):
    gains = np.random.default_rng(9).chisquare(1, 40)
    null = fit_null(gains, dimensions=1, unit="chi2", fit=fit)
    assert null.mode == "raw"
    assert null.alpha == 1
    np.testing.assert_allclose(null.p_values(), stats.chi2.sf(gains, 1), rtol=1e-12)
    few = fit_null(gains[:2], dimensions=1, unit="chi2", fit=fit)
    np.testing.assert_array_equal(few.p_values(), null.p_values()[:2])


# ---- p-values


@pytest.fixture(scope="module")
def nulls():
    rng = np.random.default_rng(10)
    gains, contrast = null_statistic(rng, 100, gamma=50.0), null_statistic(rng, 100, gamma=50.0)
    return {
        fit: fit_null(gains, dimensions=2, contrast_gain=contrast, unit="chi2", fit=fit)
        for fit in ("lsq", "mle", "weibull", "tail", "predictive", "union")
    }


@pytest.mark.parametrize("fit", ["lsq", "mle", "weibull", "tail", "predictive", "union"])
@given(gains=st.lists(st.floats(-10, 1e5), min_size=2, max_size=20))
@settings(deadline=None, max_examples=50)
def test_p_values_fall_as_gains_rise(nulls, fit, gains):
    p = nulls[fit].p_values(np.sort(gains))
    log_p = nulls[fit].log_p_values(np.sort(gains))
    assert ((p >= 0) & (p <= 1)).all()
    assert (np.diff(p) <= 1e-12 * p[:-1]).all()
    assert (np.diff(log_p) <= 1e-12 * np.abs(log_p[:-1])).all()
    assert np.isfinite(log_p).all()


@pytest.mark.parametrize("fit", ["lsq", "mle", "tail", "union"])
def test_small_p_values_are_numbers(nulls, fit):
    null = nulls[fit]
    # With 2 degrees of freedom V = exp(−x/2), so p = γ·V to all digits.
    x = 2 * math.log(10) * np.array([20.0, 100.0, 200.0, 300.0])
    np.testing.assert_allclose(null.p_values(x), null.gamma * np.exp(-x / 2), rtol=1e-12)
    x = np.array([1e3, 1e4, 1e6])
    np.testing.assert_allclose(null.log_p_values(x), math.log(null.gamma) - x / 2, rtol=1e-14)


def test_weibull_keeps_small_p_values_too(nulls):
    null = nulls["weibull"]
    np.testing.assert_allclose(null.log_p_values([1e4]), math.log(null.gamma) - null.delta * 5e3, rtol=1e-14)
    assert null.p_values([900.0])[0] > 0


def test_lin_never_exceeds_one():
    null = fit_null(np.random.default_rng(11).chisquare(1, 100), dimensions=1, mode="lin", unit="chi2", fit="lsq")
    assert null.p_values([0.0, 1e-3]).max() <= 1


def test_units_agree():
    gains = null_statistic(np.random.default_rng(12), 100, gamma=50.0)
    chi2 = fit_null(gains, dimensions=2, unit="chi2")
    nats = fit_null(gains / 2, dimensions=2, unit="nats")
    bits = fit_null(gains / (2 * math.log(2)), dimensions=2)
    for other in (nats, bits):
        np.testing.assert_allclose(other.p_values(), chi2.p_values(), rtol=1e-12)
    np.testing.assert_allclose(nats.p_values(gains / 2), chi2.p_values(gains), rtol=1e-12)


@pytest.mark.parametrize("fit", ["lsq", "mle", "weibull", "tail", "predictive"])
def test_variables_in_no_tuple_are_left_out(fit):
    gains = null_statistic(np.random.default_rng(13), 100, gamma=50.0)
    with_holes = np.insert(gains, [0, 50], [np.nan, -np.inf])
    whole = fit_null(gains, dimensions=2, unit="chi2", fit=fit)
    null = fit_null(with_holes, dimensions=2, unit="chi2", fit=fit)
    assert null.gamma == whole.gamma
    assert null.n_reference == 100
    assert np.flatnonzero(np.isnan(null.p_values())).tolist() == [0, 51]
    assert np.isnan(null.chi2_p[[0, 51]]).all()


def test_variables_of_one_level_get_p_one():
    gains = null_statistic(np.random.default_rng(14), 100, gamma=50.0)
    df = np.full(101, 2)
    df[0] = 0
    whole = fit_null(gains, dimensions=2, unit="chi2", fit="lsq")
    null = fit_null(np.insert(gains, 0, 1e-9), dimensions=2, unit="chi2", df=df, fit="lsq")
    assert null.alpha == whole.alpha
    assert null.p_values()[0] == 1
    assert null.log_p_values()[0] == 0
    assert null.df == 2


def test_degrees_of_freedom_can_differ():
    rng = np.random.default_rng(15)
    df = np.tile([2.0, 6.0], 100)
    hazard = rng.exponential(size=200) / 40
    gains = 2 * special.gammainccinv(df / 2, -np.expm1(-hazard))
    for fit in ("mle", "weibull", "tail", "predictive"):
        null = fit_null(gains, dimensions=2, df=df, contrast_gain=gains, contrast_df=df, unit="chi2", fit=fit)
        assert abs(null.gamma - 40) < 4 * null.gamma_error
        # p depends on V alone, whatever the degrees of freedom.
        order = np.argsort(null.chi2_p)
        assert (np.diff(null.p_values()[order]) >= 0).all()
    np.testing.assert_array_equal(null.p_values(gains[:5], df=df[:5]), null.p_values()[:5])
    np.testing.assert_allclose(null.p_values(gains[::2], df=2), null.p_values()[::2])
    with pytest.raises(ValueError, match="df is needed for these gains"):
        null.p_values(gains[:5])


@pytest.mark.parametrize("n", [40, 400])
def test_ks_is_scipys(n):
    null = fit_contrast(null_statistic(np.random.default_rng(16), n, gamma=50.0), fit="mle")
    method = "exact" if n < 100 else "asymp"
    assert null.ks_p == pytest.approx(stats.kstest(null.reference_p, "uniform", method=method).pvalue)


# ---- warnings and errors


def test_warns_when_too_many_low_gains_would_have_to_be_ignored():
    gains = np.append(np.zeros(33), null_statistic(np.random.default_rng(17), 67, gamma=1000.0))
    with pytest.warns(UserWarning, match=r"ignores 31 variables of low gain, the largest number allowed.*union"):
        fit_null(gains, dimensions=2, unit="chi2", fit="lsq")


def test_warns_when_hardly_any_variable_is_irrelevant():
    rng = np.random.default_rng(18)
    gains = np.append(null_statistic(rng, 25, gamma=50.0), rng.uniform(60, 500, size=200))
    with pytest.warns(UserWarning, match=r"only 30 variables as irrelevant, the smallest number allowed.*contrast"):
        null = fit_null(gains, dimensions=2, unit="chi2", n_ignored=0)
    assert null.n_irrelevant == 30


@pytest.mark.parametrize("fit", ["lsq", "mle", "weibull", "tail", "predictive"])
def test_too_few_reference_variables(fit):
    gains = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert len(gains) == MIN_REFERENCE_VARIABLES
    quietly(gains, dimensions=2, fit=fit)
    with pytest.raises(ValueError, match=r"needs at least 6 variables with a gain, and there are 5.*contrast"):
        fit_null([*gains[:5], np.nan], dimensions=2, fit=fit)
    with pytest.raises(ValueError, match="needs at least 6 contrast variables with a gain, and there are 2"):
        fit_null(gains, dimensions=2, fit=fit, contrast_gain=[1.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fit": "union", "mode": "exp"}, "mode='exp' does not go with fit='union'"),
        ({"n_ignored": 20}, "n_ignored must be a whole number from 0 to 18"),
        ({"n_irrelevant": 15, "n_ignored": 10}, "n_irrelevant must be a whole number from 2 to 10"),
        ({"n_irrelevant": 15, "max_ignored": 10}, "max_ignored must be a whole number from 0 to 5"),
        ({"min_irrelevant": 30}, "min_irrelevant must be a whole number from 2 to 20"),
        ({"gains": np.full(20, 1e6), "fit": "lsq"}, "alpha is not positive"),
        ({"gains": np.full(20, 3.0), "fit": "weibull"}, "are all the same"),
    ],
)
def test_bad_arguments(arguments, message):
    call = {"gains": np.arange(20.0), "dimensions": 2} | arguments
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        quietly(call.pop("gains"), **call)
    assert "\n" not in str(caught.value)


# ---- the object


def test_fields_can_be_saved(nulls):
    for null in nulls.values():
        values = {field.name: getattr(null, field.name) for field in dataclasses.fields(null)}
        assert all(type(value) in (float, int, str) or value.dtype == np.float64 for value in values.values())
        np.testing.assert_array_equal(NullFit(**values).p_values(), null.p_values())
    with pytest.raises(dataclasses.FrozenInstanceError):
        null.alpha = 1.0


def test_summary_says_what_matters(nulls):
    text = repr(nulls["lsq"])
    assert "lsq" in text
    assert f"{nulls['lsq'].alpha:.6g} ±" in text
    assert "of 100 contrast variables" in text
    assert "delta" in nulls["weibull"].summary()
    assert "p = V" in repr(fit_null([1.0, 2.0], dimensions=1))


@pytest.mark.parametrize("fit", ["lsq", "weibull", "union"])
def test_plot_shows_the_reference_p_values(nulls, fit):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    ax = nulls[fit].plot()
    drawn = ax.lines[-1]
    np.testing.assert_array_equal(drawn.get_ydata(), np.sort(nulls[fit].reference_p))
    assert drawn.get_xdata()[0] == pytest.approx(0.5 / len(nulls[fit].reference_p))
    assert ax.get_xscale() == ax.get_yscale() == "log"
    figure, mine = plt.subplots()
    assert nulls[fit].plot(ax=mine) is mine
    plt.close(figure)
    plt.close(ax.figure)


def test_plot_without_matplotlib(nulls, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'run .* install "matplotlib>=[\d.]+"$'):
        nulls["lsq"].plot()


def test_values_of_hundreds_of_orders_of_magnitude_are_fitted():
    log_t = np.append(np.linspace(-1010.0, -990.0, 29), np.linspace(1.0, 6.0, 11))
    null = fit_likelihood(log_t, fit="weibull")
    seen = np.minimum(log_t, np.sort(log_t)[29])
    power = np.exp(null.delta * (seen - seen.max()))
    # The derivative of the profile likelihood is 0.
    assert math.isclose((power * seen).sum() / power.sum() - 1 / null.delta, seen[:30].mean(), rel_tol=1e-9)
