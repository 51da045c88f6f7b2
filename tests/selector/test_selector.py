"""MDFSSelector: scikit-learn's own checks, none excused, and what they do not look at."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

import interplay
from interplay.ask.estimators import MDFSSelector

#: The checks' tables are small (pure noise, or decisions with a class of one sample), and some checks fit an array and
#: transform a frame.
WARNINGS_OF_CHECKS = (
    "ignore:No features were selected",
    "ignore:y has . of . classes with fewer than 2 samples",
    "ignore:X has feature names, but",
    "ignore:X does not have valid feature names",
)

#: The defaults select nothing from tables of noise; the second takes missing values; the third selects most columns,
#: the fourth one.
SELECTORS = (
    MDFSSelector(),
    MDFSSelector(dimensions=2, n_contrast=40, missing="level", max_features=2),
    MDFSSelector(dimensions=1, level=0.9, p_adjust="none", min_features=1, redundancy=0.9),
    MDFSSelector(dimensions=1, n_features_to_select=1),
)

#: scikit-learn runs these on its own estimators only.
FURTHER_CHECKS = (
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_global_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency",
    "check_param_validation",
    "check_get_params_invariance",
    "check_n_features_in",
    "check_inplace_ensure_writeable",
    "check_get_feature_names_out_error",
)


@pytest.mark.filterwarnings(*WARNINGS_OF_CHECKS)
class TestChecksOfScikitLearn:
    @pytest.fixture(autouse=True)
    def _array_api(self, monkeypatch):
        """Without it, the check with array API dispatch is skipped."""
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")

    @parametrize_with_checks(list(SELECTORS))
    def test_every_estimator(self, estimator, check):
        check(estimator)

    @pytest.mark.parametrize("selector", SELECTORS, ids=str)
    @pytest.mark.parametrize("check", FURTHER_CHECKS)
    def test_own_estimators(self, selector, check):
        getattr(estimator_checks, check)("MDFSSelector", selector)


def xor_data(seed=1, n_samples=400, n_vars=20):
    """Noise, and a decision that columns 4 and 17 make together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_vars))
    return X, (X[:, 4] > 0) ^ (X[:, 17] > 0) ^ (rng.random(n_samples) < 0.1)


X, y = xor_data()


def mixed_data():
    """Numbers, a bool, text and categories; the decision is a matter of a number, the text and the category."""
    rng = np.random.default_rng(0)
    n = 400
    colour = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]
    frame = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"v{v}" for v in range(8)], index=np.arange(n) + 1000)
    frame["flag"] = rng.integers(0, 2, n).astype(bool)
    frame["colour"] = colour
    frame["category"] = pd.Categorical(colour)
    return frame, np.where((frame["v3"] > 0) ^ (colour == "red"), "yes", "no")


RELEVANT_IN_MIXED = ["v3", "colour", "category"]


