"""--dry-run tells the time of the whole call; `benchmarks/dry_run.py` compares it with calls of 35 settings."""

import itertools

import numpy as np
import pytest

from interplay.ask.cli import expected_work as dry_run
from interplay.ask.cli.expected_work import expected_interactions, expected_work, whole_seconds


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(dry_run.time, "perf_counter", lambda: now[0])
    return now


def made_of(clock, *, search, statistics, kept=None):
    """Return a call that takes so many seconds, in ten steps each."""

    def call(variables, told):
        if kept is not None:
            kept.append(variables)
        for step, seconds in zip(range(1, 21), itertools.chain([search] * 10, [statistics] * 10), strict=True):
            clock[0] += seconds / 10
            told(0.09 * step if step <= 10 else 0.9 + 0.01 * (step - 10))

    return call


HOW = {"n_vars": 400, "dimensions": 2, "share_of_search": 0.9}


class TestWholeSeconds:
    def test_a_short_call_is_made(self, clock):
        call = made_of(clock, search=1.0, statistics=3.0)
        assert whole_seconds(call, of_search=0.5, **HOW) == pytest.approx(4.0)

    def test_a_long_search_is_made_of_fewer_variables(self, clock):
        kept = []
        call = made_of(clock, search=2.0, statistics=3.0, kept=kept)
        assert whole_seconds(call, of_search=32.0, **HOW) == pytest.approx(32 + 4 * 3)
        assert len(kept[0]) == 100
        assert kept[0][-1] == 399
        assert whole_seconds(call, of_search=32.0, growth=2, **HOW) == pytest.approx(32 + 16 * 3)

    def test_long_statistics_are_stopped(self, clock):
        call = made_of(clock, search=1.0, statistics=100.0)
        assert whole_seconds(call, of_search=1.0, **HOW) == pytest.approx(101.0)
        assert clock[0] <= 11.0

    def test_steps_after_the_search_at_their_own_pace(self, clock):
        """Tests of levels are a fifth of the share and take 2 s, those of products the rest, and 80 s."""

        def call(_, told):
            for seconds, share in [(1.0, 0.9), (2.0, 0.92), *[(1.0, 0.92 + 0.001 * step) for step in range(1, 81)]]:
                clock[0] += seconds
                told(share)

        assert whole_seconds(call, of_search=1.0, **HOW) == pytest.approx(83.0)
        assert clock[0] <= 11.0

    def test_a_search_that_cannot_be_made_smaller_is_not_made(self, clock):
        call = made_of(clock, search=30.0, statistics=3.0)
        assert whole_seconds(call, of_search=30.0, can_choose=False, **HOW) == 30.0
        assert clock[0] == 0.0


@pytest.mark.parametrize("expected", [expected_work, expected_interactions])
def test_calls_of_fewer_variables(monkeypatch, expected):
    """With settings that name variables, covariates among the columns, and missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 80))
    y = (X[:, 1] > 0) ^ (X[:, 4] > 0)
    X[:, 2] = rng.integers(0, 3, 200)
    X[0, 5] = np.nan
    monkeypatch.setattr(dry_run, "_SEARCH_SECONDS", 1e-9)
    work = expected(X, y, covariates=rng.normal(size=200), discrete=[2], random_state=0)
    assert 0 < work.seconds < 60
    assert work.n_vars == 80
