"""Likelihood ratios of Cox's model, against R's survival and statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

import r_survival as r
from full_models import full_model
from interplay.data.study.outcomes.times import Survival


def drawn(n=300, p=20, seed=0, *, ties=False):
    """Times that depend on two covariates, and censoring that depends on one of them."""
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n, 2))
    time = rng.exponential(np.exp(-0.6 * design[:, 0] - 0.4 * design[:, 1]))
    censored = rng.exponential(2 * np.exp(0.5 * design[:, 0]), n)
    event, time = time <= censored, np.minimum(time, censored)
    return (np.ceil(5 * time) if ties else time), event, design, rng.normal(size=(p, n)), rng


class TestLikelihoodRatio:
    @pytest.mark.parametrize("model", r.MODELS)
    def test_against_r(self, model):
        expected = r.NUMBERS[f"{model} efron"]
        found, df = r.nested(r.time, r.event, np.empty((80, 0)), r.columns, **r.MODELS[model])
        assert found == pytest.approx(2 * (expected["log_likelihood"] - expected["log_likelihood_null"]), rel=1e-8)
        assert df == 2

    def test_cells_beyond_a_part(self):
        time, event, design, _, rng = drawn()
        part, own, entry = rng.integers(0, 2, 300), rng.integers(0, 3, 300), time * 0.1
        parts, cells = (np.eye(n)[each] for n, each in ((2, part), (6, part * 3 + own)))
        found, df = full_model(Survival(time, event, entry), design).likelihood_ratio(parts, cells)
        fits = [
            sm.PHReg(time, np.column_stack([each[:, 1:], design]), status=event * 1, entry=entry, ties="efron")
            .fit(disp=0)
            .llf
            for each in (cells, parts)
        ]
        assert (found, df) == (pytest.approx(2 * (fits[0] - fits[1]), abs=1e-5), 4)

    def test_nothing_to_test(self):
        time, event, design, _, _ = drawn()
        assert r.nested(time, event, design, design[:, ::-1]) == (0.0, 0)
        assert r.nested(time, np.zeros(300, bool), design[:, :1], design) == (0.0, 0)