class TestSameAsSelect:
    def test_every_argument_of_select_is_passed_on(self):
        settings = {
            "dimensions": 3, "divisions": 2, "discretizations": 2, "range_": 0.3, "pseudocount": 0.5, "n_contrast": 35,
            "p_adjust": "BH", "level": 0.1, "decision": "classes", "decision_divisions": 2, "multiclass": "ovr",
            "discrete": "none", "missing": "impute", "random_state": 3, "n_jobs": 2, "progress": False,
        }  # fmt: skip
        selector = MDFSSelector(**settings, null_fit="tail", engine="cpu").fit(X[:, [1, 4, 5, 17]], y)
        result = interplay.select(X[:, [1, 4, 5, 17]], y, **settings, fit="tail", engine="cpu")
        assert selector.result_.settings == result.settings
        assert selector.result_.table.equals(result.table)

    def test_it_has_the_arguments_of_select_and_their_defaults(self):
        import inspect

        ours = {name: p.default for name, p in inspect.signature(MDFSSelector).parameters.items()}
        theirs = {name: p.default for name, p in inspect.signature(interplay.select).parameters.items()}
        assert ours.pop("min_features") == 0
        assert ours.pop("max_features") is None
        assert ours.pop("redundancy") is None  # none is left out, and groups are those of select
        assert ours.pop("short_list") is False
        assert ours.pop("n_features_to_select") is None
        theirs["null_fit"] = theirs.pop("fit")
        # What belongs to one run and not to a model that is fitted many times.
        beside = (
            "strata",
            "groups",
            "order",
            "covariates",
            "offset",
            "entry",
            "stability",
            "checkpoint",
            "redundancy",
            "reference",  # of how effects are shown
            "holdout",
        )
        for name in ("X", "y", *beside, "redundancy", "holdout"):
            theirs.pop(name, None)
        assert ours == theirs

    def test_attributes(self):
        selector = MDFSSelector(dimensions=2, random_state=0).fit(X, y)
        assert np.flatnonzero(selector.get_support()).tolist() == [4, 17]
        assert selector.get_support(indices=True).tolist() == [4, 17]
        assert selector.get_feature_names_out().tolist() == ["x4", "x17"]
        assert np.array_equal(selector.gains_, selector.result_.gains.gain)
        assert np.array_equal(selector.p_values_, selector.result_.p_value)
        assert selector.n_features_in_ == 20
        assert not hasattr(selector, "feature_names_in_")
        assert np.array_equal(selector.transform(X), X[:, [4, 17]])

    def test_gains_of_several_runs(self):
        classes = np.where(np.arange(len(y)) % 3 == 0, "third", np.where(y, "yes", "no"))
        selector = MDFSSelector(dimensions=2, multiclass="ovo", random_state=0).fit(X, classes)
        assert np.flatnonzero(selector.support_).tolist() == [4, 17]
        assert np.array_equal(selector.gains_, selector.result_.table["gain"])

    def test_continuous_decision(self):
        selector = MDFSSelector(dimensions=2, random_state=0).fit(
            X, y + np.random.default_rng(0).normal(scale=0.3, size=len(y))
        )
        assert selector.result_.settings["decision"] == "number"
        assert np.flatnonzero(selector.support_).tolist() == [4, 17]


class TestMaxFeatures:
    @pytest.mark.parametrize("max_features", [1, 2, 3])
    def test_keeps_the_most_significant_of_the_relevant(self, max_features):
        frame, y = mixed_data()
        selector = MDFSSelector(dimensions=2, max_features=max_features, random_state=0).fit(frame, y)
        assert set(selector.get_feature_names_out()) == set(selector.result_.relevant[:max_features])

    def test_never_adds_what_is_not_relevant(self):
        assert MDFSSelector(dimensions=2, max_features=15, random_state=0).fit(X, y).support_.sum() == 2


class TestFrames:
    def test_columns_are_taken_as_what_they_are(self):
        frame, y = mixed_data()
        selector = MDFSSelector(dimensions=2, random_state=0).fit(frame, y)
        assert selector.result_.table.equals(interplay.select(frame, y, dimensions=2, random_state=0).table)
        assert selector.get_feature_names_out().tolist() == RELEVANT_IN_MIXED
        assert selector.feature_names_in_.tolist() == frame.columns.tolist()
        assert np.array_equal(selector.transform(frame), frame[RELEVANT_IN_MIXED].to_numpy(dtype=object))

    def test_pandas_to_pandas(self):
        frame, y = mixed_data()
        found = MDFSSelector(dimensions=2, random_state=0).set_output(transform="pandas").fit_transform(frame, y)
        pd.testing.assert_frame_equal(found, frame[RELEVANT_IN_MIXED])

    def test_polars_to_polars(self):
        from polars.testing import assert_frame_equal

        frame, y = mixed_data()
        polars = pl.from_pandas(frame)
        selector = MDFSSelector(dimensions=2, random_state=0).set_output(transform="polars")
        assert_frame_equal(selector.fit_transform(polars, pl.Series(y)), polars.select(RELEVANT_IN_MIXED))
        with config_context(transform_output="polars"):
            found = MDFSSelector(dimensions=2, random_state=0).fit_transform(polars, y)
        assert_frame_equal(found, polars.select(RELEVANT_IN_MIXED))
        with pytest.raises(ValueError, match="must be in the same order"):
            selector.transform(polars.select(polars.columns[::-1]))

    def test_pandas_to_polars(self):
        frame, y = mixed_data()
        found = MDFSSelector(dimensions=2, random_state=0).set_output(transform="polars").fit_transform(frame, y)
        assert found.columns == RELEVANT_IN_MIXED
        assert found["v3"].to_list() == frame["v3"].tolist()

    def test_pyarrow(self):
        pyarrow = pytest.importorskip("pyarrow")
        frame, y = mixed_data()
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        selector = MDFSSelector(dimensions=2, random_state=0).fit(table, y)
        assert selector.get_feature_names_out().tolist() == RELEVANT_IN_MIXED
        assert selector.transform(table).tolist() == frame[RELEVANT_IN_MIXED].to_numpy(dtype=object).tolist()

    def test_discrete_may_name_columns(self):
        frame, y = mixed_data()
        frame["v3"] = np.round(frame["v3"] > 0)
        frame["v4"] = np.round(frame["v4"])
        selector = MDFSSelector(dimensions=2, discrete=["v3"], random_state=0).fit(frame, y)
        assert selector.result_.settings["discrete"] == ["v3"]
        assert selector.get_feature_names_out().tolist() == RELEVANT_IN_MIXED

    def test_lists_and_objects_keep_their_types(self):
        frame, y = mixed_data()
        rows = [list(row) for row in frame.itertuples(index=False)]
        for table in (rows, frame.to_numpy(dtype=object)):
            selector = MDFSSelector(dimensions=2, random_state=0).fit(table, y.tolist())
            assert np.flatnonzero(selector.support_).tolist() == [3, 9, 10]
            first = selector.transform(table)[0].tolist()
            assert first == frame[RELEVANT_IN_MIXED].iloc[0].tolist()
            assert isinstance(first[0], float)

    def test_names_of_columns_may_be_numbers(self):
        selector = MDFSSelector(dimensions=2, random_state=0).fit(pd.DataFrame(X), y)
        assert selector.get_feature_names_out().tolist() == ["x4", "x17"]
        assert not hasattr(selector, "feature_names_in_")


