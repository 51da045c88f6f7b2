"""IPF of many tables at a time, in NumPy and in compiled code, against plain loops over one table."""

import numpy as np
import pytest

from interplay import _core
from interplay.infer.interaction.null_model import supported_entries
from interplay.infer.interaction.proportional_fit import fit_proportionally, quick_fit

SHAPES = [(2, 2, 2), (3, 3, 2), (3, 4, 3), (2, 3, 4, 2), (3, 3, 3, 3), (2, 2, 2, 3, 2), (2, 2, 2, 2, 2, 2), (9, 8, 2),
          (3, 3, 10), (2, 2, 2, 2, 2, 2, 2)]  # fmt: skip


def drawn(shape, n=37, per_entry=2.0):
    rng = np.random.default_rng(len(shape) * 100 + shape[0])
    return rng.poisson(per_entry * rng.gamma(2.0, 0.5, (n, *shape)))


def by_loops(table, tolerance, max_sweeps):
    """Return G² after sweeps of plain IPF from Kirkwood's product."""
    from itertools import combinations

    members = range(table.ndim - 1)
    mu = np.ones(table.shape)
    for size in members:
        for kept in combinations(members, size):
            margin = table.sum(axis=tuple(a for a in members if a not in kept), keepdims=True).astype(float)
            mu = mu * np.where(margin > 0, margin, 1) ** ((-1) ** (len(members) - 1 - size))
    mu = mu * supported_entries(table[np.newaxis])[0]
    axes = (*members, table.ndim - 1)

    def scaled(mu, axis):
        fitted, wanted = mu.sum(axis=axis, keepdims=True), table.sum(axis=axis, keepdims=True)
        return mu * np.where(fitted > 0, wanted / np.where(fitted > 0, fitted, 1), 0)

    def g2(mu):
        some = table > 0
        return float(2 * (table[some] * np.log(table[some] / mu[some])).sum())

    mu = scaled(mu, axes[-1])
    value, last = g2(mu), np.inf
    for _ in range(max_sweeps):
        for axis in axes:
            mu = scaled(mu, axis)
        new = g2(mu)
        step = max(value - new, 0.0)
        factor = min(step / max(last, 1e-300), 1 - 1e-6)
        value, is_done = new, (np.isfinite(last) and step * factor / (1 - factor) <= tolerance * (1 + new)) or step == 0
        last = step
        if is_done:
            break
    return value


@pytest.mark.parametrize("shape", SHAPES)
def test_fits_are_those_of_plain_loops(shape):
    tables = drawn(shape)
    plain = [by_loops(table, 1e-3, 60) for table in tables]
    np.testing.assert_allclose(fit_proportionally(tables, tolerance=1e-3, max_sweeps=60).g2, plain, atol=1e-8)
    np.testing.assert_allclose(quick_fit(tables).g2, plain, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_fit_does_not_depend_on_the_other_tables(shape):
    tables = drawn(shape)
    together = fit_proportionally(tables, tolerance=1e-3, max_sweeps=60)
    in_threads = fit_proportionally(tables, tolerance=1e-3, max_sweeps=60, n_threads=3)
    alone = [fit_proportionally(table[np.newaxis], tolerance=1e-3, max_sweeps=60) for table in tables]
    assert together.g2.tolist() == [fit.g2[0] for fit in alone] == in_threads.g2.tolist()
    assert np.array_equal(together.mu, np.concatenate([fit.mu for fit in alone]))


@pytest.mark.parametrize("shape", SHAPES[:-1])
def test_compiled_bounds_are_those_of_numpy(shape):
    tables = drawn(shape, per_entry=0.7)
    fit = quick_fit(tables, max_sweeps=0, n_threads=2)
    np.testing.assert_allclose(fit.g2, fit_proportionally(tables, tolerance=0.0, max_sweeps=0).g2, atol=1e-9)
    assert fit.is_complete.tolist() == supported_entries(tables).reshape(len(tables), -1).all(axis=1).tolist()


@pytest.mark.parametrize("level", _core.simd_levels())
def test_all_instruction_sets_have_the_same_bits(level):
    tables = drawn((3, 4, 3))
    found = []
    for name in (level, "serial"):
        g2, is_complete = np.empty(len(tables)), np.empty(len(tables), dtype=bool)
        _core.fit_tables(tables, np.array(tables.shape[1:]), 1e-3, 60, name, g2, is_complete)
        found.append(g2.tolist())
    assert found[0] == found[1]


def test_compiled_code_refuses_shapes_that_do_not_fit():
    g2, is_complete = np.empty(2), np.empty(2, dtype=bool)
    for counts, shape in (
        (np.ones(17, dtype=np.int64), [2, 2, 2]),
        (np.full(16, -1), [2, 2, 2]),
        (np.ones(4, dtype=np.int64), [2]),
    ):
        with pytest.raises(ValueError, match=r"counts|shape"):
            _core.fit_tables(counts, np.array(shape), 1e-3, 60, "auto", g2, is_complete)


@pytest.mark.parametrize(
    ("n_cells", "n_classes", "n"), [(4, 2, 40), (9, 2, 20_000), (64, 2, 500), (27, 3, 900), (9, 8, 3000)]
)
def test_draws_are_those_of_random_state(n_cells, n_classes, n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        sizes = rng.multinomial(n, rng.dirichlet(np.ones(n_cells)))
        chances = rng.beta(0.5, 0.5, (n_classes - 1, n_cells)) * (rng.random((n_classes - 1, n_cells)) < 0.9)
        seed = rng.integers(0, 2**32, 1 + n_cells, dtype=np.uint32)
        tables = np.empty((1, 50, n_cells, n_classes), dtype=np.int64)
        _core.draw_tables(seed[np.newaxis], sizes[np.newaxis], chances[np.newaxis], tables)
        numpy, left = np.random.RandomState(seed), np.tile(sizes, (50, 1))
        for y in range(n_classes - 1):
            drawn = numpy.binomial(left, chances[y])
            assert np.array_equal(drawn, tables[0, :, :, y])
            left -= drawn
        assert np.array_equal(left, tables[0, :, :, -1])
