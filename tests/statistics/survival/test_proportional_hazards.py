"""The test of proportional hazards against R's cox.zph."""

import numpy as np
import pytest
from scipy.stats import kstest

import r_survival as r
from interplay.infer.survival.hazard_effects import proportional_hazards_test


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("model", r.MODELS)
def test_against_r(model, ties):
    found = proportional_hazards_test(r.time, r.event, r.columns, ties=ties, **r.MODELS[model])
    table = np.array(r.NUMBERS[f"zph {model} {ties}"]).reshape(3, 3)  # χ², df, p of both columns and of all
    assert found.chi2 == pytest.approx(table[0, :2], rel=1e-7)
    assert found.p_value == pytest.approx(table[2, :2], rel=1e-7)


def test_an_effect_that_changes_its_sign():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    # A high value of the first column shortens early times and lengthens late ones.
    early = rng.exponential(np.exp(-x[:, 0]))
    time = np.where(early < 0.5, early, 0.5 + rng.exponential(np.exp(x[:, 0])))
    found = proportional_hazards_test(time, np.ones(600, bool), x)
    assert found.p_value[0] < 1e-10
    assert found.p_value[1] > 1e-3


def test_p_values_of_proportional_hazards_are_uniform():
    p = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(200, 2))
        time, censored = rng.exponential(np.exp(-0.5 * x[:, 0])), rng.exponential(2, 200)
        found = proportional_hazards_test(np.minimum(time, censored), time <= censored, x)
        p.append(found.p_value)
    for each in np.array(p).T:
        assert kstest(each, "uniform").pvalue > 0.001


def test_columns_without_a_coefficient():
    columns = np.column_stack([r.columns[:, 0], np.ones(80), r.columns[:, 0] * 2])
    found = proportional_hazards_test(r.time, r.event, columns)
    assert np.isnan(found.p_value).tolist() == [False, True, True]
    none = proportional_hazards_test(r.time, r.event, np.empty((80, 0)))
    assert none.chi2.shape == (0,)
