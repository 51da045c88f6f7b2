"""The interaction test against statsmodels, the reference, enumeration, and what it is for: additive effects."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from scipy import stats

import interplay
import reference
from interplay.base.tails import log_chi2_tail
from interplay.infer.interaction import interaction_test as exact_p_value
from interplay.infer.interaction.bootstrap import drawn_g2
from interplay.infer.interaction.effect import adjusted_residuals, interaction_log_odds
from interplay.infer.interaction.interaction_test import bootstrap_input, exact_log_p, g2_thresholds, interaction_test
from interplay.infer.interaction.null_model import (
    degrees_of_freedom,
    fewest_degrees_of_freedom,
    parity_signs,
    step_range,
    supported_entries,
)
from interplay.infer.interaction.proportional_fit import fit_null_model, fit_proportionally, likelihood_ratio
from likelihood_ratio import independent_columns, regression

SHAPES = [(2, 2, 2), (3, 3, 2), (2, 4, 2), (3, 3, 3), (4, 2, 3), (2, 2, 2, 2), (3, 2, 3, 2), (2, 3, 2, 3), (3, 3, 3, 2)]


def random_tables(shape, n_tables, n_samples, seed, evenness=1.0):
    """Tables whose entries have chances from a Dirichlet distribution: the less even, the more of them are empty."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(prod(shape), evenness), n_tables)
    return np.array([rng.multinomial(n_samples, chance) for chance in chances]).reshape(n_tables, *shape)


def as_reference_table(table):
    return {cell: [float(n) for n in table[cell]] for cell in product(*map(range, table.shape[:-1]))}


# --- G² and degrees of freedom ------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty_cells", [0, 2])
@pytest.mark.parametrize("shape", [*SHAPES, (4, 4, 2), (4, 4, 3), (4, 3, 2, 2)])
def test_it_is_the_likelihood_ratio_test_of_logistic_regression(shape, empty_cells):
    rng = np.random.default_rng(sum(shape))
    k = len(shape) - 1
    tables = 1 + random_tables(shape, 3, 30 * prod(shape), seed=prod(shape), evenness=3.0)
    for table in tables:
        # Cells that no sample has, one with each first level at most, so that there is something left to be tested.
        for first in range(min(empty_cells, shape[0])):
            table[(first, *(rng.integers(c) for c in shape[1:-1]))] = 0
    fit = fit_null_model(tables)
    df = degrees_of_freedom(tables)
    for table, g2, df_of_table in zip(tables, fit.g2, df, strict=True):
        larger, smaller = regression(table, k), regression(table, k - 1)
        assert g2 == pytest.approx(2 * (larger[0] - smaller[0]), abs=1e-8)
        assert df_of_table == larger[1] - smaller[1]
        assert empty_cells == 0 or df_of_table < (shape[-1] - 1) * prod(c - 1 for c in shape[:-1])


@pytest.mark.parametrize("shape", SHAPES)
def test_g2_is_the_reference_s(shape):
    """Sparse tables, with empty cells, margins and classes."""
    tables = random_tables(shape, 12, 4 * prod(shape), seed=1, evenness=0.7)
    fit = fit_null_model(tables)
    assert fit.converged.all()
    for table, mu, g2 in zip(tables, fit.mu, fit.g2, strict=True):
        plain = as_reference_table(table)
        # IPF is slow where the fit has zeros beyond those of the margins; the next test is for these.
        if (mu[supported_entries(table[np.newaxis])[0]] > 0.01).all():
            assert g2 == pytest.approx(reference.interaction_g2(plain), abs=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("per_entry", [0.5, 2, 10])
def test_the_fit_has_the_margins_of_the_table_and_no_interaction(shape, per_entry):
    """What makes it the maximum of the likelihood (Birch), also where it has zeros and IPF would take for ever."""
    tables = random_tables(shape, 60, int(per_entry * prod(shape)) + 3, seed=2, evenness=0.8)
    fit = fit_null_model(tables)
    assert fit.converged.all()
    for axis in range(1, tables.ndim):
        np.testing.assert_allclose(fit.mu.sum(axis=axis), tables.sum(axis=axis), atol=2e-5)
    inside = (fit.mu > 0).reshape(len(tables), -1).all(axis=1)
    contrast = np.log(fit.mu[inside])
    for axis in range(1, tables.ndim):
        contrast = np.diff(contrast, axis=axis)
    np.testing.assert_allclose(contrast, 0.0, atol=1e-6)


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 2, 2, 2), (2, 2, 2, 2, 2)])
def test_two_levels_are_fitted_in_closed_form_as_by_ipf(shape):
    tables = random_tables(shape, 200, 40 * prod(shape), seed=3)
    closed, iterated = fit_null_model(tables), fit_proportionally(tables, tolerance=1e-12, max_sweeps=5000)
    compared = iterated.converged & (iterated.mu.reshape(len(tables), -1).min(axis=1) > 0.01)
    assert compared.mean() > 0.7
    np.testing.assert_allclose(closed.g2[compared], iterated.g2[compared], atol=1e-8)
    assert (closed.g2 <= iterated.g2 + 1e-9).all()


