"""MDFSSelector.fit(X, y, covariates=, offset=, entry=): the selection of select(), also through pipelines."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import interplay
from interplay import MDFSSelector

SETTINGS = {"dimensions": 1, "random_state": 0}


@pytest.fixture
def data():
    """x2 matters; x0 follows from age, which matters."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=400)
    X = rng.normal(size=(400, 8))
    X[:, 0] = age + 0.5 * X[:, 0]
    logit = 1.5 * age + 2.0 * (X[:, 2] > 0) - 1
    return X, (rng.random(400) < 1 / (1 + np.exp(-logit))).astype(int), age


def test_is_select(data):
    X, y, age = data
    assert "x0" in MDFSSelector(**SETTINGS).fit(X, y).get_feature_names_out()
    for given in ({"covariates": age}, {"covariates": np.column_stack([age, age**2])}, {"offset": 1.3 * age}):
        selector = MDFSSelector(**SETTINGS).fit(X, y, **given)
        assert selector.result_.table.equals(interplay.select(X, y, **given, **SETTINGS).table)
        assert selector.get_feature_names_out().tolist() == ["x2"]


def test_times_and_entries(data):
    X, _, age = data
    rng = np.random.default_rng(1)
    entry = rng.uniform(0, 0.1, 400)
    time = entry + rng.exponential(np.exp(-age - 1.5 * (X[:, 2] > 0)))
    event = rng.random(400) < 0.7
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    selector = MDFSSelector(**SETTINGS).fit(X, y, covariates=age, entry=entry)
    expected = interplay.select(X, (time, event), covariates=age, entry=entry, **SETTINGS)
    assert selector.result_.table.equals(expected.table)
    assert selector.get_feature_names_out().tolist() == ["x2"]


def test_metadata_routing_in_a_pipeline(data):
    X, y, age = data
    with config_context(enable_metadata_routing=True):
        selector = MDFSSelector(**SETTINGS).set_fit_request(covariates=True)
        model = make_pipeline(selector, DecisionTreeClassifier(random_state=0)).fit(X, y, covariates=age)
        assert model["mdfsselector"].get_feature_names_out().tolist() == ["x2"]
        forest = RandomForestClassifier(n_estimators=5, random_state=0)
        folds = cross_validate(
            make_pipeline(selector, forest), X, y, params={"covariates": age}, cv=3, return_estimator=True
        )
        for fitted in folds["estimator"]:
            assert "x0" not in fitted["mdfsselector"].get_feature_names_out()
            assert fitted["mdfsselector"].result_.provenance["covariates"] == ["covariate"]
        with pytest.raises(UnsetMetadataPassedError, match="covariates"):
            make_pipeline(MDFSSelector(**SETTINGS), DecisionTreeClassifier()).fit(X, y, covariates=age)


def test_rare_classes_are_left_out_of_covariates_too(data):
    X, y, age = data
    y = y.copy()
    y[7] = 2
    with pytest.warns(UserWarning, match="which are left out"):
        selector = MDFSSelector(**SETTINGS).fit(X, y, covariates=age)
    kept = np.arange(400) != 7
    expected = interplay.select(X[kept], y[kept], covariates=age[kept], **SETTINGS)
    assert selector.result_.p_value == pytest.approx(expected.p_value, rel=1e-9)


@pytest.mark.parametrize("name", ["covariates", "offset", "entry"])
def test_names_of_columns_are_refused(data, name):
    X, y, _ = data
    with pytest.raises((TypeError, ValueError), match=name):
        MDFSSelector(**SETTINGS).fit(X, y, **{name: "age"})
