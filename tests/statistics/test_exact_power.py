"""The power of the exact test: sums over the bulk of all tables equal sums over all of them."""

import numpy as np
import pytest

from interplay.infer.interaction.null_model import parity_signs, step_range
from interplay.infer.power import class_power as module


@pytest.mark.parametrize("n", [40, 300, 5000])
@pytest.mark.parametrize("theta", [0.0, 0.4, 2.5])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.95, 0.05)])
@pytest.mark.parametrize("log_threshold", [-3.0, -20.0])
def test_the_bulk_holds_all_that_matters(n, theta, shares, log_threshold, monkeypatch):
    rng = np.random.default_rng(0)
    cells = np.multiply.outer(np.multiply.outer(shares, shares), (0.5, 0.5)).ravel()
    tables = rng.multinomial(n, cells, size=20).reshape(20, 2, 2, 2)
    asked = {"log_odds_ratio": theta, "log_threshold": log_threshold}
    by_bulk = module.exact_power(tables, **asked)
    signs = parity_signs((2, 2, 2))
    low, high = step_range(tables.reshape(20, 8), signs)
    some, others = module._bulk(tables.reshape(20, 8), signs, theta, log_threshold)
    assert n < 5000 or shares[0] > 0.5 or (others - some).sum() < 0.8 * (high - low).sum()
    monkeypatch.setattr(module, "_bulk", lambda flat, signs, *_: step_range(flat, signs))
    assert by_bulk == pytest.approx(module.exact_power(tables, **asked), rel=1e-9, abs=1e-15)
