"""Effects of variables on the hazard: each number is that of its own function, which is compared with R."""

import numpy as np
import pytest

import r_survival as r
from interplay.infer.survival.hazard_effects import (
    concordance,
    hazard_effects,
    proportional_hazards_test,
)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_with_a_covariate(n_threads):
    rng = np.random.default_rng(0)
    scores = np.vstack([r.columns[:, 0], rng.normal(size=80)])
    keywords = r.MODELS["all"]
    found = hazard_effects(scores, r.time, r.event, design=r.columns[:, 1:], n_threads=n_threads, **keywords)
    # The first one is a column of R's model.
    assert found.p_proportional[0] == pytest.approx(r.NUMBERS["zph all efron"][6], rel=1e-6)
    assert found.concordance[0] == pytest.approx(r.NUMBERS["concordance"]["strata"]["value"])
    both = np.column_stack([r.columns[:, 1], scores[1]])
    assert found.p_proportional[1] == pytest.approx(
        proportional_hazards_test(r.time, r.event, both, **keywords).p_value[1]
    )
    assert found.concordance[1] == pytest.approx(
        concordance(r.time, r.event, scores[1], entry=r.entry, strata=r.stratum)
    )


def test_a_variable_that_covariates_explain():
    found = hazard_effects(r.columns[:, :1].T * 3, r.time, r.event, design=r.columns)
    assert np.isnan(found.p_proportional[0])
    assert np.isfinite(found.concordance[0])
    none = hazard_effects(np.empty((0, 80)), r.time, r.event)
    assert none.concordance.shape == (0,)