@pytest.mark.parametrize("container", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_in_sparse_out(container):
    X, y = xor_data()
    X = np.where(np.abs(X) < 0.2, 0, X)
    selector = MDFSSelector(dimensions=2, random_state=0)
    found = selector.fit_transform(getattr(scipy.sparse, container)(X), y)
    assert scipy.sparse.issparse(found)
    assert np.array_equal(found.toarray(), X[:, [4, 17]])
    assert np.array_equal(selector.gains_, interplay.select(X, y, dimensions=2, random_state=0).gains.gain)


class TestMissingAndInfinite:
    @pytest.mark.parametrize("as_frame", [False, True])
    @pytest.mark.parametrize(
        ("value", "message"), [(np.nan, r"NaN.*missing='level'|missing value .*missing='level'"), (np.inf, "infinity")]
    )
    def test_refused(self, as_frame, value, message):
        X, y = xor_data()
        X[3, 2] = value
        table = pd.DataFrame(X) if as_frame else X
        with pytest.raises(ValueError, match=message) as caught:
            MDFSSelector(dimensions=2, missing="error").fit(table, y)
        assert "\n" not in str(caught.value)
        if value == np.inf:
            with pytest.raises(ValueError, match=message):
                MDFSSelector(dimensions=2).fit(table, y)
        kept = MDFSSelector(dimensions=2, missing="level", random_state=0).fit(table, y)
        assert np.flatnonzero(kept.support_).tolist() == [4, 17]

    def test_in_the_tags(self):
        tags = [
            MDFSSelector(dimensions=2, missing=missing).__sklearn_tags__() for missing in ("error", "level", "impute")
        ]
        assert [tag.input_tags.allow_nan for tag in tags] == [False, True, True]
        assert all(tag.target_tags.required and tag.input_tags.sparse and tag.input_tags.string for tag in tags)

    @pytest.mark.parametrize("output", ["default", "pandas", "polars"])
    def test_transform_keeps_gaps(self, output):
        frame, y = mixed_data()
        frame.loc[1003, ["v3", "colour", "category"]] = None
        selector = MDFSSelector(dimensions=2, missing="level", random_state=0).set_output(transform=output)
        found = pd.DataFrame(np.asarray(selector.fit_transform(frame, y)))
        assert found.shape == (400, 3)
        assert found.isna().to_numpy().sum() == 3
        assert found.iloc[3].isna().all()


@pytest.mark.parametrize("make_frame", [None, pd.DataFrame, pl.DataFrame])
def test_nothing_relevant_warns_and_selects_nothing(make_frame):
    X, _ = xor_data()
    y = np.arange(len(X)) % 2
    if make_frame is not None:
        X = make_frame({f"v{v}": X[:, v] for v in range(X.shape[1])})
    output = {None: "default", pd.DataFrame: "pandas", pl.DataFrame: "polars"}[make_frame]
    selector = MDFSSelector(dimensions=2, level=1e-6, random_state=0).set_output(transform=output).fit(X, y)
    assert not selector.get_support().any()
    assert selector.get_feature_names_out().tolist() == []
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X).shape[1] == 0


