"""Kaplan–Meier curves and log-rank tests of samples that were seen from an entry on, against R."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, kstest

import r_survival as r
from interplay.infer.survival.kaplan_meier import kaplan_meier
from interplay.infer.survival.log_rank import log_rank


@pytest.mark.parametrize(("name", "entry"), [("plain", None), ("entry", r.entry)])
def test_kaplan_meier_is_that_of_r(name, entry):
    found = kaplan_meier(r.time, r.event, entry)
    for attribute, expected in r.NUMBERS["kaplan_meier"][name].items():
        assert getattr(found, attribute) == pytest.approx(np.array(expected), rel=1e-10)


def test_no_interval_where_nobody_is_left():
    found = kaplan_meier(np.array([1.0, 2.0, 3.0]), np.ones(3, bool))
    assert found.survival == pytest.approx([2 / 3, 1 / 3, 0])
    assert np.isnan([found.low[-1], found.high[-1]]).all()
    assert (found.low[:2] < found.survival[:2]).all()
    assert (found.high[:2] > found.survival[:2]).all()


def test_no_events():
    found = kaplan_meier(np.array([1.0, 2.0]), np.zeros(2, bool))
    assert [len(each) for each in found[:4]] == [0, 0, 0, 0]
    assert found.last == 2.0


def test_log_rank_of_three_cells_is_that_of_r():
    assert log_rank(r.time, r.event, r.cell) == (pytest.approx(r.NUMBERS["log_rank"]["three"]), 2)


def test_log_rank_with_entries_is_calibrated():
    """survdiff of R refuses entries: the p-values of noise tell."""
    p, without = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        cells = rng.integers(0, 2, 300)
        entry = rng.exponential(1.0, 300) * np.where(cells, 1.6, 0.4)  # one cell is seen later
        time = rng.exponential(size=300)
        seen = time > entry
        time, entry, cells = time[seen], entry[seen], cells[seen]
        event = np.ones(len(time), bool)
        p.append(chi2.sf(log_rank(time, event, cells, entry)[0], 1))
        without.append(chi2.sf(log_rank(time, event, cells)[0], 1))
    assert kstest(p, "uniform").pvalue > 0.001
    assert np.mean(np.array(without) < 0.05) > 0.2


def test_log_rank_with_entries_at_0_is_that_without():
    zeros = np.zeros(80)
    assert log_rank(r.time, r.event, r.cell, zeros) == pytest.approx(log_rank(r.time, r.event, r.cell))
