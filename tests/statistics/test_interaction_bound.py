"""The bounds that a search for interactions screens by: never below G², and near it where that can be."""

from math import prod

import numpy as np
import pytest

from interplay.infer.interaction.proportional_fit import fit_null_model, fit_proportionally
from interplay.infer.interaction.table_tests import gain_bound, subtuple_informations

SHAPES = [(2, 2, 2), (3, 3, 2), (2, 4, 3), (3, 3, 3), (2, 2, 2, 2), (3, 2, 3, 2), (2, 3, 2, 3), (2, 2, 2, 2, 2)]


def random_tables(shape, n_tables, n_samples, seed, evenness):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(prod(shape), evenness), n_tables)
    return np.array([rng.multinomial(n_samples, chance) for chance in chances]).reshape(n_tables, *shape)


def kirkwood_bound(tables):
    return fit_proportionally(tables, tolerance=0.0, max_sweeps=0).g2


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("per_entry", "evenness"), [(0.4, 0.5), (1, 2.0), (5, 0.5), (50, 5.0)])
def test_bounds_are_not_below_g2(shape, per_entry, evenness):
    """Sparse tables with empty cells, margins and classes, and dense ones."""
    n_samples = int(per_entry * prod(shape)) + 2
    tables = random_tables(shape, 150, n_samples, seed=1, evenness=evenness)
    g2 = fit_null_model(tables).g2
    informations = subtuple_informations(tables)
    allowed = 1e-9 * (1 + g2)
    bound = kirkwood_bound(tables)
    assert (bound >= g2 - allowed).all()
    assert (gain_bound(informations, n_samples) >= g2 - allowed).all()
    for max_sweeps in (1, 2, 5):
        after = fit_proportionally(tables, tolerance=0.0, max_sweeps=max_sweeps).g2
        assert (after >= g2 - allowed).all()
        assert (after <= bound + allowed).all()
        bound = after


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 3, 2), (3, 3, 3), (2, 2, 2, 2)])
def test_the_bound_is_near_g2_where_members_are_independent(shape):
    rng = np.random.default_rng(2)
    sizes = np.full(shape[:-1], 200)
    shares = rng.dirichlet(np.full(shape[-1], 5.0), (100, *shape[:-1]))
    tables = np.array([[rng.multinomial(n, p) for n, p in zip(sizes.ravel(), q.reshape(-1, shape[-1]), strict=True)]
                       for q in shares]).reshape(100, *shape)  # fmt: skip
    g2 = fit_null_model(tables).g2
    assert np.median(kirkwood_bound(tables) / g2) < 1.05


def test_the_gain_bound_is_the_smallest_gain_of_a_member():
    """As `reference.information_gain` has it, without pseudocounts."""
    import reference

    rng = np.random.default_rng(4)
    columns, y = rng.integers(0, 3, (2, 200)), rng.integers(0, 2, 200)
    gains = reference.information_gain(columns.tolist(), [3, 3], y.tolist(), 2, 0.0)
    tables = np.bincount((columns[0] * 3 + columns[1]) * 2 + y, minlength=18).reshape(1, 3, 3, 2)
    assert gain_bound(subtuple_informations(tables), 200) == pytest.approx(2 * np.log(2) * min(gains))


def test_informations_must_be_of_all_parts():
    with pytest.raises(ValueError, match="2\\^k parts"):
        gain_bound(np.zeros((5, 3)), 10)


def test_no_samples():
    tables = np.zeros((1, 2, 2, 2), dtype=np.int64)
    assert kirkwood_bound(tables).tolist() == [0]
    assert subtuple_informations(tables).tolist() == [[0] * 4]
