"""The tests of single variables behind a combined p-value, against scipy and statsmodels; and the combination."""

import numpy as np
import pytest
from scipy import stats

from interplay.data.codes.coder import make_coder
from interplay.data.codes.rank_scores import RankScores, mid_rank_scores, normal_scores
from interplay.data.study.columns import ColumnKind
from interplay.data.study.table import as_table
from interplay.infer.arms import combined_log_p
from interplay.infer.conditional_test import conditional_log_p
from interplay.infer.given_test import GivenOthers, choose_strong
from interplay.infer.score_test import class_targets, level_score_log_p, level_scores, score_log_p


def ranks_of(X):
    return stats.rankdata(X, axis=1)


# --- The combination --------------------------------------------------------------------------------------------


def test_the_harmonic_mean_is_scipys_and_keeps_what_a_double_cannot_hold():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=(5, 40)) ** 3
    weights = rng.uniform(0.1, 1, size=5)
    expected = stats.hmean(p, axis=0, weights=weights[:, np.newaxis] * np.ones_like(p))
    assert np.allclose(np.exp(combined_log_p(np.log(p), weights)), expected, rtol=1e-12)
    assert combined_log_p([[-5000.0], [0.0]], [1, 3])[0] == pytest.approx(-5000 + np.log(4))


def test_the_harmonic_mean_lies_between_bonferroni_and_that_over_the_number_of_tests():
    rng = np.random.default_rng(1)
    p = rng.uniform(size=(4, 1000)) ** 4
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    bonferroni = (p / weights[:, np.newaxis]).min(axis=0)
    combined = np.exp(combined_log_p(np.log(p), weights))
    assert np.all(combined <= bonferroni * (1 + 1e-12))
    assert np.all(combined >= np.minimum(bonferroni / 4, 1) * (1 - 1e-12))


def test_a_test_that_does_not_apply_leaves_its_weight_to_the_others():
    log_p = np.log([[0.01, 0.01], [np.nan, 0.2], [0.5, np.nan]])
    found = np.exp(combined_log_p(log_p, [1, 2, 1]))
    assert found[0] == pytest.approx(1 / (0.5 / 0.01 + 0.5 / 0.5))
    assert found[1] == pytest.approx(1 / (1 / 3 / 0.01 + 2 / 3 / 0.2))
    assert np.isnan(combined_log_p([[np.nan]], [1])[0])


# --- The score test ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [12, 60, 400])
def test_ranks_of_two_classes_are_mann_and_whitneys(n):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(30, n)), rng.integers(0, 2, n)
    found = np.exp(score_log_p(ranks_of(X), class_targets(y, 2), step=1.0))
    expected = [stats.mannwhitneyu(x[y == 1], x[y == 0], method="asymptotic").pvalue for x in X]
    assert np.allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_ranks_of_several_classes_are_kruskal_and_wallis_with_ties(n_classes):
    rng = np.random.default_rng(n_classes)
    X, y = rng.integers(0, 6, size=(30, 200)).astype(float), rng.integers(0, n_classes, 200)
    found = np.exp(score_log_p(ranks_of(X), class_targets(y, n_classes)))
    expected = [stats.kruskal(*[x[y == q] for q in range(n_classes)]).pvalue for x in X]
    assert np.allclose(found, expected, rtol=1e-9)


def test_within_strata_the_moments_are_those_of_all_permutations():
    scores = np.array([[1.0, 2.0, 5.0, 0.0, 3.0, 3.5]])
    y, strata = np.array([1, 0, 0, 0, 1, 0]), np.array([0, 0, 0, 1, 1, 1])
    statistics = [
        scores[0, i] + scores[0, 3 + j] for i in range(3) for j in range(3)
    ]  # one of each stratum is in the class
    observed = scores[0] @ y - np.mean(statistics)
    variance, third = np.var(statistics), np.mean((statistics - np.mean(statistics)) ** 3)
    z, skewness = abs(observed) / np.sqrt(variance), np.sign(observed) * third / variance**1.5
    expected = 2 * stats.norm.sf(z)
    if skewness > 0:
        expected = max(expected, 2 * stats.pearson3.sf(z, skewness))
    found = np.exp(score_log_p(scores, class_targets(y, 2), strata=strata)[0])
    assert found == pytest.approx(min(expected, 1.0), rel=1e-9)


def test_a_skewed_statistic_has_the_tail_of_pearsons_type_three():
    rng = np.random.default_rng(0)
    scores, y = rng.exponential(size=(20, 100)) ** 2, (np.arange(100) < 8).astype(int)
    y = rng.permutation(y)
    n, n1 = 100, 8
    centred = scores - scores.mean(axis=1, keepdims=True)
    variance = n1 * (n - n1) / (n * (n - 1)) * (centred**2).sum(axis=1)
    third = n1 * (n - n1) * (n - 2 * n1) / (n * (n - 1) * (n - 2)) * (centred**3).sum(axis=1)
    z, skewness = centred @ y / np.sqrt(variance), third / variance**1.5
    normal, gamma = 2 * stats.norm.sf(np.abs(z)), 2 * stats.pearson3.sf(np.abs(z), np.abs(skewness))
    expected = np.where(np.sign(z) * skewness > 0, np.maximum(normal, np.minimum(gamma, 1)), normal)
    assert np.allclose(np.exp(score_log_p(scores, class_targets(y, 2))), expected, rtol=1e-7)
    assert (np.sign(z) * skewness > 0).any()


