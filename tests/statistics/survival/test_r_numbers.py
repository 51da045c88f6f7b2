"""The stored numbers of R's package survival are those that R computes."""

import numpy as np
import pytest

import r_survival as r


def flat(numbers, name=""):
    """Return all numbers of a nested dictionary, by their names."""
    if isinstance(numbers, dict):
        return {k: v for key, value in numbers.items() for k, v in flat(value, f"{name}/{key}").items()}
    return {} if isinstance(numbers, str) else {name: np.array(numbers)}


@pytest.mark.slow
def test_stored_numbers_are_those_of_r():
    made, stored = flat(r.computed_by_r()), flat(r.NUMBERS)
    assert made.keys() == stored.keys()
    for name, values in stored.items():
        assert made[name] == pytest.approx(values, rel=1e-7, abs=1e-9, nan_ok=True), name
