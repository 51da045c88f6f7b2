"""select() over several dimensions in one call: the tests of its arms, their weights, and how they are combined."""

import itertools

import numpy as np
import pytest
from scipy import stats

import interplay
from interplay.ask.selection.settings import resolve_dimensions
from interplay.data.codes.rank_scores import mid_rank_scores
from interplay.infer import product_maxima as maxima_module
from interplay.infer.arms import WEIGHTS, combined_log_p, learned_weights, weighted_arms
from interplay.infer.arms import weighted_tests as weights_of
from interplay.infer.product_maxima import int_normal_scores, int_scores, number_products, product_maxima
from one_call_problem import N_SAMPLES, N_VARS, found_in_mixed_effects, mixed_effects


@pytest.fixture(scope="module")
def data():
    return mixed_effects()


@pytest.fixture(scope="module")
def found():
    return found_in_mixed_effects()


# --- Weights ----------------------------------------------------------------------------------------------------------


def test_weights_sum_up_to_one_and_larger_tuples_share_theirs():
    for dimensions in ((1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), (2, 3)):
        arms = resolve_dimensions(dimensions, None, 50)[1]
        assert sum(
            test.weight for test in weights_of(dimensions, arms, WEIGHTS[False], samples_per_column=2)
        ) == pytest.approx(1)
    three = {
        test.name: test.weight
        for test in weights_of((1, 2, 3), ("alone", "given", "pairs", "triples"), WEIGHTS[False], samples_per_column=1)
    }
    four = {
        test.name: test.weight
        for test in weights_of(
            (1, 2, 3, 4), ("alone", "given", "pairs", "triples", "quadruples"), WEIGHTS[False], samples_per_column=1
        )
    }
    assert four["synergy 3"] == four["synergy 4"] == pytest.approx(three["synergy 3"] / 2)
    assert four["rank"] == pytest.approx(three["rank"])
    wide = weights_of((1, 2, 3), ("alone", "given", "pairs", "triples"), WEIGHTS[False], samples_per_column=0.04)
    of_wide = {test.name: test.weight for test in wide}
    assert of_wide["synergy 2"] / of_wide["rank"] == pytest.approx(0.2 * three["synergy 2"] / three["rank"])
    assert of_wide["synergy 3"] / of_wide["rank"] == pytest.approx(0.04 * three["synergy 3"] / three["rank"])


@pytest.mark.parametrize("of_numbers", [False, True])
def test_the_sum_of_weights_over_subsets_of_arms(of_numbers):
    arms = ("alone", "given", "pairs", "triples")
    for n in range(1, 5):
        for some in itertools.combinations(arms, n):
            tests = weights_of((1, 2, 3), some, WEIGHTS[of_numbers], samples_per_column=0.1)
            assert {test.arm for test in tests} == set(some)
            assert sum(test.weight for test in tests) == pytest.approx(1)


def test_weights_lean_to_where_others_were_found(found):
    """And a variable has no part in its own: changing its p-values changes those of the others alone."""
    tests = found.tests
    log_p, weights = weighted_arms(tests)
    fixed = np.array([sum(test.weight for test in tests if test.arm == arm) for arm in found.arms])
    assert np.allclose(weights.sum(axis=0), 1)
    assert (found.arm_weights["triples"] > fixed[3]).all()  # three were found there
    stronger = log_p.copy()
    stronger[2, 30] = -60.0
    changed = learned_weights(stronger, fixed)
    assert np.array_equal(changed[:, 30], weights[:, 30])
    assert (changed[2, np.arange(N_VARS) != 30] > weights[2, np.arange(N_VARS) != 30]).all()


def test_where_nothing_is_found_weights_are_the_fixed_ones():
    rng = np.random.default_rng(0)
    log_p, fixed = np.log(rng.uniform(0.01, 1, size=(3, 50))), np.array([0.5, 0.3, 0.2])
    assert np.array_equal(learned_weights(log_p, fixed), np.repeat(fixed[:, np.newaxis], 50, axis=1))
    alone = log_p.copy()
    alone[0, 7] = -30.0
    learned = learned_weights(alone, fixed)
    assert np.array_equal(learned[:, 7], fixed)  # the only one that is found is judged by the fixed weights
    assert np.allclose(learned[:, 8], 0.5 * fixed + 0.5 * np.array([1, 0, 0]))


