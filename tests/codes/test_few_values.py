"""Columns of few values: found by reading them once, in every type that the compiled module knows."""

import numpy as np
import pytest

from interplay import _core
from interplay.base.arrays import COMPILED_TYPES
from interplay.data.codes import survey as column_survey
from interplay.data.codes.coder import make_coder
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.table import as_table


@pytest.mark.parametrize("kind", COMPILED_TYPES)
def test_few_values_are_those_of_numpy(kind):
    rng = np.random.default_rng(0)
    rows = []
    for n_distinct in (1, 2, 3, 4, 9) * 8:
        pool = rng.choice(100, n_distinct, replace=False)
        # Rare values, which come late, among them.
        rows.append(pool[np.minimum(rng.geometric(rng.choice([0.3, 0.99]), 1700) - 1, n_distinct - 1)])
    values = np.array(rows, dtype=kind)
    found, n_found = np.empty((len(values), 3), dtype=kind), np.empty(len(values), dtype=np.int64)
    _core.few_values(values, found, n_found)
    for row, some, n in zip(values, found, n_found.tolist(), strict=True):
        distinct = np.unique(row)
        assert n == min(len(distinct), 4)
        if n <= 3:
            assert np.array_equal(some[:n], distinct)


@pytest.mark.parametrize("place", [0, 5, 1699])
def test_a_missing_value_is_always_found(place):
    values = np.tile(np.arange(1700.0) % 3, (2, 1))
    values[1] = np.arange(1700.0)
    values[:, place] = np.nan
    n_found = np.empty(2, dtype=np.int64)
    _core.few_values(values, np.empty((2, 3)), n_found)
    assert n_found.tolist() == [-1, -1]


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "f4", "f8", "u2"])
def test_genotypes_have_the_same_planes_however_they_are_found(kind, monkeypatch):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, (700, 30)).astype(kind)
    x[:, 4] = 1  # constant
    x[:, 5] = rng.integers(0, 2, 700)
    x[:, 6:9] = rng.integers(0, 90, (700, 3))
    x[:40, 7] = 3  # few values at first
    classes = DecisionClasses(rng.integers(0, 2, 700), [0, 1])

    def planes():
        coder = make_coder(as_table(x), divisions=1, discretizations=1, range_=0, seed=0, discrete="auto")
        made = make_bit_planes([coder.code_blocks(0)], classes)
        assert np.array_equal(made.words, make_bit_planes([coder.codes(0)], classes).words)
        return made.words, coder.n_levels, coder.is_discrete

    found = planes()
    assert found[2].sum() == 27
    monkeypatch.setattr(column_survey, "MANY_SAMPLES", 10_000)  # all columns are sorted
    for one, other in zip(found, planes(), strict=True):
        assert np.array_equal(one, other)
