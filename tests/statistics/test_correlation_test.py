"""Correlations with a number outcome, tails of columns of few values: against enumeration and SciPy."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

from interplay.base.tails import log_beta_cdf, log_f_tail
from interplay.infer import drawn_levels
from interplay.infer.correlation_test import (
    NumberTarget,
    _moments,
    correlation_log_p,
    fourth_moment,
    level_correlation_log_p,
    level_gain_log_p,
)
from interplay.infer.drawn_levels import DrawnLevels
from interplay.infer.given_test import GivenNumbers
from interplay.infer.product_maxima import int_normal_scores, number_products


def normal_scores(values):
    return stats.norm.ppf((stats.rankdata(values, axis=-1) - 0.5) / values.shape[-1])


def test_tails_of_f_and_beta():
    f = np.array([0.5, 3.0, 12.0, 80.0])
    np.testing.assert_allclose(np.exp(log_f_tail(f, 3, 40)), stats.f.sf(f, 3, 40), rtol=1e-10)
    # Far out, where probabilities underflow: the leading term of the series.
    a, x = 700.0, 1e-8
    leading = a * np.log(x) - np.log(a) - betaln(a, 0.5)
    assert float(log_beta_cdf(x, a, 0.5)) == pytest.approx(leading, abs=1e-6)


def test_fourth_moment_of_all_permutations():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=7), rng.exponential(size=7)
    x, z = x - x.mean(), z - z.mean()
    sums = np.array([x @ z[list(order)] for order in permutations(range(7))])
    found = fourth_moment(np.array([x @ x]), np.array([(x**4).sum()]), float(z @ z), float((z**4).sum()), 7)
    assert found[0] == pytest.approx((sums**4).mean())


def test_equals_scipy_where_samples_are_many():
    """Of normal scores without ties, p is that of Pearson's correlation; of ranks, nearly that of Spearman's."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 400)), rng.normal(size=400)
    y = y + 0.15 * X[0]
    target = NumberTarget.of(normal_scores(y))
    log_p = correlation_log_p(normal_scores(X), target)
    pearson = [stats.pearsonr(normal_scores(x), normal_scores(y)).pvalue for x in X]
    np.testing.assert_allclose(log_p, np.log(pearson), rtol=0.02, atol=0.01)
    ranks = correlation_log_p(stats.rankdata(X, axis=1), NumberTarget.of(stats.rankdata(y)))
    spearman = [stats.spearmanr(x, y).pvalue for x in X]
    np.testing.assert_allclose(ranks, np.log(spearman), rtol=0.05, atol=0.02)


@pytest.mark.parametrize("kind", ["ranks", "counts", "skewed"])
def test_few_samples_against_all_permutations(kind):
    """p of eight samples is never much too small: from 0.2 of the exact one, where that is a few permutations."""
    rng = np.random.default_rng(2)
    y = {"ranks": np.arange(8.0), "counts": rng.poisson(1.0, 8).astype(float), "skewed": rng.exponential(size=8) ** 2}[
        kind
    ]
    z = normal_scores(y) if kind == "ranks" else y
    X = rng.normal(size=(40, 8))
    X[:10] = np.sort(X[:10], axis=1)[:, np.argsort(np.argsort(y, kind="stable"))]  # strong ones
    x = normal_scores(X)
    target = NumberTarget.of(z)
    orders = np.array(list(permutations(range(8))))
    sums = np.abs((x - x.mean(axis=1, keepdims=True)) @ target.scores[orders].T)
    exact = (sums >= np.abs(x @ target.scores)[:, np.newaxis] - 1e-9).mean(axis=1)
    p = np.exp(correlation_log_p(x, target))
    assert (p >= 0.2 * exact).all()
    if kind == "ranks":
        middle = exact > 0.01
        np.testing.assert_allclose(p[middle], exact[middle], rtol=0.15, atol=0.02)


