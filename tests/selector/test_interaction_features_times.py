"""InteractionFeatures of times: features against plain loops, a Cox model on them, routing, copies."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

import interplay
from interplay import InteractionFeatures
from interplay.ask.estimators.tuple_features import PRIOR
from interplay.data.models.cox import fit_cox


def times_data(seed=2, n=400, n_vars=10):
    """Hazards of ±1 by the sign of a product, a third of the times censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_vars))
    event_at = rng.exponential(np.exp(-np.sign(X[:, 3] * X[:, 7])))
    last_seen = rng.exponential(2.0, size=n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = event_at <= last_seen, np.minimum(event_at, last_seen)
    return X, y


def expected_events(y, entry=None):
    """Nelson and Aalen's cumulative hazard of each sample while it was seen, in plain loops."""
    start = np.full(len(y), -np.inf) if entry is None else entry
    steps = {
        t: (y["event"] & (y["time"] == t)).sum() / ((y["time"] >= t) & (start < t)).sum()
        for t in np.unique(y["time"][y["event"]])
    }
    return np.array([sum(step for t, step in steps.items() if start[i] < t <= y["time"][i]) for i in range(len(y))])


def concordance(time, event, risk):
    earlier = (time[:, None] < time) & event[:, None]
    right = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
    return float(right[earlier].mean())


@pytest.mark.parametrize("is_late", [False, True], ids=["from the start", "late entry"])
def test_log_hazards_are_those_of_plain_loops(is_late):
    X, y = times_data()
    entry = np.where(np.arange(len(y)) % 3 == 0, 0.3 * y["time"], 0.0) if is_late else None
    model = InteractionFeatures(encoding="means", passthrough=False).fit(X, y, entry=entry)
    assert model.tuples_ == [("x3", "x7")]
    assert model.get_feature_names_out().tolist() == ["x3:x7=log_hazard"]
    found = model.transform(X)[:, 0]
    cut = [model.result_.cuts_of(v).thresholds[0, 0] for v in (3, 7)]
    expected = expected_events(y, entry)
    for a in (True, False):
        for b in (True, False):
            cell = ((X[:, 3] > cut[0]) == a) & ((X[:, 7] > cut[1]) == b)
            value = np.log((y["event"][cell].sum() + PRIOR) / (expected[cell].sum() + PRIOR))
            np.testing.assert_allclose(found[cell], value)


def test_a_pair_of_arrays_and_select_give_the_same():
    X, y = times_data()
    model = InteractionFeatures(encoding=("cells", "means", "products"))
    both = model.fit_transform(X, y)
    np.testing.assert_array_equal(clone(model).fit_transform(X, (y["time"], y["event"])), both)
    assert clone(model).set_params(search="select").fit(X, y).tuples_ == model.tuples_


@pytest.mark.parametrize("encoding", ["cells", "means", "products"])
def test_a_cox_model_learns_the_interaction(encoding):
    X, y = times_data(n=600)
    inside, outside = np.arange(400), np.arange(400, 600)
    features = InteractionFeatures(encoding=encoding)
    table = features.fit_transform(X[inside], y[inside])
    new = features.transform(X[outside])
    n_used = table.shape[1] - (encoding == "cells")  # the indicators of a tuple add up to 1
    scores = []
    for n_columns in (10, n_used):
        fit = fit_cox(y["time"][inside], y["event"][inside], table[:, :n_columns])
        scores.append(concordance(y["time"][outside], y["event"][outside], new[:, :n_columns] @ fit.coefficients))
    assert scores[0] < 0.58
    assert scores[1] > (0.62 if encoding == "products" else 0.64)


class CoxRegression(BaseEstimator):
    """The last step of a pipeline."""

    def fit(self, X, y):
        self.fit_ = fit_cox(y["time"], y["event"], np.asarray(X))
        return self

    def predict(self, X):
        return np.asarray(X) @ self.fit_.coefficients


def test_groups_and_covariates_reach_the_search_through_a_pipeline():
    X, y = times_data(n=300)
    covariates = np.random.default_rng(2).normal(size=(300, 1))
    with config_context(enable_metadata_routing=True):
        step = InteractionFeatures(encoding="means", n_permutations=39).set_fit_request(groups=True)
        model = make_pipeline(step, CoxRegression()).fit(X, y, groups=np.arange(300) // 2)
        assert model[0].result_.is_permuted
        step = InteractionFeatures(encoding="means").set_fit_request(covariates=True, entry=True)
        model = make_pipeline(step, CoxRegression()).fit(X, y, covariates=covariates, entry=np.zeros(300))
    assert model[0].tuples_ == [("x3", "x7")]
    assert model[0].result_.provenance["covariates"]
    assert model.predict(X).shape == (300,)


def test_an_interaction_of_covariates_is_not_used():
    X, y = times_data()
    explained = np.sign(X[:, 3] * X[:, 7])
    assert InteractionFeatures().fit(X, y, covariates=explained).tuples_ == []


def test_copies_and_frames():
    X, y = times_data()
    frame = pd.DataFrame(X, columns=list("abcdefghij"), index=np.arange(len(X)) + 5)
    model = clone(InteractionFeatures(encoding=("cells", "means"))).set_output(transform="pandas")
    inside = model.fit_transform(frame, y)
    assert inside.columns[-5:].tolist() == ["d:h=lo,lo", "d:h=lo,hi", "d:h=hi,lo", "d:h=hi,hi", "d:h=log_hazard"]
    assert inside.index.equals(frame.index)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.transform(frame), model.transform(frame))


def test_rules_name_residuals():
    X, y = times_data()
    found = interplay.interactions(X, y)
    assert all(": mean residual " in rule for rule in found.rules())


def test_an_unknown_argument_names_all_that_there_are():
    X, y = times_data()
    with pytest.raises(TypeError, match="strata, groups, covariates, offset and entry only"):
        InteractionFeatures().fit(X, y, weights=X[:, 0])
    with pytest.raises(ValueError, match=r"^entry is for times"):
        InteractionFeatures().fit(X, y["event"], entry=np.zeros(len(y)))
