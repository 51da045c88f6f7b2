"""Integer scores of number outcomes: against plain Python, and their properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.outcomes.targets import lost_share, search_scores


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 90), st.integers(0, 3), st.integers(0, 10**6))
def test_equal_plain_python(n_samples, decimals, seed):
    y = np.random.default_rng(seed).normal(size=n_samples).round(decimals)
    if y.min() == y.max():
        return
    outcome = number_outcome(y)
    found = search_scores(outcome)
    assert found.scores.tolist() == reference.integer_scores(outcome.scores.tolist())
    # Every sample has one bit, and the score of its byte.
    assert sorted(found.slots[found.slots >= 0].tolist()) == list(range(n_samples))
    of_slots = np.repeat(found.of_bytes, 8)
    assert np.array_equal(of_slots[found.slots >= 0], found.scores[found.slots[found.slots >= 0]])
    assert (np.diff(found.of_bytes) >= 0).all()
    # Equal numbers share a score, and larger ones have no smaller one.
    order = np.argsort(y, kind="stable")
    assert (np.diff(found.scores[order]) >= 0).all()
    for value in np.unique(y):
        assert len(set(found.scores[y == value].tolist())) == 1


@pytest.mark.parametrize("n_samples", [24, 50, 100, 300, 2000, 20_000])
def test_lose_less_than_a_percent(n_samples):
    outcome = number_outcome(np.random.default_rng(n_samples).normal(size=n_samples))
    found = search_scores(outcome)
    assert lost_share(outcome.scores, found.scores) < 0.005
    assert np.abs(found.scores).max() <= 127


def test_values_with_outliers_take_two_bytes():
    y = np.random.default_rng(0).standard_t(1.2, size=3000)
    outcome = number_outcome(y, scale="values")
    found = search_scores(outcome)
    assert np.abs(found.scores).max() > 127
    assert int(np.abs(found.scores).max()) * 3000 < 2**31
    assert lost_share(outcome.scores, found.scores) < 1e-4


def test_the_order_of_samples_does_not_matter():
    rng = np.random.default_rng(5)
    y = rng.normal(size=200).round(1)
    shuffled = rng.permutation(200)
    here, there = (search_scores(number_outcome(values)) for values in (y, y[shuffled]))
    assert np.array_equal(here.scores[shuffled], there.scores)
    assert np.array_equal(here.of_bytes, there.of_bytes)
