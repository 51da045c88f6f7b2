"""MaxGains.merge, the rule by which everything that is searched in parts comes together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.base.tuples import MaxGains


@st.composite
def max_gains(draw):
    """Small numbers, so that ties are common."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (4, 2)
    empty = rng.random(shape) < 0.3
    gain = rng.integers(0, 2, shape).astype(float)
    discretization = rng.integers(0, 2, shape)
    tuples = np.sort(rng.integers(0, 2, (*shape, 2)), axis=2)
    return MaxGains(
        gain_by_group=np.where(empty, -np.inf, gain),
        discretization_by_group=np.where(empty, -1, discretization),
        tuples_by_group=np.where(empty[..., np.newaxis], -1, tuples),
        df_by_group=np.tile([1, 2], (4, 1)),
        n_vars=3,
    )


def same(a, b):
    return (
        np.array_equal(a.gain_by_group, b.gain_by_group)
        and np.array_equal(a.tuples_by_group, b.tuples_by_group)
        and np.array_equal(a.discretization_by_group, b.discretization_by_group)
    )


@given(max_gains(), max_gains(), max_gains())
def test_merge_is_associative_commutative_and_idempotent(a, b, c):
    assert same(a.merge(b), b.merge(a))
    assert same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert same(a.merge(a), a)


def one(gain, discretization, members):
    return MaxGains(
        gain_by_group=np.array([[gain]]),
        discretization_by_group=np.array([[discretization]]),
        tuples_by_group=np.array([[members]]),
        df_by_group=np.array([[1]]),
        n_vars=1,
    )


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (one(2.0, 5, [8, 9]), one(1.0, 0, [0, 1])),
        (one(1.0, 0, [8, 9]), one(1.0, 1, [0, 1])),
        (one(1.0, 0, [0, 9]), one(1.0, 0, [1, 2])),
        (one(1.0, 0, [0, 1]), one(1.0, 0, [0, 2])),
        (one(-np.inf, 0, [0, 1]), one(-np.inf, -1, [-1, -1])),
    ],
)
def test_the_better_one_wins(better, worse):
    assert same(better.merge(worse), better)
    assert same(worse.merge(better), better)


def test_the_group_with_the_smallest_tail_is_reported():
    gains = MaxGains(
        gain_by_group=np.array([[20.0, 22.0], [20.0, 80.0], [4000.0, 4100.0]]),
        discretization_by_group=np.zeros((3, 2), dtype=int),
        tuples_by_group=np.array([[[0, 1], [0, 2]]] * 3),
        df_by_group=np.tile([2, 16], (3, 1)),
        n_vars=3,
    )
    # 22 bits at 16 df say less than 20 at 2; 80 say more; and tails too small for a double are still compared.
    assert gains.df.tolist() == [2, 16, 16]
    assert gains.gain.tolist() == [20.0, 80.0, 4100.0]
    assert gains.tuples.tolist() == [[0, 1], [0, 2], [0, 2]]


def test_only_results_of_one_search_can_be_merged():
    with pytest.raises(ValueError, match="same search"):
        one(1.0, 0, [0, 1]).merge(one(1.0, 0, [0, 1, 2]))
