"""Kaplan–Meier curves and log-rank tests of samples that were seen from an entry on, against R."""

import numpy as np
import pytest

import r_survival as r
from interplay.infer.survival.survival_curves import kaplan_meier


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
