"""The exact test against SciPy's, against shuffling, and at its edges."""

import numpy as np
import pytest
from scipy import stats

import interplay
from interplay.infer.conditional_test import conditional_log_p
from interplay.infer.margin_tables import smallest_expected


def exact_p_value(counts, *, pseudocount=0.25):
    """The p-value of a table of two levels by two classes."""
    return float(np.exp(conditional_log_p(np.array(counts)[np.newaxis, :, :, np.newaxis], pseudocount=pseudocount)[0]))


@pytest.mark.parametrize("table", [[[90, 10], [100, 0]], [[3, 9], [11, 2]], [[20, 20], [20, 20]], [[50, 1], [40, 9]]])
def test_without_pseudocounts_it_orders_tables_by_likelihood_ratio(table):
    """SciPy's Boschloo and Fisher order otherwise; here every table with the margins is listed and compared."""
    (a, b), (c, d) = table
    n, first, second = a + b + c + d, a + b, b + d

    def g(x):
        observed = np.array([[first - x, x], [n - first - (second - x), second - x]], dtype=float)
        return stats.chi2_contingency(observed, correction=False, lambda_="log-likelihood").statistic

    possible = range(max(0, second - (n - first)), min(first, second) + 1)
    expected = sum(stats.hypergeom.pmf(x, n, second, first) for x in possible if g(x) >= g(b) - 1e-9)
    assert exact_p_value(table, pseudocount=0.0) == pytest.approx(expected, rel=1e-9)


def test_the_gain_is_the_search_s():
    """With pseudocounts, tables that the search finds as good or better are those that are counted."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 400)).astype(float), np.arange(60) % 4 == 0
    same_margin = X[:, X.sum(axis=0) == 30]
    gains = interplay.max_information_gain(same_margin, y, dimensions=1).gain
    p = [exact_p_value([[((x == v) & (y == q)).sum() for q in (0, 1)] for v in (0, 1)]) for x in same_margin.T]
    assert len(gains) > 20
    np.testing.assert_array_equal(
        np.argsort(np.round(-gains, 9), kind="stable"), np.argsort(np.round(p, 12), kind="stable")
    )


def test_it_is_what_shuffling_gives():
    rng = np.random.default_rng(1)
    x, y = np.repeat([0, 1], [70, 30]), np.repeat([0, 1], [85, 15])
    observed = [[63, 7], [22, 8]]
    shuffled = np.array([(x[rng.permutation(100)] & y).sum() for _ in range(20_000)])
    share = (np.abs(shuffled - 4.5) >= 3.5).mean()  # 4.5 are expected, 8 are seen
    assert exact_p_value(observed) == pytest.approx(share, abs=4 * np.sqrt(share / 20_000))


def test_chi_squared_is_right_for_many_samples_and_bold_for_few():
    def ratio(counts):
        x = np.repeat([0.0, 0.0, 1.0, 1.0], np.ravel(counts))
        y = np.repeat([0, 1, 0, 1], np.ravel(counts))
        gain = interplay.max_information_gain(x[:, np.newaxis], y, dimensions=1).gain[0]
        return exact_p_value(counts) / stats.chi2.sf(2 * np.log(2) * gain, 1)

    assert ratio([[90, 10], [100, 0]]) > 3
    assert ratio([[2600, 2400], [2400, 2600]]) == pytest.approx(1, abs=0.1)


def test_a_table_with_one_level_or_one_class_says_nothing():
    assert exact_p_value([[5, 7], [0, 0]]) == 1
    assert exact_p_value([[5, 0], [6, 0]]) == 1


def test_smallest_expected():
    assert smallest_expected(np.array([[30, 20], [40, 10]])) == 15