class TestAmongOtherEstimators:
    def test_grid_search_over_dimensions(self):
        X, y = xor_data()
        # A third of the samples follow one variable: that much is there to find in one dimension.
        y = np.where(np.arange(len(y)) % 3 == 0, X[:, 2] > 0, y)
        model = make_pipeline(
            StandardScaler(),
            MDFSSelector(dimensions=2, n_contrast=60, random_state=0),
            KNeighborsClassifier(n_neighbors=11),
        )
        grid = {"mdfsselector__dimensions": [1, 2], "mdfsselector__p_adjust": ["holm", "bonferroni"]}
        search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y)
        assert search.best_params_["mdfsselector__dimensions"] == 2
        assert set(search.best_estimator_["mdfsselector"].result_.relevant) == {"x2", "x4", "x17"}
        alone = clone(model).set_params(mdfsselector__dimensions=1).fit(X, y)
        assert alone["mdfsselector"].result_.relevant == ["x2"]

    def test_cross_validation_in_threads(self):
        model = make_pipeline(
            MDFSSelector(dimensions=2, n_contrast=60, random_state=0), DecisionTreeClassifier(random_state=0)
        )
        scores = cross_val_score(model, X, y, cv=3)
        with parallel_config(backend="threading", n_jobs=2):
            assert np.array_equal(cross_val_score(model, X, y, cv=3), scores)

    def test_names_through_a_pipeline(self):
        frame, y = mixed_data()
        numbers = [f"v{v}" for v in range(8)]
        columns = make_column_transformer(
            (StandardScaler(), numbers), remainder="passthrough", verbose_feature_names_out=False
        )
        model = make_pipeline(columns, MDFSSelector(dimensions=2, random_state=0)).set_output(transform="pandas")
        assert model.fit_transform(frame, y).columns.tolist() == RELEVANT_IN_MIXED
        assert model.get_feature_names_out().tolist() == RELEVANT_IN_MIXED

    def test_clone_pickle_and_repr(self):
        selector = MDFSSelector(dimensions=2, random_state=0).fit(X, y)
        again = pickle.loads(pickle.dumps(selector))
        assert np.array_equal(again.transform(X), selector.transform(X))
        assert again.result_.table.equals(selector.result_.table)
        assert clone(selector).get_params() == selector.get_params()
        assert not hasattr(clone(selector), "result_")
        assert repr(MDFSSelector(dimensions=3)) == "MDFSSelector(dimensions=3)"

    def test_html_shows_parameters_and_once_fitted_what_was_found(self):
        selector = MDFSSelector(dimensions=2, random_state=0)
        before = selector._repr_html_()
        assert "random_state" in before
        assert "variables relevant" not in before
        selector.fit(X, y)
        for shown in (selector._repr_html_(), selector._repr_mimebundle_()["text/html"]):
            assert "2 of 20 variables relevant" in shown
            assert "x17" in shown
        assert "MDFSSelector" in make_pipeline(selector, DecisionTreeClassifier())._repr_html_()
        with config_context(display="text"):
            assert selector._repr_mimebundle_() == {"text/plain": repr(selector)}

    def test_metadata_routing_asks_for_nothing(self):
        with config_context(enable_metadata_routing=True):
            tree = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=True)
            model = make_pipeline(MDFSSelector(dimensions=2, random_state=0), tree)
            assert model.fit(X, y, sample_weight=np.ones(len(y))).score(X, y) == 1.0

    def test_strata_reach_a_pipeline_in_cross_validation(self):
        strata = np.where(X[:, 0] > 0, "a", "b")
        seen = []

        class Spy(MDFSSelector):
            def fit(self, X, y=None, *, strata=None):
                seen.append(None if strata is None else len(strata))
                return super().fit(X, y, strata=strata)

        with config_context(enable_metadata_routing=True):
            selector = Spy(n_contrast=60, random_state=0).set_fit_request(strata=True)
            model = make_pipeline(selector, DecisionTreeClassifier(random_state=0))
            search = GridSearchCV(model, {"spy__dimensions": [2]}, cv=4, error_score="raise")
            search.fit(X, y, strata=strata)
            with pytest.raises(UnsetMetadataPassedError, match="strata"):
                make_pipeline(MDFSSelector(dimensions=2), DecisionTreeClassifier()).fit(X, y, strata=strata)
        assert seen == [300, 300, 300, 300, 400]
        alone = interplay.select(X, y, dimensions=2, strata=strata, n_contrast=60, random_state=0)
        assert search.best_estimator_["spy"].result_.table.equals(alone.table)

    def test_strata_without_routing(self):
        strata = np.arange(len(y)) % 3
        model = make_pipeline(MDFSSelector(dimensions=2, random_state=0), DecisionTreeClassifier())
        model.fit(X, y, mdfsselector__strata=strata)
        expected = interplay.select(X, y, dimensions=2, strata=strata, random_state=0)
        assert model["mdfsselector"].result_.table.equals(expected.table)
        assert len(model["mdfsselector"].result_.provenance["strata"]) == 3

    def test_inverse_transform(self):
        selector = MDFSSelector(dimensions=2, random_state=0).fit(X, y)
        expected = np.zeros_like(X)
        expected[:, [4, 17]] = X[:, [4, 17]]
        assert np.array_equal(selector.inverse_transform(selector.transform(X)), expected)


