"""What MDFSSelector keeps: at least min_features, one of each group that says the same; and why not the rest."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import InvalidParameterError

from interplay import MDFSSelector
from interplay.data.study.table import as_table
from interplay.infer.short_list import Associations

N = 400


def noise(n_samples=80):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_samples, 6)), rng.integers(0, 2, n_samples)


def redundant_table():
    """Return an XOR of a and b, copies of both, one that is monotone, one that is noisy, and one as text."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, N))
    y = (a > 0) ^ (b > 0)
    frame = pd.DataFrame(rng.normal(size=(N, 5)), columns=[f"n{v}" for v in range(5)])
    return frame.assign(
        a=a, b=b, exp_a=np.exp(3 * a), b_noisy=-b + rng.normal(0, 0.1, N), a_text=np.where(a > 0, "high", "low")
    ), y


class TestMinFeatures:
    def test_nothing_is_relevant_and_something_is_kept(self):
        X, y = noise()
        with pytest.warns(UserWarning, match="No features were selected"):
            assert MDFSSelector(random_state=0).fit(X, y).transform(X).shape[1] == 0
        for few in (1, 3, 6):
            selector = MDFSSelector(min_features=few, random_state=0).fit(X, y)
            kept = np.flatnonzero(selector.support_)
            assert len(kept) == few
            assert set(kept) == set(np.argsort(selector.result_.log_p, kind="stable")[:few])
            assert len(selector.left_out_) == 6 - few

    def test_a_pipeline_is_not_broken_by_noise(self):
        X, y = noise()
        model = make_pipeline(MDFSSelector(min_features=1, dimensions=1, random_state=0), LogisticRegression())
        assert np.isfinite(cross_val_score(model, X, y, cv=4)).all()

    def test_relevant_ones_come_first(self):
        frame, y = redundant_table()
        selector = MDFSSelector(min_features=8, random_state=0).fit(frame, y)
        assert selector.support_.sum() == 8
        assert set(selector.result_.relevant) <= set(selector.get_feature_names_out())
        fewer = MDFSSelector(min_features=2, random_state=0).fit(frame, y)
        assert np.array_equal(fewer.support_, selector.result_.is_relevant)

    def test_bounds_are_checked(self):
        X, y = noise()
        with pytest.raises(ValueError, match=r"^min_features=7 needs as many variables, and X has n_features=6"):
            MDFSSelector(min_features=7).fit(X, y)
        for bad in ({"min_features": -1}, {"min_features": None}, {"redundancy": 0}, {"redundancy": 1.5}):
            with pytest.raises(InvalidParameterError, match=next(iter(bad))):
                MDFSSelector(**bad).fit(X, y)
        assert clone(MDFSSelector(min_features=2, redundancy=0.9)).redundancy == 0.9


class TestRedundancy:
    def test_one_of_each_group_is_kept(self):
        frame, y = redundant_table()
        everything = MDFSSelector(random_state=0).fit(frame, y)
        assert set(everything.get_feature_names_out()) == {"a", "b", "exp_a", "b_noisy", "a_text"}
        selector = MDFSSelector(redundancy=0.8, random_state=0).fit(frame, y)
        kept = set(selector.get_feature_names_out())
        assert len(kept & {"a", "exp_a", "a_text"}) == len(kept & {"b", "b_noisy"}) == 1
        assert len(kept) == 2
        # The most significant of all is kept.
        assert selector.result_.relevant[0] in kept
        order = {name: place for place, name in enumerate(selector.result_.relevant)}
        for name, reason in selector.left_out_.items():
            if name in order:
                other = reason.split("'")[1]
                assert reason.startswith("redundant with '")
                assert other in kept
                assert order[other] < order[name]
            else:
                assert reason.startswith("not relevant (adjusted p ")

    def test_the_threshold_decides(self):
        frame, y = redundant_table()
        exact = MDFSSelector(redundancy=1.0, random_state=0).fit(frame, y)
        assert exact.support_.sum() == 4  # a and exp_a have the same ranks
        none = MDFSSelector(redundancy=1e-9, random_state=0).fit(frame, y)
        assert none.get_feature_names_out().tolist() == [none.result_.relevant[0]]

    def test_with_bounds(self):
        frame, y = redundant_table()
        selector = MDFSSelector(redundancy=0.8, max_features=1, random_state=0).fit(frame, y)
        assert selector.get_feature_names_out().tolist() == selector.result_.relevant[:1]
        assert "relevant, but max_features others are more significant" in selector.left_out_.values()
        selector = MDFSSelector(redundancy=0.8, min_features=9, random_state=0).fit(frame, y)
        assert selector.support_.sum() == 9  # what says the same comes last
        assert [reason[:17] for reason in selector.left_out_.values()] == ["redundant with 'b"]

    def test_missing_values_and_few_classes(self):
        frame, y = redundant_table()
        frame.loc[::7, ["a", "exp_a"]] = np.nan
        classes = np.where(y, "yes", "no").astype(object)
        classes[0] = "once"
        with pytest.warns(UserWarning, match="1 of 3 classes"):
            selector = MDFSSelector(redundancy=0.9, missing="level", random_state=0).fit(frame, classes)
        kept = set(selector.get_feature_names_out())
        assert len(kept & {"a", "exp_a"}) == 1