def test_the_p_value_is_the_harmonic_mean_of_the_tests_and_of_the_arms(found):
    assert sum(test.weight for test in found.tests) == pytest.approx(1)
    of_arms = [np.log(found.p_of_arm(arm)) for arm in found.arms]
    assert np.allclose(combined_log_p(of_arms, found.arm_weights.to_numpy().T), found.log_p)
    fixed = {arm: sum(test.weight for test in found.tests if test.arm == arm) for arm in found.arms}
    of_tests = [found.arm_weights[test.arm].to_numpy() * test.weight / fixed[test.arm] for test in found.tests]
    assert np.allclose(combined_log_p([test.log_p for test in found.tests], of_tests), found.log_p)
    assert found.arms == ("alone", "given", "pairs", "triples")
    for arm, p in zip(found.arms, (found.p_alone, found.p_given, found.p_pairs, found.p_triples), strict=True):
        assert np.array_equal(found.table[f"p_{arm}"], p)
    with pytest.raises(ValueError, match=r"no arm 'quadruples'; its arms are alone, given, pairs, triples"):
        _ = found.p_quadruples


# --- Ranks and products -----------------------------------------------------------------------------------------------


def test_rank_spread_and_shape_are_those_of_permutations(data, found):
    """Sums of normal scores, of their squares, and squares of sums over eighths, of shuffled classes."""
    X, y = data
    by_name = {test.name: np.exp(test.log_p) for test in found.tests}
    rng = np.random.default_rng(0)
    shuffled = np.array([rng.permutation(y - y.mean()) for _ in range(20_000)])
    for v in range(0, X.shape[1], 7):
        ranks = stats.rankdata(X[:, v])
        scores = stats.norm.ppf((ranks - 0.5) / N_SAMPLES)
        eighths = (8 * (ranks - 0.5) / N_SAMPLES).astype(int)[:, np.newaxis] == np.arange(8)
        columns = {"rank": scores[:, np.newaxis], "spread": (scores**2)[:, np.newaxis], "shape": eighths * 1.0}
        for name, z in columns.items():
            z = (z - z.mean(axis=0)) / np.sqrt(np.maximum(z.sum(axis=0), 1) if name == "shape" else 1)
            largest = (((y - y.mean()) @ z) ** 2).sum()
            p = float((((shuffled @ z) ** 2).sum(axis=1) >= largest * (1 - 1e-12)).mean())
            assert by_name[name][v] == pytest.approx(p, rel=0.1, abs=0.01)