@pytest.mark.parametrize("shares", [(0.95, 0.05), (0.5, 0.5), (0.8, 0.1, 0.1)])
@pytest.mark.parametrize("kind", ["zero-inflated", "rare", "normal"])
def test_the_score_test_keeps_its_level_on_noise(shares, kind):
    rng = np.random.default_rng(len(kind) + len(shares))
    n, n_vars = 200, 6000
    y = np.searchsorted(np.cumsum(shares)[:-1] * n, np.arange(n), side="right")
    values = {
        "normal": rng.normal(size=(n_vars, n)),
        "rare": (rng.uniform(size=(n_vars, n)) < 0.05).astype(float),
        "zero-inflated": rng.poisson(4, size=(n_vars, n)) * (rng.uniform(size=(n_vars, n)) < 0.08),
    }[kind]
    scores = mid_rank_scores(values)
    step = 0.0 if kind == "normal" else 1.0 if kind == "rare" else 2 / n
    p = np.exp(score_log_p(scores, class_targets(y, len(shares)), step=step))
    for level in (0.05, 0.01, 0.001):
        n_below = int((p < level).sum())
        assert stats.binom.sf(n_below - 1, n_vars, level) > 1e-4, (level, n_below)


def test_a_constant_column_has_p_one():
    scores = np.zeros((2, 30))
    for n_classes in (2, 3):
        y = np.arange(30) % n_classes
        assert np.array_equal(score_log_p(scores, class_targets(y, n_classes)), np.zeros(2))


# --- Columns of few values --------------------------------------------------------------------------------------


def counted(codes, y, strata=None):
    strata = np.zeros(len(y), dtype=int) if strata is None else strata
    counts = np.zeros((len(codes), codes.max() + 1, y.max() + 1, strata.max() + 1), dtype=np.int64)
    for v, row in enumerate(codes):
        np.add.at(counts[v], (row, y, strata), 1)
    return counts


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_strata", [1, 4])
def test_counts_give_the_p_values_of_the_samples(n_classes, n_strata):
    rng = np.random.default_rng(n_classes + n_strata)
    codes = rng.choice(3, size=(40, 300), p=[0.6, 0.3, 0.1])
    y, strata = rng.integers(0, n_classes, 300), rng.integers(0, n_strata, 300)
    counts = counted(codes, y, strata)
    scores = level_scores(counts)
    of_samples = np.stack([scores[v][codes[v], strata] for v in range(40)])
    assert np.allclose(of_samples, mid_rank_scores(codes.astype(float), strata))
    found = level_score_log_p(counts, scores)
    gaps = np.diff(np.sort(scores, axis=1), axis=1).min(axis=(1, 2))
    expected = score_log_p(of_samples, class_targets(y, n_classes), strata=strata, step=gaps)
    approximate = found > np.log(0.05) if n_classes == 2 and n_strata == 1 else np.ones(40, dtype=bool)
    assert np.allclose(found[approximate], expected[approximate], rtol=1e-9)
    assert approximate.any()


def test_small_p_values_of_counts_are_exact():
    """Against all tables with the same margins, one by one."""
    rng = np.random.default_rng(3)
    sizes, n_cases = np.array([12, 7, 4]), 9
    for chosen in rng.multivariate_hypergeometric(sizes, n_cases, size=300):
        counts = np.stack([sizes - chosen, chosen], axis=1)[np.newaxis, :, :, np.newaxis]
        scores = level_scores(counts)
        p = np.exp(level_score_log_p(counts, scores)[0])
        null = stats.multivariate_hypergeom(sizes, n_cases)
        s = scores[0, :, 0]
        mean = n_cases * (sizes @ s) / sizes.sum()
        exact = sum(
            null.pmf([a, b, n_cases - a - b])
            for a in range(13)
            for b in range(8)
            if 0 <= n_cases - a - b <= 4 and abs(s @ [a, b, n_cases - a - b] - mean) >= abs(s @ chosen - mean) - 1e-9
        )
        assert p == pytest.approx(exact, rel=1e-9) or (p > 0.05 and exact > 0.02)


def test_two_levels_have_the_p_value_of_the_exact_test():
    table = np.array([[90, 10], [100, 0]])
    counts = table[np.newaxis, :, :, np.newaxis]
    found = np.exp(level_score_log_p(counts, level_scores(counts))[0])
    assert found == pytest.approx(np.exp(conditional_log_p(counts, pseudocount=0.0)[0]), rel=1e-9)


