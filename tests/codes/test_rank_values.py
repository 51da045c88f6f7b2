"""Values at ranks, found without sorting, against numpy's sort."""

import numpy as np
import pytest

from interplay import _core, discretize


def columns(dtype, rng):
    """Columns of all sorts: smooth, tied, with outliers, of one value, and of few."""
    n = 501
    smooth = rng.normal(size=n) * 50
    outliers = np.where(np.arange(n) < 3, 32000, rng.normal(size=n))
    drawn = [smooth, np.round(smooth / 20), outliers, np.full(n, 7), rng.integers(0, 2, n), np.exp(smooth / 50)]
    return np.ascontiguousarray(np.array(drawn).astype(dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "int32", "int64"])
def test_equals_sorting(dtype):
    rng = np.random.default_rng(3)
    values = columns(dtype, rng)
    if dtype == "float64":
        values = np.vstack([values, values[0]])
        values[-1, :5], values[-1, 5:9] = np.inf, -np.inf
        values = np.vstack([values, np.where(np.arange(values.shape[1]) % 3 == 0, 5e-324, 0)])
        values = np.vstack([values, np.where(np.arange(values.shape[1]) % 3 == 0, -1.7e308, 1.7e308)])
    if dtype == "int64":
        values[0] = rng.integers(-(2**63), 2**63 - 1, values.shape[1])
    ranks = np.concatenate([[0, 1, 249, 250, 499, 500], rng.integers(0, 501, 20)])
    ranks = np.ascontiguousarray(np.tile(ranks, (len(values), 1)))
    found = np.empty(ranks.shape, dtype=dtype)
    assert _core.rank_values(values, ranks, found)
    assert np.array_equal(found, np.take_along_axis(np.sort(values, axis=1), ranks, axis=1))


@pytest.mark.parametrize("n", [1, 2, 31, 33, 300, 20_000])
def test_ways_values_are_spread(n):
    rng = np.random.default_rng(n)
    normal = rng.normal(size=n)
    values = [normal, np.exp(5 * normal), np.sort(normal), -np.sort(normal), np.rint(normal), np.rint(100 * normal)]
    values += [np.where(rng.random(n) < 0.4, 0, normal), np.where(rng.random(n) < 0.4, -np.inf, normal)]
    values += [np.where(np.arange(n) % max(1, n // 32) == 0, 50, normal), np.where(normal > 1, 1e300, normal)]
    for dtype in ("float64", "float32", "int16", "int64"):
        finite = np.clip(np.array(values), -3e4, 3e4) if dtype.startswith("int") else np.array(values)
        with np.errstate(over="ignore"):
            rows = finite.astype(dtype)
        ranks = np.tile(np.unique(np.linspace(0, n - 1, 9).astype(np.int64)), (len(rows), 1))
        found = np.empty(ranks.shape, dtype=dtype)
        assert _core.rank_values(rows, ranks, found)
        assert np.array_equal(found, np.take_along_axis(np.sort(rows, axis=1), ranks, axis=1))


def test_missing_values_are_told():
    values = np.ones((2, 300))
    values[1, 299] = np.nan
    assert not _core.rank_values(values, np.zeros((2, 1), dtype=np.int64), np.empty((2, 1)))


def test_ranks_are_checked():
    for rank in (-1, 300):
        with pytest.raises(ValueError, match="rank"):
            _core.rank_values(np.ones((1, 300)), np.full((1, 1), rank), np.empty((1, 1)))


@pytest.mark.parametrize("divisions", [1, 2])
def test_codes_do_not_depend_on_the_way_thresholds_are_found(divisions):
    """A table with a missing value, and one of a type that is always sorted, take the other way."""
    rng = np.random.default_rng(8)
    x = np.round(rng.normal(size=(400, 9)) * 30)
    plain = discretize(x, divisions=divisions)
    assert np.array_equal(discretize(x.astype(np.int8), divisions=divisions), plain)
    with_gap = np.column_stack([x, np.where(np.arange(400) == 5, np.nan, x[:, 0])])
    assert np.array_equal(discretize(with_gap, divisions=divisions, missing="level")[:, :, :9], plain)
