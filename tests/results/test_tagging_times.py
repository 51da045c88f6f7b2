"""Tagging of times, and of outcomes with covariates and an offset: models are compared with statsmodels."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.api import GLM, families
from statsmodels.duration.hazard_regression import PHReg

import interplay
from likelihood_ratio import covariate_products, p_of_classes
from reference import covariate_columns

CELLS = ["p_interaction", "p_neighbour", "p_given"]


def shadow(n=1500, seed=0):
    """Two markers, the cause on haplotypes with both, and noise; known log hazards or log odds of the samples."""
    rng = np.random.default_rng(seed)
    one = rng.random((n, 2)) < 0.4
    other = np.where(rng.random((n, 2)) < 0.3, one, rng.random((n, 2)) < 0.4)
    cause = one & other & (rng.random((n, 2)) < 0.9)
    columns = [one.sum(1), other.sum(1), cause.sum(1), *rng.integers(0, 3, size=(4, n))]
    frame = pd.DataFrame(np.column_stack(columns), columns=["a", "b", "cause", "p", "q", "r", "s"])
    return frame, rng.normal(size=n)


def times_of(log_hazard, seed=0):
    """Times with ties, of which a third is censored; and entries, before which some samples were not seen."""
    rng = np.random.default_rng([seed, 1])
    entry = np.where(rng.random(len(log_hazard)) < 0.4, rng.uniform(0, 0.1, len(log_hazard)), 0.0)
    time = entry + rng.exponential(np.exp(-log_hazard))
    end = entry + rng.exponential(2.0, len(log_hazard))
    return ((np.minimum(time, end) + 0.02).round(2), time <= end), np.maximum(entry.round(2) - 0.005, 0.0)


def levels(values):
    return np.column_stack([values == value for value in np.unique(values)[1:]]).astype(float)


def both(one, other):
    return np.column_stack([a * b for a in one.T for b in other.T])


def columns_of(frame, known, site):
    """Columns of members; with the interaction; with the cause; with both. Effects differ between strata."""
    a, b, cause = (levels(frame[name]) for name in ("a", "b", "cause"))
    main, more = np.hstack([a, b]), both(a, b)
    if site is not None:
        at = levels(pd.Series(site))
        main, more = np.hstack([main, both(main, at)]), np.hstack([more, both(more, at)])
    main = np.hstack([known, main])
    return [main, np.hstack([main, more]), np.hstack([main, cause]), np.hstack([main, cause, more])]


@pytest.mark.parametrize("given", ["age", "offset and entry", "site and age"])
def test_times_are_those_of_statsmodels(given):
    frame, age = shadow(1000)
    y, entry = times_of(1.1 * frame["cause"].to_numpy() + 0.5 * age)
    site = np.arange(len(frame)) % 2
    known, beside, same = np.empty((len(frame), 0)), {}, {}
    if "age" in given:
        beside = {"covariates": {"age": age}}
        products = covariate_products(age[:, np.newaxis], [frame["a"].to_numpy(), frame["b"].to_numpy()])
        known = np.hstack([covariate_columns(age.tolist()), products])
    if "offset" in given:
        beside, same = {"offset": 0.5 * age, "entry": entry}, {"offset": 0.5 * age, "entry": entry}
    if "site" in given:
        beside, same = beside | {"strata": site}, {"strata": site}
    found = interplay.interactions(frame, y, **beside, coding="levels")
    table = found.tagging(frame, y, **beside).set_index("members")
    row = table.loc[[("a", "b")]].iloc[0]
    models = columns_of(frame, known, site if "site" in given else None)
    fits = [PHReg(y[0], part, status=y[1] * 1, ties="efron", **same).fit(disp=0).llf for part in models]

    def p_value(smaller, larger):
        df = models[larger].shape[1] - models[smaller].shape[1]
        ratio = 2 * (fits[larger] - fits[smaller])
        return float(stats.f.sf(ratio / df, df, y[1].sum() - models[larger].shape[1]))

    want = [p_value(0, 1), p_value(0, 2), p_value(2, 3)]
    assert row[CELLS].astype(float).tolist() == pytest.approx(want, rel=1e-4)
    assert row["verdict"] == "explained"
    assert row["by"] == ("cause",)


def test_classes_with_an_offset_are_those_of_statsmodels():
    frame, age = shadow()
    rng = np.random.default_rng(1)
    log_odds = 2.0 * frame["cause"] + 1.5 * age - 1.0
    y = np.where(rng.random(len(frame)) < 1 / (1 + np.exp(-log_odds)), "ill", "healthy")
    sex = rng.integers(0, 2, len(frame)).astype(float)
    beside: dict[str, Any] = {"offset": 1.5 * age, "covariates": {"sex": sex}}
    found = interplay.interactions(frame, y, **beside, coding="levels")
    table = found.tagging(frame, y, **beside).set_index("members")
    row = table.loc[[("a", "b")]].iloc[0]
    models = columns_of(frame, np.column_stack([np.ones(len(frame)), sex]), None)
    fits = [GLM(y == "ill", part, families.Binomial(), offset=1.5 * age).fit().llf for part in models]
    n_of, sizes = [part.shape[1] for part in models], np.unique(y, return_counts=True)[1]
    want = [
        p_of_classes(2 * (fits[larger] - fits[smaller]), n_of[larger] - n_of[smaller], sizes, n_of[larger])
        for smaller, larger in ((0, 1), (0, 2), (2, 3))
    ]
    assert row[CELLS].astype(float).tolist() == pytest.approx(want, rel=1e-4)
    assert (row["verdict"], row["by"]) == ("explained", ("cause",))
    with pytest.warns(UserWarning, match="were found given sex and the offset"):
        without = found.tagging(frame, y)
    assert without["p_interaction"][0] != table["p_interaction"].iloc[0]


def test_numbers_with_an_offset_are_those_without_it():
    frame, age = shadow(800)
    y = frame["cause"] + np.random.default_rng(2).normal(size=800)
    found = interplay.interactions(frame, (y + 3 * age).to_numpy(), offset=3 * age)
    table = found.tagging(frame, (y + 3 * age).to_numpy(), offset=3 * age)
    want = interplay.interactions(frame, y.to_numpy()).tagging(frame, y.to_numpy())
    pd.testing.assert_frame_equal(table[["members", "verdict", *CELLS]], want[["members", "verdict", *CELLS]])


@pytest.mark.parametrize("seed", range(3))
def test_verdicts_on_times(seed, tmp_path):
    frame, _ = shadow(seed=seed)
    y, _ = times_of(1.1 * frame["cause"].to_numpy(), seed)
    hidden = frame.drop(columns="cause")
    found = interplay.interactions(hidden, y)
    assert ("a", "b") in found.significant
    alone = found.tagging(hidden, y).set_index("members").loc[[("a", "b")]].iloc[0]
    assert alone["verdict"] == "cannot be told"
    dense = found.tagging(hidden, y, dense=frame[["cause"]]).set_index("members").loc[[("a", "b")]].iloc[0]
    assert dense["by"] in ((), ("cause",))
    assert dense["verdict"] != "holds"
    # A true interaction of two markers, each with a neighbour.
    rng = np.random.default_rng([seed, 2])
    pair = frame[["p", "q"]].assign(near_p=np.where(rng.random(1500) < 0.7, frame["p"], frame["r"]))
    pair["near_q"] = np.where(rng.random(1500) < 0.7, frame["q"], frame["s"])
    y, _ = times_of(0.8 * (frame["p"] - 1).to_numpy() * (frame["q"] - 1).to_numpy(), seed)
    found = interplay.interactions(pair, y)
    again = found.with_tagging(pair, y)
    assert again.tagged is not None
    assert again.tagged.verdict_of(0) == ("holds", [])
    again.to_html(tmp_path / "pairs.html")
    assert "tested again in Cox models" in (tmp_path / "pairs.html").read_text(encoding="utf-8")


def test_times_with_few_events_cannot_be_told():
    frame, _ = shadow(300)
    (time, event), _ = times_of(2 * frame["cause"].to_numpy())
    event &= np.arange(300) < 90
    found = interplay.interactions(frame, (time, event), level=0.99, p_adjust="none", top=1, coding="levels")
    assert found.tagging(frame, (time, event))["reason"][0] == "too few events"