# --- Given others -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_strata", [1, 3])
def test_given_others_is_the_partial_correlation_of_statsmodels(n_strata):
    import statsmodels.api as sm

    rng = np.random.default_rng(n_strata)
    n = 300
    Z = rng.normal(size=(8, n))
    y = (Z[0] + 0.7 * Z[1] - 0.5 * Z[2] + rng.normal(size=n) > 0).astype(int)
    strata = rng.integers(0, n_strata, n)
    model = GivenOthers.of(Z[:3], class_targets(y, 2), strata if n_strata > 1 else None)
    dummies = np.stack([strata == s for s in range(n_strata)], axis=1).astype(float)

    def square(variables, v):
        fitted = sm.OLS(y, np.column_stack([Z[variables].T, dummies])).fit()
        t = fitted.tvalues[variables.index(v)]
        return t**2 / (t**2 + fitted.df_resid) * (fitted.df_resid)

    found = model.log_p(Z[3:])
    for v in range(3, 8):
        partial = square([0, 1, 2, v], v)
        n_left = n - n_strata - 4  # of the regression; permutation has one more
        assert np.exp(found[v - 3]) == pytest.approx(stats.chi2.sf(partial * (n_left + 1) / n_left, 1), rel=0.02)
    of_strong = model.log_p_of_kept()
    for k in range(3):
        partial = square([0, 1, 2], k)
        n_left = n - n_strata - 3
        assert of_strong[k] == pytest.approx(stats.chi2.logsf(partial * (n_left + 1) / n_left, 1), rel=0.01)


def test_a_copy_of_a_strong_variable_tells_nothing_given_it():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2, 100))
    y = (z[0] > 0).astype(int)
    model = GivenOthers.of(np.stack([z[0], z[0]]), class_targets(y, 2))
    assert model.is_kept.tolist() == [True, False]
    assert model.log_p(z[:1])[0] == 0.0
    assert model.log_p_of_kept()[0] < -15


def test_without_strong_variables_given_is_the_plain_test():
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(5, 80)), rng.integers(0, 3, 80)
    model = GivenOthers.of(np.empty((0, 80)), class_targets(y, 3))
    assert np.allclose(model.log_p(z), score_log_p(z, class_targets(y, 3)))
    assert len(model.log_p_of_kept()) == 0


def test_strong_variables_are_few_and_significant():
    log_p = np.log(np.linspace(1e-5, 1, 1000))
    strong = choose_strong(log_p, n_samples=50)
    assert len(strong) <= 5
    assert np.all(log_p[strong] < np.log(1e-3))
    assert len(choose_strong(np.full(10, np.nan), n_samples=50)) == 0


# --- Scores of columns ------------------------------------------------------------------------------------------


def test_scores_of_samples_are_mid_ranks_whatever_the_column():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=80), rng.integers(0, 30, 80), rng.integers(0, 3, 80), rng.integers(0, 2, 80)])
    coder = make_coder(as_table(X), divisions=1, discretizations=1, range_=0, seed=0)
    scores = RankScores(coder)
    assert scores.is_ordered.all()
    assert coder.is_discrete.tolist() == [False, False, True, True]
    expected = (2 * stats.rankdata(X, axis=0) - 1) / 80 - 1
    assert np.allclose(scores.read(slice(0, 4)), expected.T)
    assert np.allclose(normal_scores(scores.read(slice(0, 1)))[0], stats.norm.ppf((stats.rankdata(X[:, 0]) - 0.5) / 80))
    strata = rng.integers(0, 3, 80)
    within = RankScores(coder, strata).read(slice(0, 4))
    for s in range(3):
        inside = strata == s
        n = inside.sum()
        assert np.allclose(within[:, inside], ((2 * stats.rankdata(X[inside], axis=0) - 1) / n - 1).T)


def test_labels_have_no_order_but_two_of_them_do():
    X = [[text, flag] for text, flag in zip("abcabc" * 5, [True, False, False] * 10, strict=True)]
    coder = make_coder(as_table(X), divisions=1, discretizations=1, range_=0, seed=0)
    scores = RankScores(coder)
    assert coder.table.kinds[0] == ColumnKind.LABEL
    assert scores.is_ordered.tolist() == [False, True]
    assert np.isnan(scores.read(slice(0, 2))[0]).all()


@pytest.mark.parametrize("missing", ["level", "impute"])
def test_missing_values_have_the_score_nought_or_that_of_what_was_drawn(missing):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 2, 60)])
    X[:7, 0] = X[5:9, 1] = np.nan
    coder = make_coder(as_table(X), divisions=1, discretizations=1, range_=0, seed=0, missing=missing)
    scores = RankScores(coder).read(slice(0, 2))
    assert np.isfinite(scores).all()
    if missing == "level":
        assert not scores[0, :7].any()
        assert not scores[1, 5:9].any()
        assert np.allclose(scores[0, 7:], (2 * stats.rankdata(X[7:, 0]) - 1) / 53 - 1)
    else:
        assert np.isin(scores[1], np.unique(scores[1, 10:])).all()