@pytest.mark.skipif(not hasattr(MDFSSelector, "set_callbacks"), reason="scikit-learn before 1.9 has no callbacks")
class TestCallbacks:
    class Recorder:
        """Counts what it is told; knows the protocol only."""

        def __init__(self):
            self.told: list[tuple[str, str]] = []

        def setup(self, estimator, context):
            self.told.append(("setup", context.task_name))

        def on_fit_task_begin(self, estimator, context):
            self.told.append(("begin", context.task_name))

        def on_fit_task_end(self, estimator, context):
            self.told.append(("end", context.task_name))

        def teardown(self, estimator, context):
            self.told.append(("teardown", context.task_name))

    @pytest.mark.parametrize("multiclass", ["joint", "ovo"])
    def test_every_task_begins_and_ends(self, multiclass):
        recorder = self.Recorder()
        classes = np.arange(len(y)) % 3
        MDFSSelector(dimensions=2, n_contrast=30, multiclass=multiclass).set_callbacks(recorder).fit(X, classes)
        assert recorder.told[:2] == [("setup", "fit"), ("begin", "fit")]
        assert recorder.told[-2:] == [("end", "fit"), ("teardown", "fit")]
        assert recorder.told[2:-2] == [("begin", "search"), ("end", "search")] * 100

    def test_the_search_tells_how_far_it_is(self):
        shares: list[float] = []
        interplay.select(
            X, np.arange(len(y)) % 3, dimensions=2, multiclass="ovo", n_contrast=30, progress=shares.append
        )
        assert shares == sorted(shares)
        assert shares[-1] == 1.0
        assert {0.3, 0.6} <= set(np.round(shares, 9).tolist())  # two of three searches, which are 0.9 of the call

    def test_taken_down_after_an_error(self):
        recorder = self.Recorder()
        with pytest.raises(ValueError, match="n_contrast must be 0 or at least"):
            MDFSSelector(dimensions=2, n_contrast=2).set_callbacks(recorder).fit(X, y)
        assert recorder.told[-1] == ("teardown", "fit")

    def test_progress_bar(self, capsys):
        from sklearn.callback import ProgressBar

        X, y = xor_data()
        selector = MDFSSelector(dimensions=2, n_contrast=30, random_state=0)
        found = selector.set_callbacks(ProgressBar()).fit(X, y).result_.table
        assert found.equals(MDFSSelector(dimensions=2, n_contrast=30, random_state=0).fit(X, y).result_.table)
        assert "MDFSSelector" in capsys.readouterr().out