def test_two_levels_keep_digits_of_tiny_expected_counts():
    """Entries of 3 that expect 1e-11: n + s·t would lose them by subtraction."""
    table = np.full((1, 2, 2, 2, 2), 3000)
    signs = 1 - 2 * (np.indices(table.shape[1:]).sum(axis=0) % 2)
    table[0][signs < 0] = 300_000
    table[0, 0, 0, 0, 0] = 3
    mu = fit_null_model(table).mu[0]
    assert abs((signs * np.log(mu)).sum()) < 1e-8
    table[0, 0, 0, 0, 0] = 300_000
    table[0][signs > 0] = 10**6
    table[0, 0, 0, 0, 1] = 2
    mu = fit_null_model(table).mu[0]
    assert abs((signs * np.log(mu)).sum()) < 1e-8


@pytest.mark.parametrize("shape", [*SHAPES, (4, 4, 2), (3, 4, 3)])
@pytest.mark.parametrize("per_entry", [0.3, 0.7, 2])
def test_degrees_of_freedom_are_those_of_exact_arithmetic(shape, per_entry):
    tables = random_tables(shape, 15, int(per_entry * prod(shape)) + 2, seed=4, evenness=0.6)
    df = degrees_of_freedom(tables)
    assert df.tolist() == [reference.interaction_df(as_reference_table(table)) for table in tables]
    assert (fewest_degrees_of_freedom(tables) <= df).all()


def test_degrees_of_freedom_without_empty_cells():
    tables = np.ones((2, 3, 4, 2, 3), dtype=np.int64)
    assert degrees_of_freedom(tables).tolist() == fewest_degrees_of_freedom(tables).tolist() == [12, 12]


# --- Exact p-values -----------------------------------------------------------------------------------------------


def tables_with_margins(table):
    """Every table with the cell sizes and the margins n(x₋ᵢ, y) of this one, and in how many ways it comes about."""
    sizes = table.sum(axis=-1)
    for in_class_1 in product(*(range(size + 1) for size in sizes.ravel())):
        ones = np.array(in_class_1).reshape(sizes.shape)
        if all((ones.sum(axis=i) == table[..., 1].sum(axis=i)).all() for i in range(ones.ndim)):
            yield prod(comb(int(size), one) for size, one in zip(sizes.ravel(), in_class_1, strict=True))


def brute_force_p(strata):
    ways = [list(tables_with_margins(table)) for table in strata]
    observed = prod(prod(comb(int(cell.sum()), int(cell[1])) for cell in table.reshape(-1, 2)) for table in strata)
    together = [prod(chosen) for chosen in product(*ways)]
    return float(Fraction(sum(w for w in together if w <= observed), sum(together)))


