"""Interactions about numbers: F, HC3, dosages and effects beside plain loops, statsmodels and closed forms."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.anova import anova_lm

import reference
from interplay.infer.number_interaction.cell_moments import ScoredNumbers, cell_moments
from interplay.infer.number_interaction.effect import (
    difference_of_differences,
    largest_residual,
    robust_test,
    standardised_residuals,
)
from interplay.infer.number_interaction.f_test import contrasts_between, f_log_p, f_log_p_below, f_test, null_columns
from interplay.infer.number_interaction.number_tests import dosage_test, first_test, number_gains, number_tests
from interplay.infer.number_interaction.product_tables import CellSums, curved_squares, product_ratios

SHAPES = [(2, 2), (3, 3), (2, 3), (4, 3), (2, 2, 2), (3, 2, 3), (3, 3, 3), (2, 2, 2, 2)]


def _columns(rng, levels, n):
    """Columns whose higher levels are rarer, so that some cells are empty."""
    return [rng.choice(c, size=n, p=np.arange(c, 0, -1.0) / np.arange(c + 1).sum()) for c in levels]


def _cells(columns, levels, strata=None):
    if strata is None:
        return np.ravel_multi_index(columns, levels)[np.newaxis]
    return np.ravel_multi_index([strata, *columns], (int(strata.max()) + 1, *levels))[np.newaxis]


def _moments(columns, levels, z):
    return cell_moments(_cells(columns, levels), z, levels)


@pytest.mark.parametrize("levels", SHAPES)
@pytest.mark.parametrize("n", [40, 150])
def test_f_equals_anova_of_statsmodels(levels, n):
    rng = np.random.default_rng([*levels, n])
    columns, z = _columns(rng, levels, n), rng.normal(size=n)
    ours = f_test(_moments(columns, levels, z), fewest=1)
    frame = pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)} | {"z": z})
    frame["cell"] = _cells(columns, levels)[0]
    names = [f"C(x{i})" for i in range(len(levels))]
    parts = ["*".join(names[:i] + names[i + 1 :]) for i in range(len(levels))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # empty cells: columns of the design that are 0
        table = anova_lm(smf.ols(f"z ~ {' + '.join(parts)}", frame).fit(), smf.ols("z ~ C(cell)", frame).fit())
    assert (ours.df[0], ours.df_residual[0]) == (round(table["df_diff"][1]), round(table["df_resid"][1]))
    if ours.df[0]:
        assert ours.f[0] == pytest.approx(table["F"][1], rel=1e-8)
        assert math.exp(ours.log_p[0]) == pytest.approx(table["Pr(>F)"][1], rel=1e-8)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(SHAPES), st.integers(12, 120), st.integers(1, 5), st.booleans())
def test_f_equals_plain_loops(seed, levels, n, fewest, has_strata):
    rng = np.random.default_rng(seed)
    columns, z = _columns(rng, levels, n), rng.normal(size=n).round(1)
    strata = np.sort(rng.integers(0, 2, size=n)) if has_strata else None
    n_strata = 1 if strata is None else int(strata.max()) + 1
    moments = cell_moments(_cells(columns, levels, strata), z, levels, n_strata=n_strata)
    ours = f_test(moments, fewest=fewest)
    plain = reference.number_interaction(
        [column.tolist() for column in columns], z.tolist(), strata=strata, fewest=fewest
    )
    assert (ours.df[0], ours.df_residual[0]) == plain[1:]
    assert ours.f[0] == pytest.approx(plain[0], rel=1e-8, abs=1e-10)


def test_many_tuples_at_a_time_equal_one_by_one():
    rng = np.random.default_rng(5)
    z = rng.normal(size=90)
    cells = np.concatenate([_cells(_columns(rng, (3, 3), 90), (3, 3)) for _ in range(40)])
    for by_cell in (True, False):
        together = f_test(cell_moments(cells, z, (3, 3), by_cell=by_cell))
        for row in range(len(cells)):
            alone = f_test(cell_moments(cells[row : row + 1], z, (3, 3)))
            assert together.log_p[row] == pytest.approx(alone.log_p[0], rel=1e-9, abs=1e-12)


def test_a_tuple_has_the_same_bits_among_others():
    """Shards, engines and lists of any length hand over the same numbers."""
    rng = np.random.default_rng(6)
    z = rng.exponential(size=130)
    numbers = ScoredNumbers(z, z, np.log(z))
    for levels in ((2, 2), (3, 3), (3, 2, 3)):
        cells = np.concatenate([_cells(_columns(rng, levels, 130), levels) for _ in range(60)])
        tuples = np.arange(60 * len(levels)).reshape(60, -1)
        for dosages in (None, np.tile(np.arange(3.0), (60, len(levels), 1))):
            together = number_tests(cells, numbers, tuples, levels, dosages=dosages)
            for rows in (np.arange(7), np.array([33]), np.arange(20, 59)):
                some = None if dosages is None else dosages[rows]
                few = number_tests(cells[rows], numbers, tuples[rows], levels, dosages=some)
                for name in (
                    "statistic",
                    "log_p",
                    "robust_log_p",
                    "other_log_p",
                    "estimate",
                    "ci_low",
                    "residual",
                    "gain",
                ):
                    np.testing.assert_array_equal(getattr(few, name), getattr(together, name)[rows], err_msg=name)


@pytest.mark.parametrize("levels", [(2, 2), (3, 3), (3, 3, 3), (4, 2, 3)])
@pytest.mark.parametrize("n_strata", [1, 2])
def test_p_values_below_a_bar_are_those_of_the_test(levels, n_strata):
    rng = np.random.default_rng([*levels, n_strata])
    z = rng.normal(size=160)
    strata = None if n_strata == 1 else np.arange(160) % 2
    cells = np.concatenate([_cells(_columns(rng, levels, 160), levels, strata) for _ in range(300)])
    moments = cell_moments(cells, z, levels, n_strata=n_strata, by_cell=False)
    exact = f_test(moments).log_p
    for bar in (0.0, -1.0, -3.0, -200.0):
        found = f_log_p_below(moments, bar)
        below = exact <= bar
        np.testing.assert_array_equal(found[below], exact[below])
        assert ((found == exact) | (found == 0)).all()
        assert (found != 0).sum() <= 3 * below.sum() + 40  # most others are not tested


def test_samples_without_a_cell_are_left_out():
    rng = np.random.default_rng(6)
    columns, z = _columns(rng, (3, 3), 100), rng.normal(size=100)
    known = rng.random(100) < 0.7
    marked = np.where(known, _cells(columns, (3, 3)), 9)
    left_out = _moments([column[known] for column in columns], (3, 3), z[known])
    for by_cell in (True, False):
        moments = cell_moments(marked, z, (3, 3), by_cell=by_cell)
        assert moments.n_samples.tolist() == [known.sum()]
        np.testing.assert_allclose(f_test(moments).f, f_test(left_out).f)


def test_means_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(7)
    columns, z = _columns(rng, (2, 2), 80), rng.normal(size=80)
    near = f_test(_moments(columns, (2, 2), z))
    far = f_test(_moments(columns, (2, 2), z + 1e7))
    np.testing.assert_allclose(far.f, near.f, rtol=1e-6)


def test_many_levels_go_by_the_columns_of_the_hypothesis():
    rng = np.random.default_rng(8)
    levels = (14, 13)  # 156 contrasts
    columns, z = [rng.integers(0, c, size=1200) for c in levels], rng.normal(size=1200)
    ours = f_test(_moments(columns, levels, z), fewest=5)
    plain = reference.number_interaction([column.tolist() for column in columns], z.tolist())
    assert (ours.df[0], ours.df_residual[0]) == plain[1:]
    assert ours.f[0] == pytest.approx(plain[0], rel=1e-8)


def test_tail_of_f_where_it_has_a_closed_form():
    """P(F > f) at 2 and b degrees of freedom is (1 + 2f/b)^(−b/2)."""
    f, b = np.array([0.1, 1.0, 50.0, 1e3, 1e5, 1e8]), np.array([3.0, 50.0, 2000.0, 1e5, 900.0, 40.0])
    np.testing.assert_allclose(f_log_p(f, 2, b), -b / 2 * np.log1p(2 * f / b), rtol=1e-10)
    # 4 and b: x^(b/2) (1 + (1 − x) b/2), x = 1/(1 + r), r = 4f/b.
    r = 4 * f / b
    np.testing.assert_allclose(f_log_p(f, 4, b), -b / 2 * np.log1p(r) + np.log1p(b / 2 * r / (1 + r)), rtol=1e-10)
    assert f_log_p([0.0, 5.0, 5.0], [2, 0, 2], [10, 10, 0]).tolist() == [0.0, 0.0, 0.0]
    assert f_log_p(np.inf, 1, 10) == -np.inf


@pytest.mark.parametrize("levels", [(2, 2), (3, 3), (2, 2, 2), (3, 2, 2)])
def test_wald_statistic_equals_hc3_of_statsmodels(levels):
    rng = np.random.default_rng(9)
    columns = [rng.integers(0, c, size=200) for c in levels]
    z = rng.normal(size=200) * (1 + columns[0])
    frame = pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)} | {"z": z})
    fit = smf.ols(f"z ~ {'*'.join(f'C(x{i})' for i in range(len(levels)))}", frame).fit(cov_type="HC3")
    terms = [name for name in fit.params.index if name.count(":") == len(levels) - 1]
    contrast = np.array([[float(name == term) for name in fit.params.index] for term in terms])
    theirs = float(fit.wald_test(contrast, use_f=False, scalar=True).statistic)
    ours = robust_test(_moments(columns, levels, z), fewest=2)
    assert ours.wald[0] == pytest.approx(theirs, rel=1e-8)
    assert ours.df[0] == len(terms)
    # Estimated variances make tails heavier than those of χ².
    assert math.exp(ours.log_p[0]) > float(fit.wald_test(contrast, use_f=False, scalar=True).pvalue)


def test_difference_of_differences_is_the_coefficient_of_statsmodels():
    rng = np.random.default_rng(10)
    columns = [rng.integers(0, 2, size=160) for _ in range(3)]
    y = 5 + rng.normal(size=160) + 2 * columns[0] * columns[1] * columns[2]
    frame = pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)} | {"y": y})
    for k in (2, 3):
        fit = smf.ols(f"y ~ {'*'.join(f'x{i}' for i in range(k))}", frame).fit(cov_type="HC3", use_t=True)
        term = ":".join(f"x{i}" for i in range(k))
        effect = difference_of_differences(_moments(columns[:k], (2,) * k, y))
        assert effect.estimate[0] == pytest.approx(fit.params[term])
        # HC3's standard error, at Welch's degrees of freedom instead of all.
        assert effect.high[0] - effect.low[0] == pytest.approx(2 * 1.97 * fit.bse[term], rel=0.02)


@pytest.mark.parametrize("k", [2, 3])
def test_dosage_is_the_product_of_statsmodels(k):
    rng = np.random.default_rng(11)
    columns = [rng.binomial(2, 0.4, size=150) for _ in range(k)]
    y = 10 + 2 * rng.normal(size=150) + columns[0] * columns[1]
    frame = pd.DataFrame({f"x{i}": 3.0 * column for i, column in enumerate(columns)} | {"y": y})
    formula, term = f"y ~ {'*'.join(f'x{i}' for i in range(k))}", ":".join(f"x{i}" for i in range(k))
    plain, robust = smf.ols(formula, frame).fit(), smf.ols(formula, frame).fit(cov_type="HC3", use_t=True)
    tests = dosage_test(_moments(columns, (3,) * k, y), np.tile(3.0 * np.arange(3), (1, k, 1)))
    assert tests.f.f[0] == pytest.approx(plain.tvalues[term] ** 2, rel=1e-8)
    assert math.exp(tests.f.log_p[0]) == pytest.approx(plain.pvalues[term], rel=1e-8)
    assert tests.f.df_residual[0] == plain.df_resid
    assert tests.effect.estimate[0] == pytest.approx(plain.params[term], rel=1e-8)
    assert [tests.effect.low[0], tests.effect.high[0]] == pytest.approx(robust.conf_int().loc[term].tolist(), rel=1e-8)
    assert math.exp(tests.robust_log_p[0]) == pytest.approx(robust.pvalues[term], rel=1e-8)


@pytest.mark.parametrize("n_strata", [1, 3])
def test_products_of_a_search_are_those_of_dosages(n_strata):
    rng = np.random.default_rng(n_strata)
    n_pairs, n, levels = 40, 120, (3, 4)
    strata = rng.integers(0, n_strata, size=n)
    t = rng.integers(-127, 128, size=n).astype(float)
    pairs = [_columns(rng, levels, n) for _ in range(n_pairs)]
    pairs[0][0][:] = 1
    pairs[1][1][:] = np.minimum(pairs[1][0], 1)
    pairs[2][0][strata == 0] = 2
    pairs[3][1][(pairs[3][0] > 0)] = 0  # the product is 0
    dosages = [np.array([-1.0, 0.1, 1.0]), np.array([-1.0, -0.5, 0.0, 1.0])]
    cells = np.concatenate([_cells(columns, levels, strata) for columns in pairs])
    moments = cell_moments(cells, t, levels, n_strata=n_strata)
    values = np.zeros((n_pairs, 2, 4))
    values[:, 0, :3], values[:, 1] = dosages
    exact = dosage_test(moments, values).f
    sums = CellSums(np.moveaxis(moments.n, 0, -1).astype(float), np.moveaxis(moments.total, 0, -1))
    a, b = (np.repeat(one[:, np.newaxis], n_pairs, axis=1) for one in dosages)
    ratio, uncertain = product_ratios(sums, a, b, np.full(n_pairs, t @ t))
    np.testing.assert_allclose(
        ratio[~uncertain], (exact.f * exact.df / exact.df_residual)[~uncertain], rtol=1e-9, atol=1e-12
    )
    assert uncertain.sum() <= 2
    assert not uncertain[[0, 3]].any()
    less, _ = product_ratios(sums, a, b, np.full(n_pairs, t @ t / 2))
    assert (less >= ratio)[~uncertain].all()


def test_curved_squares_are_those_of_levels_beyond_a_line():
    rng = np.random.default_rng(4)
    x, strata, t = rng.choice(4, size=200, p=[0.5, 0.3, 0.1, 0.1]), rng.integers(0, 2, size=200), rng.normal(size=200)
    x[strata == 1] = np.minimum(x[strata == 1], 1)
    dosages = np.array([0.0, 1.0, 3.0, 3.5])
    n, total = (np.zeros((2, 4, 1)) for _ in range(2))
    np.add.at(n[:, :, 0], (strata, x), 1)
    np.add.at(total[:, :, 0], (strata, x), t)
    frame = pd.DataFrame({"x": dosages[x], "s": strata, "t": t})
    by_line, by_levels = (
        sum(smf.ols(f"t ~ {model}", frame[strata == s]).fit().ssr for s in (0, 1)) for model in ("x", "C(x)")
    )
    found = curved_squares(CellSums(n, total), dosages[:, np.newaxis])
    assert found[0] == pytest.approx(by_line - by_levels, rel=1e-9)
    without = CellSums(n, total).in_known(np.array([[1.0], [1.0], [0.0], [0.0]]))
    assert curved_squares(without, dosages[:, np.newaxis])[0] == pytest.approx(0, abs=1e-9)


def test_dosage_of_two_levels_is_the_test_of_levels():
    rng = np.random.default_rng(12)
    columns, z = [rng.integers(0, 2, size=100) for _ in range(2)], rng.normal(size=100)
    moments = _moments(columns, (2, 2), z)
    np.testing.assert_allclose(dosage_test(moments, np.tile([0.0, 1.0], (1, 2, 1))).f.f, f_test(moments).f)


def test_dosage_of_a_constant_member_is_not_tested():
    rng = np.random.default_rng(13)
    columns = [rng.integers(0, 3, size=60), np.zeros(60, dtype=int)]
    tests = dosage_test(_moments(columns, (3, 2), rng.normal(size=60)), np.tile(np.arange(3.0), (1, 2, 1)))
    assert tests.f.df.tolist() == [0]
    assert tests.f.log_p.tolist() == [0.0]


def test_residuals_are_those_of_least_squares():
    """(mean − fit)/its standard error, from the hat matrix of H0 over samples."""
    rng = np.random.default_rng(14)
    columns, z = [rng.integers(0, 3, size=120) for _ in range(2)], rng.normal(size=120)
    z += 3.0 * ((columns[0] == 2) & (columns[1] == 1))
    moments = _moments(columns, (3, 3), z)
    design = np.column_stack([np.eye(3)[columns[0]], np.eye(3)[columns[1]][:, 1:]])
    hat = design @ np.linalg.pinv(design)
    cell = _cells(columns, (3, 3))[0]
    ours = standardised_residuals(moments).ravel()
    for c in range(9):
        mean_of = (cell == c) / (cell == c).sum()
        rest = mean_of @ (np.eye(120) - hat)
        expected = (rest @ z) / math.sqrt(moments.rss[0] / 111 * (rest @ rest))
        assert ours[c] == pytest.approx(expected)
    largest = largest_residual(moments)
    assert largest.cell.tolist() == [[2, 1]]
    assert largest.value[0] > 5


def test_gains_are_ratios_of_squares():
    rng = np.random.default_rng(15)
    columns, z = [rng.integers(0, 3, size=70) for _ in range(3)], rng.normal(size=70)
    gain, alone, df = number_gains(_moments(columns, (3, 3, 3), z))
    # The plain version is of integers; rounding at 1e-6 is far below the tolerance.
    scores = [round(1e6 * value) for value in (z - z.mean())]
    for place in range(3):
        plain = reference.number_gain([column.tolist() for column in columns], place, scores, 0.0)
        assert gain[0, place] == pytest.approx(plain, rel=1e-4)
        plain = reference.number_gain([columns[place].tolist()], 0, scores, 0.0)
        assert alone[0, place] == pytest.approx(plain, rel=1e-3, abs=1e-6)
    assert df.tolist() == [[2, 2, 2]]


def test_the_whole_test_of_tuples():
    rng = np.random.default_rng(16)
    columns = [rng.integers(0, 2, size=200) for _ in range(2)]
    z = rng.normal(size=200) + 2 * columns[0] * columns[1]
    numbers = ScoredNumbers(scores=z, values=10 * z, other=np.exp(z))
    cells, tuples = _cells(columns, (2, 2)), np.array([[3, 5]])
    tested = number_tests(cells, numbers, tuples, (2, 2))
    assert tested.method_names() == ["f"]
    assert tested.estimate[0] == pytest.approx(20, abs=6)
    assert tested.estimate_sd[0] == pytest.approx(tested.estimate[0] / (10 * z).std(ddof=1))
    assert tested.ci_low[0] < tested.estimate[0] < tested.ci_high[0]
    means = [10 * z[columns[0] == level].mean() for level in (0, 1)]
    assert tested.estimate_alone[0, 0] == pytest.approx(means[1] - means[0])
    np.testing.assert_allclose(tested.log_p, first_test(cells, z, (2, 2)).log_p, rtol=1e-9)
    assert tested.other_log_p[0] == first_test(cells, np.exp(z), (2, 2)).log_p[0]
    assert 0 < tested.p_robust[0] < 1e-6


def test_infinite_values_have_no_effect_in_their_unit():
    columns = [np.arange(40) % 2, np.arange(40) // 2 % 2]
    values = np.where(np.arange(40) == 3, np.inf, np.arange(40.0))
    numbers = ScoredNumbers(scores=np.arange(40.0), values=values, other=None)
    tested = number_tests(_cells(columns, (2, 2)), numbers, np.array([[0, 1]]), (2, 2))
    assert np.isnan([tested.estimate[0], tested.ci_low[0], tested.estimate_sd[0], tested.other_log_p[0]]).all()
    assert np.isfinite(tested.statistic[0])


def test_tuples_with_too_few_samples_have_p_one():
    columns = [np.arange(12) % 2, np.arange(12) // 2 % 2]
    numbers = ScoredNumbers(scores=np.arange(12.0), values=np.arange(12.0), other=None)
    tested = number_tests(_cells(columns, (2, 2)), numbers, np.array([[0, 1]]), (2, 2))
    assert tested.method_names() == ["sparse"]
    assert (tested.log_p[0], tested.df[0]) == (0.0, 0)
    assert np.isnan(tested.robust_log_p[0])


def test_no_noise_at_all_gives_no_warning():
    columns = [np.repeat([0, 0, 1, 1], 10), np.repeat([0, 1, 0, 1], 10)]
    z = np.repeat([0.0, 0.0, 0.0, 1.0], 10)
    numbers = ScoredNumbers(scores=z, values=z, other=z)
    tested = number_tests(_cells(columns, (2, 2)), numbers, np.array([[0, 1]]), (2, 2))
    assert tested.p_value[0] == 0.0


@pytest.mark.parametrize(("left_out", "n"), [(2, 4), (slice(1, 3), 0), ((0, 0), 6)])
def test_contrasts_of_tables_that_lack_many_cells(left_out, n):
    """They are orthonormal, 0 in these cells and for additive means, and as many as the rank of H0's columns leaves."""
    levels = (3, 3, 3, 2)  # 8 contrasts; 18, 36 or 6 cells are left out
    kept = np.ones(levels, dtype=bool)
    kept[left_out] = False
    kept = kept.ravel()
    contrasts, null = contrasts_between(levels, kept), null_columns(levels)
    assert contrasts.shape[1] == n == kept.sum() - np.linalg.matrix_rank(null[kept])
    assert np.allclose(contrasts.T @ contrasts, np.eye(n))
    assert np.abs(contrasts[~kept]).max(initial=0) < 1e-12
    assert np.abs(contrasts.T @ null).max(initial=0) < 1e-9
