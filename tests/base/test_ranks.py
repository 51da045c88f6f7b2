"""Ranks and the exact Kolmogorov–Smirnov tail, beside SciPy's."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import kstwo, rankdata

from interplay.base.arrays import kolmogorov_tail, mid_ranks


@pytest.mark.parametrize("n", [0, 1, 7, 300])
def test_mid_ranks_are_scipys(n):
    values = np.random.default_rng(n).integers(0, 9, size=(4, n)) / 3
    np.testing.assert_array_equal(mid_ranks(values), rankdata(values, axis=1) if n else values)
    np.testing.assert_array_equal(mid_ranks(values[0]), rankdata(values[0]))


@pytest.mark.parametrize("n", [1, 2, 6, 20, 57, 99])
def test_the_kolmogorov_tail_is_scipys(n):
    for distance in np.linspace(0.5 / n, 1, 40):
        expected = kstwo.sf(distance, n)
        assert kolmogorov_tail(float(distance), n) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_an_ordinary_call_does_without_slow_imports():
    program = (
        "import sys, numpy as np, interplay\n"
        "X = np.random.default_rng(0).normal(size=(300, 20))\n"
        "interplay.select(X, (X[:, 0] > 0) ^ (X[:, 1] > 0), random_state=0)\n"
        "print([name for name in ('scipy.stats', 'pandas', 'sklearn', 'statsmodels') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