@pytest.mark.parametrize(("shape", "n_samples"), [((2, 2, 2), 30), ((2, 2, 2), 12), ((2, 2, 2, 2), 18)])
def test_the_exact_p_value_is_that_of_all_tables_with_these_margins(shape, n_samples):
    for table in random_tables(shape, 12, n_samples, seed=5, evenness=3.0):
        assert np.exp(exact_log_p(table[np.newaxis])) == pytest.approx(brute_force_p([table]), rel=1e-9)


def test_the_exact_p_value_counts_equally_likely_tables():
    table = np.array([[[3, 1], [1, 3]], [[1, 3], [3, 1]]])
    assert np.exp(exact_log_p(table[np.newaxis])) == pytest.approx(brute_force_p([table]), rel=1e-9)


def test_the_exact_p_value_with_strata():
    for strata in random_tables((2, 2, 2), 16, 14, seed=6, evenness=3.0).reshape(8, 2, 2, 2, 2):
        assert np.exp(exact_log_p(strata)) == pytest.approx(brute_force_p(strata), rel=1e-9)


def test_the_exact_p_value_of_overwhelming_evidence_does_not_underflow():
    table = np.array([[[4000, 2], [3, 4000]], [[2, 4000], [4000, 3]]])
    log_p = exact_log_p(table[np.newaxis])
    assert log_p < -2000
    test = interaction_test(table[np.newaxis])
    assert test.p_value[0] == 0
    assert test.log_p[0] == log_p
    assert log_chi2_tail(test.g2, 1)[0] == pytest.approx(log_p, rel=0.01)


@pytest.mark.parametrize("k", [2, 3])
def test_of_very_many_tables_only_those_that_matter_are_listed(k, monkeypatch):
    rng = np.random.default_rng(k)
    for evenness in (1.0, 5.0, 50.0) * 10:
        table = rng.multinomial(5000, rng.dirichlet(np.full(2 ** (k + 1), evenness))).reshape([2] * (k + 1))
        signs = parity_signs(table.shape).reshape(table.shape)
        (low,), (high,) = step_range(table.reshape(1, -1), signs.ravel())
        for t in (0, low, high, rng.integers(low, high + 1)):  # also the least likely of all
            tables = (table + signs * t)[np.newaxis]
            monkeypatch.setattr(exact_p_value, "MAX_LISTED", 10**9)
            listed = exact_log_p(tables)
            monkeypatch.setattr(exact_p_value, "MAX_LISTED", 0)
            assert exact_log_p(tables) == pytest.approx(listed, rel=1e-8, abs=1e-8)


def test_strata_with_too_many_tables_are_left_to_the_bootstrap():
    tables = np.full((1, 4, 2, 2, 2), 100)
    assert np.isnan(exact_log_p(tables[0]))
    assert interaction_test(tables, strata=True).method.tolist() == ["bootstrap"]


# --- The test as a whole ------------------------------------------------------------------------------------------