def test_spread_of_a_number_along_a_column():
    """Columns that change the spread of y and no mean are found, by the test `noise`; ties and levels too."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 20))
    X[:, 4] = rng.integers(0, 3, 500)
    y = np.exp(0.35 * X[:, 3] + 0.35 * X[:, 4]) * rng.normal(size=500)
    found = interplay.select(X, y, dimensions=(1,))
    assert sorted(found.relevant) == ["x3", "x4"]
    p = {test.name: np.exp(test.log_p) for test in found.tests}["noise"]
    far = np.abs(y - np.median(y))
    assert p[0] == pytest.approx(stats.spearmanr(X[:, 0], far).pvalue, abs=0.15)
    assert max(p[3], p[4]) < 1e-4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_are_those_of_plain_loops(n_classes):
    rng = np.random.default_rng(n_classes)
    n, p, c = 60, 9, 4
    scores = int_scores(mid_rank_scores(rng.normal(size=(p + c, n))))
    codes = rng.integers(0, n_classes, n)
    targets = np.array([codes == q for q in range(n_classes == 2, n_classes)], dtype=float)
    residuals = targets - targets.mean(axis=1, keepdims=True)
    found = product_maxima(scores, residuals, n_vars=p, n_fitted=2, n_threads=1)
    u = np.rint(2**15 * residuals / np.abs(residuals).max())
    share = np.ones(1) if n_classes == 2 else 1 - (u**2).sum(axis=1) / (u**2).sum()
    share = share * max(n_classes - 1, 1) / share.sum()
    for i in range(p + c):
        best, partner = -1.0, -1
        for j in range(p):
            if i == j:
                continue
            square = 0.0
            for t in range(len(u)):
                w, z = u[t] * scores[j].astype(float), scores[i].astype(float)
                covariance = ((w - w.mean()) * (z - z.mean())).sum()
                variance = ((w - w.mean()) ** 2).sum() * ((z - z.mean()) ** 2).sum() / (n - 1 - 2)
                square += share[t] * covariance**2 / variance
            if square > best * (1 + 1e-12):
                best, partner = square, j
        assert found.statistic[i] == pytest.approx(best, rel=1e-9)
        if i < p:
            assert found.partner[i] == partner
    assert found.df == max(n_classes - 1, 1)


def test_columns_of_many_ties_take_no_part_in_products():
    values = np.array([np.arange(100), np.arange(100) < 50, np.arange(100) < 4, np.arange(100) % 20, [3] * 100])
    kept = int_scores(mid_rank_scores(values.astype(float))).any(axis=1)
    assert kept.tolist() == [True, False, False, True, False]
    found = product_maxima(
        int_scores(mid_rank_scores(values.astype(float))), np.ones((1, 100)), n_vars=5, n_fitted=0, n_threads=1
    )
    assert np.isnan(found.statistic).tolist() == [False, True, True, False, True]
    assert (found.partner >= 0).tolist() == kept.tolist()


@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_tiles_that_are_left_out_hold_no_maximum(monkeypatch, n_classes):
    """Of the tiles read in single precision, the few read exactly give the bits of all: with ties, and columns of 0."""
    rng = np.random.default_rng(n_classes)
    n, p = 150, 400
    values = rng.normal(size=(p + 60, n))
    values[3], values[200], values[9] = values[7], values[7], np.round(values[9])
    ranks = mid_rank_scores(values)
    ranks[5] = 0
    y = values[0] * values[1] + rng.normal(size=n)
    read = []
    exactly = maxima_module._strongest
    monkeypatch.setattr(maxima_module, "_strongest", lambda *args: read.append(args[1].mean()) or exactly(*args))

    def found():
        if not n_classes:
            residual = np.tanh(y) - np.tanh(y).mean()
            normal = stats.norm.ppf((ranks[:p] + 1) / 2 * 0.98 + 0.01)
            return number_products(int_normal_scores(normal, ranks[:p]), residual, n_fitted=1, n_threads=2)
        codes = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
        indicators = (codes == np.arange(n_classes)[:, np.newaxis]).astype(float)
        residuals = indicators[1 if n_classes == 2 else 0 :] - 1 / n_classes
        return product_maxima(int_scores(ranks), residuals, n_vars=p, n_fitted=1, n_threads=2)

    of_all = found()
    monkeypatch.setattr(maxima_module, "_MIN_PARTNERS", 100)
    monkeypatch.setattr(maxima_module, "_TILE", 16)
    of_few = found()
    assert np.array_equal(of_all.statistic, of_few.statistic, equal_nan=True)
    assert np.array_equal(of_all.partner, of_few.partner)
    assert read[0] == 1
    assert read[1] < 0.1


def test_products_do_not_depend_on_threads_and_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    scores = int_scores(mid_rank_scores(rng.normal(size=(700, 90))))
    residuals = rng.normal(size=(1, 90))
    one, two = (product_maxima(scores, residuals, n_vars=500, n_fitted=0, n_threads=n) for n in (1, 3))
    assert np.array_equal(one.statistic, two.statistic)
    assert np.array_equal(one.partner, two.partner)
    monkeypatch.setattr("interplay.infer.product_maxima.SAMPLES_AT_ONCE", 17)
    monkeypatch.setattr("interplay.infer.product_maxima.ROWS_AT_ONCE", 64)
    in_parts = product_maxima(scores, residuals, n_vars=500, n_fitted=0, n_threads=1)
    assert np.array_equal(one.statistic, in_parts.statistic)
    assert np.array_equal(one.partner, in_parts.partner)