class TestLazyFrames:
    @pytest.mark.parametrize("output", ["default", "pandas", "polars"])
    def test_as_eager_ones(self, output):
        frame, y = mixed_data()
        eager = pl.from_pandas(frame)
        selector = MDFSSelector(dimensions=2, random_state=0).set_output(transform=output)
        found = selector.fit_transform(eager.lazy(), y)
        expected = MDFSSelector(dimensions=2, random_state=0).set_output(transform=output).fit(eager, y)
        assert selector.feature_names_in_.tolist() == eager.columns
        assert selector.result_.table.equals(expected.result_.table)
        assert np.asarray(found).tolist() == np.asarray(expected.transform(eager)).tolist()
        with pytest.raises(ValueError, match="feature names should match"):
            selector.transform(eager.lazy().rename({"v1": "other"}))


class TestBadInput:
    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
    def test_decision_among_the_features(self, make):
        frame = make({f"v{v}": X[:, v] for v in range(5)} | {"ill": y})
        with pytest.raises(ValueError, match=r"^column 'ill' of X is y itself: leave it out of X"):
            MDFSSelector(dimensions=2).fit(frame, frame["ill"])

    def test_names_that_differ_at_transform(self):
        frame, y = mixed_data()
        selector = MDFSSelector(dimensions=2, random_state=0).fit(frame, y)
        with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
            selector.transform(frame.rename(columns={"v0": "w0"}))
        with pytest.raises(ValueError, match="feature names should match"):
            selector.transform(frame.drop(columns="v0"))

    def test_sample_weight_is_refused_with_a_reason(self):
        weights = np.ones(len(y))
        with pytest.raises(TypeError, match="sample_weight is not supported"):
            make_pipeline(MDFSSelector(dimensions=2), DecisionTreeClassifier()).fit(
                X, y, mdfsselector__sample_weight=weights
            )
        assert MDFSSelector(dimensions=2, random_state=0).fit(X, y, sample_weight=None).support_.sum() == 2

    @pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
    def test_fewer_variables_than_dimensions(self, container):
        with pytest.raises(ValueError, match=r"^dimensions=2 needs at least 2 variables, and X has n_features=1"):
            MDFSSelector(dimensions=2).fit(container(X[:, :1]), y)
        assert MDFSSelector(dimensions=1).fit(container(X[:, :1]), y).n_features_in_ == 1

    def test_y_is_required(self):
        X, _ = xor_data()
        with pytest.raises(ValueError, match="requires y to be passed"):
            MDFSSelector(dimensions=2).fit_transform(pd.DataFrame(X))

    def test_not_fitted(self):
        X, _ = xor_data()
        for call in (lambda s: s.transform(X), lambda s: s.get_support(), lambda s: s.get_feature_names_out()):
            with pytest.raises(NotFittedError):
                call(MDFSSelector(dimensions=2))

    @pytest.mark.parametrize(
        "settings",
        [
            {"dimensions": 0}, {"dimensions": 2.5}, {"divisions": 256}, {"range_": 1.5}, {"level": 1.0},
            {"p_adjust": "foo"}, {"null_fit": "best"}, {"multiclass": "all"}, {"missing": "drop"}, {"engine": 3},
            {"n_contrast": "many"}, {"random_state": "seven"}, {"discrete": "some"}, {"progress": "yes"},
        ],
    )  # fmt: skip
    def test_bad_settings_name_the_parameter(self, settings):
        X, y = xor_data(n_samples=60)
        (name,) = settings
        with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of MDFSSelector must be"):
            MDFSSelector(**settings).fit(X, y)

    @pytest.mark.parametrize("settings", [{"n_contrast": 3}, {"engine": "abacus"}, {"n_jobs": 0}])
    def test_what_only_select_can_tell(self, settings):
        X, y = xor_data(n_samples=60)
        (name,) = settings
        with pytest.raises(ValueError, match=f"^{name} must"):
            MDFSSelector(**settings).fit(X, y)