def test_left_out_is_complete():
    frame, y = redundant_table()
    selector = MDFSSelector(redundancy=0.9, random_state=0).fit(frame.to_numpy(dtype=object)[:, :7].astype(float), y)
    assert set(selector.left_out_) | set(selector.get_feature_names_out()) == {f"x{v}" for v in range(7)}
    assert not set(selector.left_out_) & set(selector.get_feature_names_out())


def test_associations_are_those_of_scipy():
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    frame = pd.DataFrame(
        {
            "a": a,
            "b": a + rng.normal(size=200),
            "ties": np.round(a * 2),
            "kind": np.array(list("uvw"))[np.digitize(a + rng.normal(size=200), [-0.5, 0.5])],
            "other": np.array(list("pq"))[(a + rng.normal(size=200) > 0).astype(int)],
            "flat": ["z"] * 200,
        }
    )

    def between(one, two):
        kept = Associations(as_table(frame))
        kept.keep(frame.columns.get_loc(one))
        other, found = kept.strongest(frame.columns.get_loc(two))
        assert other == frame.columns.get_loc(one)
        return found

    assert between("a", "b") == pytest.approx(stats.spearmanr(frame["a"], frame["b"]).statistic)
    assert between("ties", "b") == pytest.approx(stats.spearmanr(frame["ties"], frame["b"]).statistic)
    counts = pd.crosstab(frame["kind"], frame["other"])
    assert between("kind", "other") == pytest.approx(stats.contingency.association(counts, method="cramer"))
    # The correlation ratio squared is H / (n − 1), with Kruskal and Wallis's H.
    h = stats.kruskal(*(frame["a"][frame["kind"] == kind] for kind in "uvw")).statistic
    assert between("a", "kind") == between("kind", "a") == pytest.approx(np.sqrt(h / 199))
    assert between("flat", "kind") == 0
    assert between("flat", "a") == pytest.approx(0, abs=1e-12)
    assert Associations(as_table(frame)).strongest(0) == (-1, 0.0)


class TestExactly:
    @pytest.mark.parametrize("n", [1, 2, 7, 10])
    def test_so_many_are_kept_significant_or_not(self, n):
        frame, y = redundant_table()
        selector = MDFSSelector(n_features_to_select=n, random_state=0).fit(frame, y)
        assert selector.transform(frame).shape[1] == n
        assert set(selector.get_feature_names_out()) == set(selector.result_.best(n))
        assert sorted(selector.ranking_) == list(range(1, 11))
        assert np.array_equal(selector.support_, selector.ranking_ <= n)
        if n < 10:
            assert set(selector.left_out_.values()) == {f"after the first {n} of the order for models"}

    def test_ranks_without_a_number(self):
        frame, y = redundant_table()
        selector = MDFSSelector(random_state=0).fit(frame, y)
        in_order = frame.columns[np.argsort(selector.ranking_)].tolist()
        assert in_order == selector.result_.best(10)
        assert selector.support_.sum() == len(selector.result_.relevant)

    def test_as_many_as_predict_best(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(300, 12))
        y = X[:, 2] + X[:, 9] + 0.5 * rng.normal(size=300)
        selector = MDFSSelector(n_features_to_select="auto", dimensions=1, random_state=0).fit(X, y)
        assert np.flatnonzero(selector.support_).tolist() == [2, 9]
        assert selector.result_.best_curve.n_best == 2

    def test_a_grid_search_searches_each_fold_once(self, monkeypatch, tmp_path):
        import interplay.ask.selection.call as call

        searches = []
        search = call.search_selection
        monkeypatch.setattr(
            call, "search_selection", lambda *given, **named: searches.append(1) or search(*given, **named)
        )
        frame, y = redundant_table()
        X = frame.drop(columns="a_text")
        model = make_pipeline(
            MDFSSelector(n_features_to_select=1, dimensions=(1, 2)), GaussianNB(), memory=str(tmp_path)
        )
        grid = GridSearchCV(model, {"mdfsselector__n_features_to_select": [1, 2, 4, 8]}, cv=2).fit(X, y)
        assert len(searches) == 3  # two folds, and all samples
        assert grid.best_estimator_[0].support_.sum() == grid.best_params_["mdfsselector__n_features_to_select"]
        MDFSSelector(n_features_to_select=3, dimensions=(1, 2), level=0.01).fit(X, y)
        assert len(searches) == 4
        MDFSSelector(n_features_to_select=3, dimensions=(1, 2)).fit(X, ~y)
        assert len(searches) == 5

    def test_refusals(self):
        X, y = noise()
        with pytest.raises(ValueError, match=r"^n_features_to_select=3 says exactly .* with max_features=2: leave one"):
            MDFSSelector(n_features_to_select=3, max_features=2).fit(X, y)
        with pytest.raises(
            ValueError, match=r"^n_features_to_select=7 needs as many variables, and X has n_features=6"
        ):
            MDFSSelector(n_features_to_select=7).fit(X, y)
        with pytest.raises(InvalidParameterError, match="n_features_to_select"):
            MDFSSelector(n_features_to_select=0).fit(X, y)
        with pytest.raises(TypeError, match=r"^n_features_to_select must be a whole number .* not True"):
            MDFSSelector(n_features_to_select=True).fit(X, y)
