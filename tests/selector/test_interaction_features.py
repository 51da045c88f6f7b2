"""InteractionFeatures: scikit-learn's own checks, features against plain loops, and no leak of the outcome."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import interplay
from interplay import InteractionFeatures
from interplay.ask.estimators.tuple_features import PRIOR

WARNINGS_OF_CHECKS = (
    "ignore:y has . of . classes with fewer than 2 samples",
    "ignore:X has feature names, but",
    "ignore:X does not have valid feature names",
    "ignore:.*too few samples",
    "ignore:.*samples",
)

ESTIMATORS = (
    InteractionFeatures(),
    InteractionFeatures(encoding=("cells", "products"), min_tuples=2),
    InteractionFeatures(search="select", passthrough=False),
    InteractionFeatures(missing="omit", max_tuples=1),
)

FURTHER_CHECKS = (
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
    "check_get_params_invariance",
    "check_n_features_in",
)


@pytest.mark.filterwarnings(*WARNINGS_OF_CHECKS)
class TestChecksOfScikitLearn:
    @pytest.fixture(autouse=True)
    def _array_api(self, monkeypatch):
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")

    @parametrize_with_checks(list(ESTIMATORS))
    def test_every_estimator(self, estimator, check):
        check(estimator)

    @pytest.mark.parametrize("estimator", ESTIMATORS[:2], ids=str)
    @pytest.mark.parametrize("check", FURTHER_CHECKS)
    def test_own_estimators(self, estimator, check):
        getattr(estimator_checks, check)("InteractionFeatures", estimator)


def xor_data(seed=1, n=400, n_vars=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_vars))
    return X, (X[:, 4] > 0) ^ (X[:, 17] > 0) ^ (rng.random(n) < 0.1)


class TestFeatures:
    def test_cells_are_those_of_the_search(self):
        X, y = xor_data()
        model = InteractionFeatures(passthrough=False).fit(X, y)
        assert model.tuples_ == [("x4", "x17")]
        names = model.get_feature_names_out().tolist()
        assert names == ["x4:x17=lo,lo", "x4:x17=lo,hi", "x4:x17=hi,lo", "x4:x17=hi,hi"]
        cut = [float(model.result_.cuts_of(v).thresholds[0, 0]) for v in (4, 17)]
        other = np.random.default_rng(3).normal(size=(50, 20))
        found = model.transform(other)
        for row, features in zip(other, found, strict=True):
            expected = f"x4:x17={'hi' if row[4] > cut[0] else 'lo'},{'hi' if row[17] > cut[1] else 'lo'}"
            assert [name for name, value in zip(names, features, strict=True) if value] == [expected]

    def test_products_are_centred_and_scaled(self):
        X, y = xor_data()
        model = InteractionFeatures(encoding="products").fit(X, y)
        found = model.transform(X)
        a, b = ((X[:, v] - X[:, v].mean()) / X[:, v].std() for v in (4, 17))
        np.testing.assert_allclose(found[:, -1], a * b)
        np.testing.assert_array_equal(found[:, :20], X)
        assert model.get_feature_names_out()[-1] == "x4:x17"

    def test_means_of_a_sample_come_from_the_other_folds(self):
        X, y = xor_data()
        model = InteractionFeatures(encoding="means", passthrough=False, cv=4)
        inside = model.fit_transform(X, y)[:, 0]
        (one,) = model._features
        cells = (X[:, 4] > one.cuts[0].thresholds[0, 0]) * 2 + (X[:, 17] > one.cuts[1].thresholds[0, 0])
        after = model.transform(X)[:, 0]
        for cell in range(4):
            of_cell = y[cells == cell]
            share = (y.sum() + 0.5) / (len(y) + 1)
            expected = np.log(of_cell.sum() + PRIOR * share) - np.log((~of_cell).sum() + PRIOR * (1 - share))
            np.testing.assert_allclose(after[cells == cell], expected)
            assert len(np.unique(inside[cells == cell])) <= 4
        # A label that changes must not change the value of its own sample.
        fold_values = []
        for flipped in (y, np.r_[~y[:1], y[1:]]):
            again = InteractionFeatures(encoding="means", passthrough=False, cv=len(y))
            fold_values.append(again.fit_transform(X, flipped)[0, 0])
        assert fold_values[0] == pytest.approx(fold_values[1], abs=0.02)  # the overall share alone

    @pytest.mark.parametrize("kind", ["number", "three classes"])
    def test_means_of_other_outcomes(self, kind):
        X, y = xor_data(n=600)
        outcome = (
            y + np.random.default_rng(0).normal(size=600) if kind == "number" else np.where(y, "a", "b").astype(object)
        )
        if kind == "three classes":
            outcome[X[:, 0] > 1.2] = "c"
        model = InteractionFeatures(encoding="means", passthrough=False).fit(X, outcome)
        names = model.get_feature_names_out().tolist()
        if kind == "number":
            assert names == ["x4:x17=mean"]
            found = model.transform(X)[:, 0]
            (one,) = model._features
            corner = (X[:, 4] <= one.cuts[0].thresholds[0, 0]) & (X[:, 17] <= one.cuts[1].thresholds[0, 0])
            expected = (outcome[corner].sum() + PRIOR * outcome.mean()) / (corner.sum() + PRIOR)
            np.testing.assert_allclose(found[corner], expected)
        else:
            assert names[:3] == ["x4:x17=log_odds(a)", "x4:x17=log_odds(b)", "x4:x17=log_odds(c)"]

    def test_labels_and_unknown_values(self):
        rng = np.random.default_rng(2)
        colour = rng.choice(["red", "green", "blue"], size=500)
        frame = pd.DataFrame({"colour": colour, "size": rng.integers(0, 2, 500), "noise": rng.normal(size=500)})
        y = (colour == "red") ^ (frame["size"] == 1)
        model = InteractionFeatures(encoding=("cells", "means", "products"), passthrough=False).fit(frame, y)
        names = model.get_feature_names_out().tolist()
        assert "colour:size=red,1" in names
        assert "colour:size" not in names  # three labels have no product
        new = pd.DataFrame({"colour": ["red", "violet"], "size": [1, 1], "noise": [0.0, 0.0]})
        found = dict(zip(names, model.transform(new).T, strict=True))
        assert found["colour:size=red,1"].tolist() == [1, 0]
        assert sum(found[name][1] for name in names if "," in name) == 0
        assert found["colour:size=log_odds"][1] == pytest.approx(np.log(y.mean() / (1 - y.mean())), abs=0.02)

    def test_frames_keep_their_types(self):
        X, y = xor_data()
        frame = pd.DataFrame(X, columns=[f"v{i}" for i in range(20)], index=np.arange(400) + 7).assign(text="a")
        out = InteractionFeatures().set_output(transform="pandas").fit_transform(frame, y)
        assert out.columns[-1] == "v4:v17=hi,hi"
        assert out.index.equals(frame.index)
        assert out["text"].dtype == frame["text"].dtype
        polars = InteractionFeatures().set_output(transform="polars").fit_transform(pl.from_pandas(frame), y)
        assert isinstance(polars, pl.DataFrame)
        assert polars["text"].dtype == pl.String
        sparse = InteractionFeatures().fit_transform(scipy.sparse.csr_matrix(X), y)
        assert scipy.sparse.issparse(sparse)
        np.testing.assert_array_equal(sparse.toarray()[:, 20:], out.iloc[:, 21:])


class TestSearch:
    def test_minimum_and_maximum_of_tuples(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(120, 6)), rng.integers(0, 2, 120)
        assert InteractionFeatures().fit(X, y).tuples_ == []
        assert InteractionFeatures().fit_transform(X, y).shape == (120, 6)
        top = interplay.interactions(X, y, top=3)
        model = InteractionFeatures(min_tuples=3).fit(X, y)
        assert model.tuples_ == [top.members_of(row) for row in range(3)]
        assert InteractionFeatures(min_tuples=3, max_tuples=1).fit(X, y).tuples_ == model.tuples_[:1]

    def test_select_finds_the_same_pair(self):
        X, y = xor_data()
        assert InteractionFeatures(search="select").fit(X, y).tuples_ == [("x4", "x17")]

    def test_triples(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(500, 10))
        y = (X[:, [1, 4, 7]] > 0).sum(axis=1) % 2
        model = InteractionFeatures(3).fit(X, y)
        assert model.tuples_ == [("x1", "x4", "x7")]
        assert len(model.get_feature_names_out()) == 10 + 8

    def test_covariates_remove_tuples_that_they_explain(self):
        rng = np.random.default_rng(4)
        X = rng.integers(0, 2, size=(600, 8))
        cause = X[:, 1] ^ X[:, 2]
        y = rng.random(600) < np.where(cause, 0.85, 0.15)
        assert InteractionFeatures().fit(X, y).tuples_ == [("x1", "x2")]
        assert InteractionFeatures().fit(X, y, covariates=cause[:, None]).tuples_ == []
        assert InteractionFeatures().fit(X, y, covariates=rng.normal(size=(600, 1))).tuples_ == [("x1", "x2")]

    def test_groups_and_strata_reach_the_search_through_a_pipeline(self):
        X = np.random.default_rng(3).normal(size=(240, 6))
        y = (X[:, 1] > 0) ^ (X[:, 3] > 0)
        groups = np.arange(240) // 2
        with config_context(enable_metadata_routing=True):
            step = InteractionFeatures(encoding="means").set_fit_request(groups=True, strata=True)
            model = make_pipeline(step, LogisticRegression()).fit(X, y, groups=groups, strata=np.arange(240) % 2)
        found = model[0].result_
        assert found.is_permuted
        assert len(found.provenance["strata"]) == 2


class TestModels:
    @pytest.mark.parametrize("encoding", ["cells", "means", "products"])
    def test_a_linear_model_learns_exclusive_or(self, encoding):
        X, y = xor_data(n=500)
        alone = cross_val_score(LogisticRegression(), X, y, cv=4).mean()
        model = make_pipeline(InteractionFeatures(encoding=encoding), LogisticRegression())
        assert alone < 0.6
        assert cross_val_score(model, X, y, cv=4).mean() > (0.7 if encoding == "products" else 0.85)

    def test_permuted_outcomes_are_not_learnt(self):
        """All comes from the training fold: with a permuted outcome the score is that of chance."""
        X, _ = xor_data(n=300)
        rng = np.random.default_rng(0)
        scores = []
        for _ in range(6):
            y = rng.permutation(np.arange(300) % 2)
            model = make_pipeline(InteractionFeatures(encoding=("cells", "means"), min_tuples=3), LogisticRegression())
            scores.append(cross_val_score(model, X, y, cv=3, scoring="roc_auc").mean())
        assert abs(np.mean(scores) - 0.5) < 0.05

    def test_numbers(self):
        X, y = xor_data(n=400)
        number = y + 0.5 * np.random.default_rng(0).normal(size=400)
        model = make_pipeline(InteractionFeatures(encoding="means"), LinearRegression())
        assert cross_val_score(model, X, number, cv=4).mean() > 0.2

    def test_clone_and_pickle(self):
        X, y = xor_data()
        model = clone(InteractionFeatures(encoding=("cells", "means"), divisions=2, level=0.01)).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.transform(X), model.transform(X))


class TestTermsAndRules:
    def test_terms_and_rules_of_numbers_and_sql(self):
        import sqlite3

        X, y = xor_data(n=300)
        frame = pd.DataFrame(X, columns=[f'v"{i}' for i in range(20)])
        found = interplay.interactions(frame, np.where(y, "it's", "no"))
        assert found.terms() == [(4, 17)]
        assert found.terms("names") == [('v"4', 'v"17')]
        constraints = found.terms("lightgbm")
        assert found.terms("xgboost") == str(constraints)  # as a text: XGBoost reads lists as names
        assert constraints[0] == [4, 17]
        assert sorted(v for one in constraints for v in one) == list(range(20))
        (column,) = found.rules("sql")
        with sqlite3.connect(":memory:") as database:
            frame.to_sql("t", database, index=False)
            values = pd.read_sql(f"select {column} from t", database).iloc[:, 0].to_numpy()
        cells = InteractionFeatures(passthrough=False).fit(frame, y).transform(frame).argmax(axis=1)
        for cell in range(4):
            assert np.allclose(values[cells == cell], (~y[cells == cell]).mean(), atol=1e-6)
        assert len(found.rules()) == 4
        number = interplay.interactions(frame, y + np.random.default_rng(1).normal(size=300) / 4)
        assert ": mean " in number.rules(row=0)[0]


def test_the_note_says_whether_features_can_help():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6))
    y = (X[:, 1] > 0) ^ (X[:, 4] > 0)
    noise = np.random.default_rng(1000).random(300) < 0.5
    assert InteractionFeatures().fit(X, y).note_.startswith("1 of the 1 tuples that are used is significant (adj")
    assert InteractionFeatures().fit(X, noise).note_.startswith("No tuple interacts (adjusted p < 0.05): there are no")
    assert "None of the 2 tuples" in InteractionFeatures(min_tuples=2).fit(X, noise).note_
