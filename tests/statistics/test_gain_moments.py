"""Mean and variance of the gain under chance are those of all tables with the same margins."""

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.infer.margin_tables import GainMoments, listed_null


@pytest.mark.parametrize(
    ("level_sizes", "class_sizes"),
    [
        ([6, 7, 7], [9, 11]),
        ([1, 1, 12], [3, 11]),
        ([4, 5, 5], [2, 5, 7]),
        ([8, 8], [3, 4, 4, 5]),
        ([2, 2, 2, 2, 2, 2], [4, 8]),
        ([13, 1], [13, 1]),
    ],
)
@pytest.mark.parametrize("pseudocount", [0.25, 1e-6, 5.0])
def test_moments_are_those_of_all_tables(level_sizes, class_sizes, pseudocount):
    levels, classes = np.array(level_sizes), np.array(class_sizes)
    added = pseudocount * classes / classes.min()
    null = listed_null(levels, classes, added, max_tables=10**6)
    chance = np.exp(null.log_chance)
    assert chance.sum() == pytest.approx(1)
    mean, variance = GainMoments(classes, added).of(levels)
    expected = float(chance @ null.gain)
    assert mean == pytest.approx(expected, abs=1e-10)
    assert variance == pytest.approx(float(chance @ (null.gain - expected) ** 2), rel=1e-9, abs=1e-11)


def test_many_samples_lose_no_digits():
    """The variance is that of χ², on the scale of bits, and does not depend on the order of the levels."""
    classes = np.array([300_000, 200_000])
    levels = np.array([100_000, 400_000])
    moments = GainMoments(classes, np.array([1.5e-6, 1e-6]))
    mean, variance = moments.of(levels)
    bits = 1 / (2 * np.log(2))
    assert mean == pytest.approx(bits, rel=1e-3)
    assert variance == pytest.approx(2 * bits**2, rel=1e-3)
    assert moments.of(levels[::-1]) == (mean, variance)


def test_columns_of_many_levels_take_no_time(monkeypatch):
    """Covariances of pairs of levels are computed once for all variables; triples of such columns are not searched."""
    pairs: list[tuple[int, int]] = []
    original = GainMoments._pair

    def counted(self, a, b):
        if (a, b) not in self._covariance:
            pairs.append((a, b))
        return original(self, a, b)

    monkeypatch.setattr(GainMoments, "_pair", counted)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"v{i}": pd.Categorical(rng.integers(0, 30, 300).astype(str)) for i in range(40)})
    found = interplay.select(X, rng.integers(0, 2, 300), random_state=0)
    assert found.dimensions == (1, 2)
    assert 0 < len(pairs) == len(set(pairs)) < 300
