"""Harrell's concordance against R and plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import r_survival as r
from interplay.infer.survival.hazard_effects import concordance


@pytest.mark.parametrize("model", ["plain", "entry", "strata"])
def test_against_r(model):
    keywords = {"plain": {}, "entry": {"entry": r.entry}, "strata": {"entry": r.entry, "strata": r.stratum}}[model]
    found = concordance(r.time, r.event, r.columns[:, 0], **keywords)
    assert found == pytest.approx(r.NUMBERS["concordance"][model]["value"], rel=1e-12)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_against_plain_loops(data):
    n = data.draw(st.integers(1, 20))
    whole = st.integers(0, 4)
    entry, more, risk, strata = (np.array(data.draw(st.lists(whole, min_size=n, max_size=n))) for _ in range(4))
    event = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    time, strata = entry + 1 + more, strata // 3
    pairs = [0, 0, 0]
    for i in range(n):
        for j in range(n):
            after = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if i != j and event[i] and after and entry[j] < time[i] and strata[i] == strata[j]:
                pairs[0 if risk[i] > risk[j] else 1 if risk[i] < risk[j] else 2] += 1
    found = concordance(time, event, risk.astype(float), entry=entry, strata=strata)
    if sum(pairs):
        assert found == pytest.approx((pairs[0] + pairs[2] / 2) / sum(pairs))
    else:
        assert np.isnan(found)


def test_perfect_risks():
    time = np.arange(1.0, 1001.0)
    assert concordance(time, np.ones(1000, bool), -time) == 1.0
