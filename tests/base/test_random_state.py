"""random_state in every public function: all that SPEC 7 asks of `rng`, and numpy's global state left alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import interplay
from interplay.datasets import make_madelon

_RNG = np.random.RandomState(3)
X = np.round(_RNG.normal(size=(90, 12)), 2)
Y = (X[:, 2] > 0).astype(int)

#: Function of a random_state → what depends on it.
CALLS: dict[str, Callable[[Any], Any]] = {
    "select": lambda state: interplay.select(
        X, Y, dimensions=2, n_contrast=30, discretizations=3, random_state=state
    ).gains.gain,
    "search_shard": lambda state: interplay.search_shard(
        X, Y, shard="1/2", dimensions=2, n_contrast=30, discretizations=3, random_state=state
    ).runs[0].gains.gain,
    "max_information_gain": lambda state: interplay.max_information_gain(
        X, Y, dimensions=2, discretizations=3, random_state=state
    ).gain,
    "interesting_tuples": lambda state: interplay.interesting_tuples(
        X, Y, dimensions=2, discretizations=3, random_state=state
    ).value,
    "discretize": lambda state: interplay.discretize(X, dimensions=2, discretizations=3, random_state=state),
    "contrast_variables": lambda state: interplay.contrast_variables(X, 8, random_state=state),
    "make_madelon": lambda state: make_madelon(60, 30, random_state=state)[0],
    "MDFSSelector": lambda state: interplay.MDFSSelector(
        dimensions=2, n_contrast=30, discretizations=3, random_state=state
    ).fit(X, Y).gains_,
}  # fmt: skip

#: Each makes the same state anew.
STATES: dict[str, Callable[[], Any]] = {
    "whole number": lambda: 7,
    "numpy number": lambda: np.uint32(7),
    "Generator": lambda: np.random.default_rng(7),
    "BitGenerator": lambda: np.random.PCG64(7),
    "SeedSequence": lambda: np.random.SeedSequence(7),
    "RandomState": lambda: np.random.RandomState(7),
}


def as_array(result):
    return np.concatenate([np.ravel(part) for part in (result if isinstance(result, tuple | list) else [result])])


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize("kind", STATES)
def test_the_same_state_gives_the_same_result(function, kind):
    call, state = CALLS[function], STATES[kind]
    before = np.random.get_state()
    once = as_array(call(state()))
    assert np.array_equal(once, as_array(call(state())))
    assert not np.array_equal(once, as_array(call(8)))
    after = np.random.get_state()
    assert before[2:] == after[2:]
    assert np.array_equal(before[1], after[1])


@pytest.mark.parametrize("function", [name for name in CALLS if name != "search_shard"])
def test_none_is_drawn_anew_and_a_generator_goes_on(function):
    call, generator = CALLS[function], np.random.default_rng(7)
    drawn = [as_array(call(None)) for _ in range(4)]
    assert any(not np.array_equal(drawn[0], other) for other in drawn[1:])
    assert not np.array_equal(as_array(call(generator)), as_array(call(generator)))