@pytest.mark.parametrize("outcome", ["normal", "skewed", "ties"])
@pytest.mark.parametrize("chosen", [2, 6, 10])
def test_saddlepoint_against_all_divisions(outcome, chosen):
    rng = np.random.default_rng(3)
    scores = {
        "normal": normal_scores(np.arange(20.0)),
        "skewed": rng.exponential(size=20) ** 2,
        "ties": np.repeat([0.0, 1.0, 2.0, 5.0], 5),
    }[outcome]
    drawn = DrawnLevels(scores)
    sums = np.sort(np.abs(drawn_levels._all_sums(np.sort(scores - scores.mean()), chosen)))
    step = NumberTarget.of(scores).gap if outcome == "ties" else 0.0
    sizes, levels = np.array([[20 - chosen, chosen]]), np.array([[0.0, 1.0]])
    for share in (0.9, 0.99, 0.999, 0.9999):
        statistic = np.quantile(sums, share, method="lower")
        exact = np.log((sums >= statistic - 1e-9).mean())
        assert drawn.log_p(np.array([statistic]), sizes, levels)[0] == pytest.approx(exact)
        tails = [
            drawn_levels._saddlepoint_log_tail(
                sign * np.array([statistic - 0.5 * step]), sizes, levels, np.sort(scores - scores.mean())
            )
            for sign in (1.0, -1.0)
        ]
        assert np.logaddexp(*tails)[0] == pytest.approx(exact, abs=0.7)


def test_saddlepoint_of_three_levels_in_the_far_tail():
    """At 1e-5, of genotypes and a heavy-tailed outcome: against half a million random divisions."""
    rng = np.random.default_rng(4)
    scores = rng.standard_t(3, size=60)
    scores -= scores.mean()
    levels = np.repeat([0, 1, 2], [38, 18, 4])
    drawn = np.concatenate([np.argsort(rng.random((50_000, 60)), axis=1) for _ in range(10)])
    sums = np.abs(scores[drawn] @ (levels - levels.mean()))
    for share in (1e-2, 1e-3, 1e-4):
        statistic = np.quantile(sums, 1 - share)
        p = np.exp(DrawnLevels(scores).log_p(np.array([statistic]), np.array([[38, 18, 4]]), np.array([[0.0, 1, 2]])))
        assert p[0] == pytest.approx(share, rel=0.25)


def test_moments_of_gains_of_levels():
    rng = np.random.default_rng(5)
    target = NumberTarget.of(rng.exponential(size=7))
    level = np.array([0, 0, 1, 1, 1, 2, 2])
    sizes = np.bincount(level)
    squares = [
        ((np.bincount(level, weights=target.scores[list(order)])) ** 2 / sizes).sum()
        for order in permutations(range(7))
    ]
    mean, variance = _moments(sizes[np.newaxis, :, np.newaxis], target)
    assert mean[0] == pytest.approx(np.mean(squares))
    assert variance[0] == pytest.approx(np.var(squares))


def test_gain_of_levels_equals_the_f_test():
    rng = np.random.default_rng(6)
    y, level = rng.normal(size=300), rng.integers(0, 4, 300)
    target = NumberTarget.of(normal_scores(y))
    sizes = np.bincount(level)[np.newaxis, :, np.newaxis]
    sums = np.bincount(level, weights=target.scores)[np.newaxis, :, np.newaxis]
    expected = stats.f_oneway(*(target.scores[level == value] for value in range(4))).pvalue
    assert np.exp(level_gain_log_p(sizes, sums, target)[0]) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("with_strata", [False, True])
def test_gain_of_levels_of_one_sample(with_strata):
    """Of 40 levels of one sample nothing is left within; with few others, tied scores leave nothing by chance."""
    rng = np.random.default_rng(6)
    target = NumberTarget.of(rng.poisson(1, 40) * 1.0, np.arange(40) % 2 if with_strata else None)
    n_strata = target.n_strata

    def p_of(level):
        sizes, sums = np.zeros((2, 1, 40, n_strata))
        np.add.at(sizes[0], (level, target.strata), 1)
        np.add.at(sums[0], (level, target.strata), target.scores)
        return float(np.exp(level_gain_log_p(sizes.astype(np.int64), sums, target)[0]))

    assert p_of(np.arange(40)) == 1
    nearly = np.arange(40)
    nearly[[1, 3, 5]] = nearly[[11, 13, 15]]
    p = np.array([p_of(rng.permutation(nearly)) for _ in range(300)])
    assert all((p <= level).mean() <= level + 3 * np.sqrt(level / 300) for level in (0.01, 0.05, 0.2))