def additive_tables(n_tables, n_samples, n_levels, seed, slope=2.0):
    """Counts of (x₀, x₁), normal and cut at quantiles, where the logit of the outcome is 2x₀ + 2x₁."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_tables, 2, n_samples))
    y = rng.random((n_tables, n_samples)) < 1 / (1 + np.exp(-slope * x.sum(axis=1)))
    ranks = x.argsort(axis=2).argsort(axis=2) * n_levels // n_samples
    code = ((np.arange(n_tables)[:, np.newaxis] * n_levels + ranks[:, 0]) * n_levels + ranks[:, 1]) * 2 + y
    return np.bincount(code.ravel(), minlength=n_tables * n_levels**2 * 2).reshape(n_tables, n_levels, n_levels, 2)


@pytest.mark.parametrize("n_levels", [2, 3])
def test_additive_effects_are_no_interaction(n_levels):
    """The gain of a member given the other is significant in 20 of 20 such tables."""
    tables = additive_tables(20, 500, n_levels, seed=7)
    for table in tables:
        alone, together = table.sum(axis=0), table.reshape(-1, 2)
        gain = sum(
            stats.chi2_contingency(counts, lambda_="log-likelihood", correction=False).statistic * sign
            for counts, sign in ((together, 1), (alone, -1))
        )
        assert stats.chi2.sf(gain, n_levels * (n_levels - 1)) < 1e-6
    assert (interaction_test(tables).p_value < 0.05).sum() <= 3


def test_additive_effects_are_significant_as_often_as_they_may_be():
    p = interaction_test(additive_tables(600, 500, 2, seed=8)).p_value
    assert 0.01 < (p < 0.05).mean() < 0.075


def test_a_true_interaction_is_found():
    rng = np.random.default_rng(9)
    x = rng.integers(0, 3, (2, 1000))
    y = rng.random(1000) < np.where((x[0] == 2) & (x[1] == 2), 0.9, 0.3)
    table = np.bincount((x[0] * 3 + x[1]) * 2 + y, minlength=18).reshape(1, 3, 3, 2)
    test = interaction_test(table)
    assert test.p_value[0] < 1e-6
    assert test.residual.cell.tolist() == [[2, 2]]
    assert test.residual.class_.tolist() == [1]
    assert test.residual.value[0] > 5


def test_strata_add_up():
    """Each has its own effects, and its own interaction or none."""
    tables = random_tables((3, 2, 2), 10, 60, seed=10).reshape(5, 2, 3, 2, 2)
    together = interaction_test(tables, strata=True, bootstrap_below=0.0)
    apart = [interaction_test(tables[:, s], bootstrap_below=0.0) for s in range(2)]
    np.testing.assert_allclose(together.g2, apart[0].g2 + apart[1].g2, rtol=1e-12)
    np.testing.assert_array_equal(together.df, apart[0].df + apart[1].df)
    np.testing.assert_array_equal(together.min_expected, np.fmin(apart[0].min_expected, apart[1].min_expected))
    larger = np.abs([test.residual.value for test in apart]).argmax(axis=0)
    np.testing.assert_array_equal(together.residual.stratum, larger)


def test_strata_are_one_more_member_of_every_part():
    """H0 with strata is H0 of the tuple with the stratum, less the terms of all members that lack it."""
    (table,) = random_tables((2, 3, 2, 2), 1, 400, seed=11, evenness=3.0)
    g2 = interaction_test(table[np.newaxis], strata=True, bootstrap_below=0.0).g2[0]
    import statsmodels.api as sm

    cells = np.argwhere(table.sum(axis=-1) > 0)
    parts = [
        np.prod([cells[:, 0] == s, *(cells[:, i] == c for i, c in zip(members, levels, strict=True))], axis=0)
        for s in range(2)
        for members in ((), (1,), (2,))
        for levels in product(*(range(1, table.shape[i]) for i in members))
    ]
    fit = sm.GLM(table.reshape(-1, 2)[:, ::-1], np.column_stack(parts).astype(float), sm.families.Binomial()).fit(
        tol=1e-12
    )
    assert g2 == pytest.approx(fit.deviance, abs=1e-8)


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 3, 2), (2, 3, 2, 3), (9, 10, 3)])
def test_a_tuple_s_numbers_do_not_depend_on_the_others(shape):
    """To the last bit: lists of one search in parts, on several machines, are put together."""
    tables = random_tables(shape, 7, 5 * prod(shape), seed=12)
    together = interaction_test(tables, n_bootstrap=20)
    for i in range(len(tables)):
        alone = interaction_test(tables[i : i + 1], n_bootstrap=20)
        for name in ("g2", "df", "log_p", "method", "min_expected"):
            np.testing.assert_array_equal(getattr(together, name)[i : i + 1], getattr(alone, name))


def test_the_bootstrap_raises_p_values_and_only_where_asked():
    tables = random_tables((3, 3, 3, 2), 20, 150, seed=13, evenness=2.0)
    plain = interaction_test(tables, bootstrap_below=0.0)
    assert set(plain.method) == {"chi2"}
    np.testing.assert_allclose(plain.p_value[plain.df > 0], stats.chi2.sf(plain.g2, plain.df)[plain.df > 0])
    cut = float(np.median(plain.p_value))
    some = interaction_test(tables, bootstrap_below=cut)
    np.testing.assert_array_equal(some.method == "bootstrap", plain.p_value <= cut)
    assert (some.p_value >= plain.p_value).all()
    assert (some.p_value > plain.p_value).any()
    again = interaction_test(tables, bootstrap_below=cut)
    np.testing.assert_array_equal(some.log_p, again.log_p)
    other_seed = interaction_test(tables, bootstrap_below=cut, random_state=1)
    assert (some.log_p != other_seed.log_p).any()


def test_the_bootstrap_corrects_sparse_triples():
    """Noise in 27 cells, four samples in each class of a cell: χ² is significant far too often."""
    rng = np.random.default_rng(19)
    sizes = rng.multinomial(200, np.full(27, 1 / 27), 300).reshape(-1, 3, 3, 3)
    tables = np.stack([ones := rng.binomial(sizes, 0.5), sizes - ones], axis=-1)
    by_chi2 = interaction_test(tables, bootstrap_below=0.0).p_value
    corrected = interaction_test(tables, bootstrap_below=0.1).p_value
    assert (by_chi2 <= 0.05).mean() > 0.1
    assert (corrected <= 0.05).mean() < 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5


def test_the_bootstrap_changes_nothing_where_samples_are_many():
    rng = np.random.default_rng(20)
    tables = rng.binomial(1000, 0.5, (5, 3, 3, 2))
    plain, corrected = interaction_test(tables, bootstrap_below=0.0), interaction_test(tables, n_bootstrap=2000)
    np.testing.assert_allclose(corrected.p_value, plain.p_value, rtol=0.1)


def test_tables_too_large_for_their_columns():
    """200 levels: G² by IPF, without residuals; with empty cells their degrees of freedom cannot be found."""
    table = 5 + np.random.default_rng(21).integers(0, 10, (1, 200, 200, 2))
    test = interaction_test(table, bootstrap_below=0.0)
    assert test.df.tolist() == fewest_degrees_of_freedom(table).tolist() == [199**2]
    assert fit_null_model(table).converged.all()
    assert np.isnan(test.residual.value).all()
    table[0, 0, 0] = 0
    assert fewest_degrees_of_freedom(table).tolist() == [199**2 - 1]
    with pytest.raises(ValueError, match="use fewer divisions"):
        interaction_test(table)


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 3, 3)])
def test_counts_that_say_nothing_have_a_p_value_of_1(shape):
    tables = np.zeros((3, *shape), dtype=np.int64)
    tables[1, 0] = 5  # one level only
    tables[2, ..., 1] = 5  # one class only
    test = interaction_test(tables)
    assert test.p_value.tolist() == [1, 1, 1]
    assert test.df.tolist() == [0, 0, 0]
    assert test.g2.tolist() == pytest.approx([0, 0, 0])
    assert np.isnan(test.min_expected).tolist() == [True, False, False]
    assert np.isnan(test.log_odds.estimate if test.log_odds else test.residual.value).all()
    assert test.residual is None or (test.residual.cell == -1).all()


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 3, 2)])
def test_no_tuples_at_all(shape):
    test = interaction_test(np.zeros((0, *shape), dtype=np.int64))
    assert len(test.g2) == len(test.p_value) == len(test.method) == len(test.min_expected) == 0


@pytest.mark.parametrize(
    ("counts", "strata", "error", "words"),
    [
        (np.ones((2, 3, 2), dtype=int), False, ValueError, "counts must have the axes"),
        (np.ones((2, 2, 2, 2), dtype=int), True, ValueError, "stratum"),
        (np.ones((1, 2, 2, 2)), False, TypeError, "whole numbers"),
        (-np.ones((1, 2, 2, 2), dtype=int), False, ValueError, "negative"),
        (np.ones((1, 2, 0, 2), dtype=int), False, ValueError, "at least one level"),
    ],
)
def test_bad_counts(counts, strata, error, words):
    with pytest.raises(error, match=words):
        interaction_test(counts, strata=strata)


def test_thresholds_let_every_p_value_through_that_is_small_enough():
    tables = np.concatenate([random_tables((2, 2, 2), 300, n, seed=14, evenness=5.0) for n in (60, 400, 3000)])
    test = interaction_test(tables)
    for max_p in (0.05, 1e-3, 1e-6):
        thresholds = g2_thresholds(max_p, 1)
        assert (test.g2[test.p_value <= max_p] >= thresholds[test.df[test.p_value <= max_p]]).all()
    assert np.isinf(thresholds[0])


# --- Effect sizes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
def test_the_log_odds_ratio_is_the_highest_coefficient_of_a_logistic_regression(k):
    """Woolf's estimate and interval are Wald's for counts with ½ added to each."""
    import statsmodels.api as sm

    shape = (2,) * (k + 1)
    (table,) = random_tables(shape, 1, 400, seed=15, evenness=3.0)
    found = interaction_log_odds(table[np.newaxis, np.newaxis], np.ones((1, 1), dtype=int), confidence=0.9)
    cells = np.argwhere(np.ones(shape[:-1]))
    columns = np.repeat(independent_columns(cells, shape[:-1], k), 2, axis=0)
    model = sm.GLM(np.tile([0, 1], len(cells)), columns, sm.families.Binomial(), freq_weights=table.ravel() + 0.5)
    fit = model.fit(tol=1e-14)
    low, high = fit.conf_int(alpha=0.1)[-1]
    assert found.estimate[0] == pytest.approx(fit.params[-1], abs=1e-8)
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=1e-6)


def test_the_log_odds_ratio_of_strata_is_between_theirs_and_surer():
    tables = random_tables((2, 2, 2), 2, 400, seed=16, evenness=3.0)
    df = np.ones((1, 2), dtype=int)
    both = interaction_log_odds(tables[np.newaxis], df)
    each = interaction_log_odds(tables[:, np.newaxis], df.T)
    assert each.estimate.min() < both.estimate[0] < each.estimate.max()
    assert both.high[0] - both.low[0] < (each.high - each.low).min()
    one = interaction_log_odds(tables[np.newaxis], np.array([[1, 0]]))
    assert one.estimate[0] == each.estimate[0]


@pytest.mark.parametrize("shape", [(3, 3, 2), (2, 3, 2, 3)])
def test_adjusted_residuals_are_those_of_a_log_linear_model(shape):
    import statsmodels.api as sm

    (table,) = random_tables(shape, 1, 20 * prod(shape), seed=17, evenness=3.0)
    (mu,) = fit_null_model(table[np.newaxis]).mu
    entries = np.argwhere(np.ones(shape))
    margins = [tuple(range(len(shape) - 1)), *(tuple(set(range(len(shape))) - {i}) for i in range(len(shape) - 1))]
    groups = [np.unique(entries[:, list(margin)], axis=0, return_inverse=True)[1].ravel() for margin in margins]
    columns = np.hstack([(group[:, np.newaxis] == np.arange(group.max() + 1)).astype(float) for group in groups])
    independent = columns[
        :,
        sorted(
            np.unique([np.linalg.matrix_rank(columns[:, : j + 1]) for j in range(columns.shape[1])], return_index=True)[
                1
            ]
        ),
    ]
    fit = sm.GLM(table.ravel(), independent, family=sm.families.Poisson()).fit(tol=1e-13)
    influence = fit.get_influence()
    expected = fit.resid_pearson / np.sqrt(1 - influence.hat_matrix_diag)
    np.testing.assert_allclose(adjusted_residuals(table[np.newaxis], mu[np.newaxis]).ravel(), expected, atol=1e-6)


def test_adjusted_residuals_are_standard_normal_without_interaction():
    rng = np.random.default_rng(18)
    chance = 1 / (1 + np.exp(-(np.arange(3)[:, np.newaxis] * 0.8 - np.arange(3) * 0.5)))
    tables = np.stack([ones := rng.binomial(60, chance, (500, 3, 3)), 60 - ones], axis=-1)
    fit = fit_null_model(tables)
    np.testing.assert_allclose(likelihood_ratio(tables, fit.mu), fit.g2)
    residuals = adjusted_residuals(tables, fit.mu)[..., 1]
    assert residuals.std() == pytest.approx(1, abs=0.05)
    np.testing.assert_allclose(residuals, -adjusted_residuals(tables, fit.mu)[..., 0], atol=1e-6)


def test_sparse_tables_have_the_tail_of_the_bootstrap():
    """Five genotypes of 3200 samples: χ² of the mean gives p-values that are ten times too small."""
    rng = np.random.default_rng(5)
    k, n_samples = 5, 3200
    codes = rng.binomial(2, 0.2, (k, n_samples))
    tables = np.zeros((8, *[3] * k, 2), dtype=np.int64)
    for table in tables:
        np.add.at(table, (*codes, rng.permutation(n_samples) % 2), 1)
    tests = interaction_test(tables, bootstrap_below=1.0, n_bootstrap=400)
    assert (tests.min_expected < 1).all()
    drawn_from, seeds = bootstrap_input(tables[:1, np.newaxis], 1)
    drawn = drawn_g2(drawn_from, tests.df[:1], seeds=seeds, n_bootstrap=400)
    assert drawn.variance[0] > 1.3 * 2 * drawn.mean[0] ** 2 / tests.df[0]
    # In the far tail, the p-value is that of the gamma distribution.
    far = np.array([30.0])
    expected = stats.gamma(drawn.mean[0] ** 2 / drawn.variance[0], scale=drawn.variance[0] / drawn.mean[0]).logsf(far)
    np.testing.assert_allclose(drawn.log_tail(far, tests.df[:1], tests.min_expected[:1]), expected, rtol=1e-9)
    # Where all expected counts are large, the mean decides.
    by_mean = stats.chi2(tests.df[0]).logsf(far / drawn.factor[0])
    np.testing.assert_allclose(drawn.log_tail(far, tests.df[:1], np.array([5.0])), by_mean, rtol=1e-9)
    assert by_mean[0] < expected[0] - np.log(5)


@pytest.mark.parametrize("seed", range(60))
def test_a_bootstrap_does_not_depend_on_names(seed):
    """Which allele is counted, the order of columns, strata and classes: tables that differ so are drawn alike."""
    rng = np.random.default_rng(seed)
    shape = (1, int(rng.integers(1, 3)), *rng.integers(2, 4, int(rng.integers(2, 4))), int(rng.integers(2, 4)))
    table = rng.poisson(rng.choice([0.5, 2, 20]), shape)
    other = table
    for axis in range(1, table.ndim):
        other = np.take(other, rng.permutation(shape[axis]), axis=axis)
    other = other.transpose(0, 1, *(rng.permutation(len(shape) - 3) + 2), len(shape) - 1)
    drawn, again = bootstrap_input(table, 7), bootstrap_input(other, 7)
    assert drawn[1] == again[1]
    assert sorted(drawn[0].ravel()) == sorted(table.ravel())


@pytest.mark.parametrize(("coding", "tolerance"), [("levels", 1e-6), ("auto", 0.01)])  # a screen rounds one member
def test_p_values_do_not_depend_on_the_counted_allele(coding, tolerance):
    rng = np.random.default_rng(3)
    X = (rng.random((2, 300, 6)) < 0.15).sum(axis=0)
    y = (rng.random(300) < 0.2 + 0.5 * (X[:, 0] > 0) * (X[:, 1] > 0)) + 0
    found = interplay.interactions(X, y, coding=coding, max_p=1, random_state=0)
    assert "bootstrap" in found.table["method"].tolist()
    again = interplay.interactions(2 - X[:, ::-1], 1 - y, coding=coding, max_p=1, random_state=0)
    p = dict(zip(map(tuple, found.tested.tuples.tolist()), found.tested.log_p.tolist(), strict=True))
    for members, log_p in zip(again.tested.tuples.tolist(), again.tested.log_p.tolist(), strict=True):
        assert p[tuple(sorted(5 - v for v in members))] == pytest.approx(log_p, rel=tolerance)
