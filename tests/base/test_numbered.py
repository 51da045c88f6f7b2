"""Distinct values, numbered: by counting where they are small, and by sorting."""

import numpy as np
import pytest

from interplay.base.arrays import numbered


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 0, 3], dtype=np.uint64),
        np.array([-1, 5, -1]),
        np.array([10**12, 5]),
        np.array([], dtype=np.int64),
        np.array([[1, 0], [1, 2]], dtype=np.int8),
        np.array([True, False]),
        np.array([0.5, -2.0, 0.5]),
        np.array(["b", "a"]),
    ],
)
def test_is_the_inverse_of_unique(values):
    found = numbered(values)
    assert found.dtype == np.int64
    assert found.tolist() == np.unique(values, return_inverse=True)[1].reshape(-1).tolist()