def test_partial_correlation_given_others():
    rng = np.random.default_rng(7)
    X, n = rng.normal(size=(6, 80)), 80
    y = X[0] + 0.5 * X[1] + rng.normal(size=n)
    given = GivenNumbers.of(X[:2], y[np.newaxis])
    import statsmodels.api as sm

    for v, p in zip(range(2, 6), np.exp(given.log_p(X[2:])), strict=True):
        design = sm.add_constant(X[[0, 1, v]].T)
        assert p == pytest.approx(sm.OLS(y, design).fit().pvalues[3], rel=0.1)
    kept = np.exp(given.log_p_of_kept())
    full = sm.OLS(y, sm.add_constant(X[:2].T)).fit().pvalues[1:]
    np.testing.assert_allclose(np.log(kept), np.log(full), rtol=0.05)


def test_strata_only_move_samples_within():
    """A shift between strata of outcome and variable alike is no correlation."""
    rng = np.random.default_rng(8)
    strata = np.repeat([0, 1, 2], 40)
    y, x = rng.normal(size=120) + 5 * strata, rng.normal(size=(200, 120)) + 5 * strata
    p = np.exp(correlation_log_p(x, NumberTarget.of(y, strata)))
    assert stats.kstest(p, "uniform").pvalue > 0.01
    sizes = np.zeros((1, 2, 3), dtype=np.int64) + 20
    codes = np.tile(np.repeat([0, 1], 20), 3)
    target = NumberTarget.of(y, strata)
    sums = np.zeros((1, 2, 3))
    np.add.at(sums[0], (codes, strata), target.scores)
    scores = np.broadcast_to(np.array([0.0, 1.0])[:, np.newaxis], (1, 2, 3))
    by_levels = level_correlation_log_p(sizes, sums, scores, target, None)
    np.testing.assert_allclose(by_levels, correlation_log_p(codes[np.newaxis].astype(float), target), atol=0.2)


@pytest.mark.parametrize("outliers", [False, True])
def test_products_of_a_number_outcome(outliers):
    """Of null variables, the p-value of the best of all partners is uniform without contrast variables."""
    rng = np.random.default_rng(9)
    p_values = []
    for _ in range(40):
        X = normal_scores(rng.normal(size=(30, 70)))
        y = np.exp(2 * rng.normal(size=70))  # outliers do no harm: the variable is permuted, not the outcome
        y = y - y.mean() if outliers else normal_scores(y)
        ranks = 2 * (stats.rankdata(X, axis=1) - 0.5) / 70 - 1
        p_values.append(np.exp(number_products(int_normal_scores(X, ranks), y, n_fitted=0, n_threads=1).log_p))
    p = np.concatenate(p_values)
    assert 0.4 < np.mean(p < 0.1) / 0.1 < 1.2  # partners share the outliers
    assert np.mean(p < 0.01) < 0.02


def test_a_product_is_found_with_its_partner():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(20, 200))
    y = 0.7 * X[3] * X[11] + rng.normal(size=200)
    ranks = 2 * (stats.rankdata(X, axis=1) - 0.5) / 200 - 1
    centred = normal_scores(y) - normal_scores(y).mean()
    found = number_products(int_normal_scores(normal_scores(X), ranks), centred, n_fitted=0, n_threads=1)
    assert found.partner[3] == 11
    expected = stats.pearsonr(normal_scores(X[3]) * normal_scores(X[11]), centred).pvalue
    assert found.log_p[3] == pytest.approx(np.log(expected * 19), rel=0.05)


def test_number_products_do_not_depend_on_threads_and_blocks(monkeypatch):
    rng = np.random.default_rng(11)
    X = normal_scores(rng.normal(size=(90, 150)))
    ranks = 2 * (stats.rankdata(X, axis=1) - 0.5) / 150 - 1
    y = normal_scores(X[3] * X[50] + rng.normal(size=150))
    products = partial(number_products, int_normal_scores(X, ranks), y, n_fitted=0)
    whole = products(n_threads=1)
    monkeypatch.setattr("interplay.infer.product_maxima.ROWS_AT_ONCE", 13)
    monkeypatch.setattr("interplay.infer.product_maxima.SAMPLES_AT_ONCE", 17)
    parts = products(n_threads=3)
    np.testing.assert_array_equal(whole.statistic, parts.statistic)
    np.testing.assert_array_equal(whole.partner, parts.partner)
