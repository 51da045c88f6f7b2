"""Adjustment for all tests when some of them are listed."""

import numpy as np
import pytest

from interplay.infer.interaction.tuple_tests import LISTED_METHODS, adjust_listed
from interplay.infer.p_values import adjust


@pytest.fixture
def p_values():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.random(500) ** 3, rng.random(20) * 1e-4, [0.01, 0.01, 0.0, 1.0]])


@pytest.mark.parametrize("method", LISTED_METHODS)
def test_with_all_listed_it_is_the_usual_adjustment(p_values, method):
    np.testing.assert_allclose(adjust_listed(p_values, method, n_tests=len(p_values)), adjust(p_values, method))


@pytest.mark.parametrize("method", ["holm", "bonferroni", "none"])
def test_the_smallest_need_not_know_the_others(p_values, method):
    listed = p_values < 0.01
    expected = adjust(p_values, method)[listed]
    np.testing.assert_allclose(adjust_listed(p_values[listed], method, n_tests=len(p_values)), expected)


@pytest.mark.parametrize("method", LISTED_METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_any_list_is_on_the_safe_side(p_values, method, seed):
    listed = np.random.default_rng(seed).random(len(p_values)) < 0.2
    found = adjust_listed(p_values[listed], method, n_tests=len(p_values))
    assert (found >= adjust(p_values, method)[listed] - 1e-12).all()


@pytest.mark.parametrize("method", ["fdr_bh", "fdr_by"])
def test_false_discovery_rates_decide_as_if_all_were_known(p_values, method):
    """If all p-values up to the significance level are listed."""
    listed = p_values <= 0.05
    full = adjust(p_values, method)
    found = adjust_listed(p_values[listed], method, n_tests=len(p_values))
    np.testing.assert_array_equal(found <= 0.05, full[listed] <= 0.05)
    assert (full[~listed] > 0.05).all()


def test_numbers_of_tests_beyond_any_table():
    found = adjust_listed([1e-20, 1e-3], "BY", n_tests=10**18)
    assert found == pytest.approx([1e-2 * (18 * np.log(10) + np.euler_gamma), 1.0])


@pytest.mark.parametrize(
    ("p", "method", "n_tests", "words"),
    [
        ([0.1, 0.2], "holm", 1, "n_tests must count all tests"),
        ([0.1], "hommel", 5, "p_adjust must be one of"),
        ([1.1], "holm", 5, "between 0 and 1"),
        ([np.nan], "holm", 5, "between 0 and 1"),
    ],
)
def test_bad_arguments(p, method, n_tests, words):
    with pytest.raises(ValueError, match=words):
        adjust_listed(p, method, n_tests=n_tests)


def test_nothing_listed():
    assert adjust_listed([], "holm", n_tests=100).tolist() == []