class TestClassesOfOneSample:
    @pytest.mark.parametrize("container", [list, np.array, pd.Series, pl.Series, pd.Categorical])
    @pytest.mark.parametrize("labels", [["no", "yes", "once"], [0, 1, 7]])
    def test_are_left_out_with_a_warning(self, container, labels):
        decision = [labels[int(value)] for value in y]
        decision[5] = labels[2]
        with pytest.warns(UserWarning, match="y has 1 of 3 classes with fewer than 2 samples"):
            selector = MDFSSelector(dimensions=2, random_state=0).fit(X, container(decision))
        rest = np.arange(len(y)) != 5
        alone = interplay.select(X[rest], [decision[i] for i in np.flatnonzero(rest)], dimensions=2, random_state=0)
        assert selector.result_.table.equals(alone.table)
        assert selector.result_.runs[0].class_labels == [str(label) for label in labels[:2]]

    def test_unless_too_few_classes_remain(self):
        X, _ = xor_data()
        with pytest.raises(ValueError, match="class with fewer than 2 samples, '1':"):
            MDFSSelector(dimensions=2).fit(X[:3], [0, 0, 1])

    def test_numbers_of_a_measurement_are_no_classes(self):
        X, _ = xor_data()
        assert MDFSSelector(dimensions=2).fit(X, np.arange(len(X))).result_.provenance["n_samples"] == len(X)
        whole = np.random.default_rng(0).permutation(12)
        assert (
            MDFSSelector(dimensions=2, decision="continuous").fit(X[:12], whole).result_.provenance["n_samples"] == 12
        )

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            ([0.0, 1.0, np.nan] + [0.0, 1.0] * 10, "missing value"),
            ([0, 1] * 5, "one value per sample"),
            (np.zeros((23, 2)), "one column"),
        ],
    )
    def test_other_faults_of_y_are_for_select_to_tell(self, y, message):
        X, _ = xor_data(n_samples=23)
        with pytest.raises(ValueError, match=message):
            MDFSSelector(dimensions=2).fit(X, y)


def test_importing_interplay_does_not_import_scikit_learn():
    import subprocess
    import sys

    code = "import sys, interplay; sys.exit(any(name.partition('.')[0] == 'sklearn' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestNumbers:
    """A selector in a pipeline of regression."""

    def data(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(300, 15))
        return X, np.sign(X[:, 4] * X[:, 9]) + 0.7 * X[:, 2] + 0.5 * rng.normal(size=300)

    def test_pipeline(self):
        X, y = self.data()
        model = make_pipeline(MDFSSelector(dimensions=(1, 2), random_state=0), KNeighborsRegressor())
        assert cross_val_score(model, X, y, cv=3).min() > cross_val_score(KNeighborsRegressor(), X, y, cv=3).max()
        selector = model.fit(X, y)[0]
        assert set(selector.get_feature_names_out()) == {"x2", "x4", "x9"}
        assert selector.result_.settings["decision"] == "number"

    def test_cut_as_before(self):
        X, y = self.data()
        cut = MDFSSelector(dimensions=2, decision_divisions=1, random_state=0).fit(X, y)
        assert cut.result_.settings["decision"] == "continuous"
        values = MDFSSelector(dimensions=2, scale="values", random_state=0).fit(X, y)
        assert values.result_.settings["scale"] == "values"
        with pytest.raises(InvalidParameterError, match="scale"):
            MDFSSelector(scale="log").fit(X, y)

    def test_counts_keep_their_rare_values(self):
        X, _ = self.data()
        counts = np.minimum(np.random.default_rng(4).poisson(np.exp(0.5 * X[:, 2])), 6)
        counts[0] = 9
        selector = MDFSSelector(dimensions=1, random_state=0).fit(X, counts)
        assert selector.result_.provenance["n_samples"] == 300
        assert selector.get_feature_names_out().tolist() == ["x2"]


def test_the_pipeline_of_the_quickstart_takes_text_and_gaps():
    page = (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text(encoding="utf-8")
    (code,) = [block.partition("```")[0] for block in page.split("```python\n") if "make_column_transformer" in block]
    frame, y = mixed_data()
    frame.loc[frame.index[::17], "v3"] = None
    frame.loc[frame.index[::13], "colour"] = None
    names = {"interplay": interplay}
    exec(code, names)
    model = names["model"].fit(frame[:300], y[:300])
    assert set(model[0].get_feature_names_out()) <= set(frame.columns)
    assert model.predict(frame[300:]).shape == (len(frame) - 300,)
