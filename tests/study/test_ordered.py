"""Ordered classes: the proportional-odds model against statsmodels, and every way in which results use them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from statsmodels.miscmodels.ordinal_model import OrderedModel

import interplay
from interplay.data.study.columns import decision_column
from interplay.data.study.outcomes.ordered import fit_ordered, ordered_classes
from interplay.data.study.study import make_study

GRADES = ["low", "mid", "high", "top"]


def table(n=400, n_vars=8, seed=0):
    """Return x0 with an effect alone, x1 and x2 with one together, and grades."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_vars))
    signal = X[:, 0] + 1.2 * np.sign(X[:, 1] * X[:, 2])
    codes = np.digitize(signal + rng.logistic(size=n), [-1.5, 0, 1.5])
    return X, codes, pd.Series(pd.Categorical(np.array(GRADES)[codes], GRADES, ordered=True), name="grade")


def model_of(codes, columns, offset=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return OrderedModel(codes, columns, offset=offset, distr="logit").fit(method="newton", disp=False, tol=1e-12)


@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_model_is_that_of_statsmodels(n_classes, with_offset):
    rng = np.random.default_rng(n_classes)
    columns = rng.normal(size=(200, 3)) * [1, 5, 0.2]
    codes = np.digitize(columns[:, 0] + rng.logistic(size=200), np.linspace(-1.5, 2, n_classes - 1))
    offset = 0.5 * rng.normal(size=200) if with_offset else None
    found = fit_ordered(codes, np.column_stack([np.ones(200), columns, columns[:, 0] * 2 + 1]), offset)
    expected = model_of(codes, columns, offset)
    assert found.coefficients == pytest.approx([0, *expected.params[:3], 0], rel=1e-5)
    assert found.covariance[1:4, 1:4] == pytest.approx(expected.cov_params()[:3, :3], rel=1e-3)
    assert found.log_likelihood == pytest.approx(expected.llf, rel=1e-9)
    chances = expected.predict(columns, offset=offset)
    assert found.at_most == pytest.approx(np.cumsum(np.asarray(chances), axis=1)[:, :-1], abs=1e-6)


def test_residuals_are_slopes_of_the_likelihood():
    X, codes, grades = table()
    study = make_study(X, grades, covariates=X[:, 3])
    residuals = study.model.residuals().values
    known, more = study.model.columns(), X[:, :1]
    step = 1e-4
    sides = [fit_ordered(codes, known, offset=sign * step * more[:, 0]).log_likelihood for sign in (1, -1)]
    # Covariates and thresholds are at their maximum, so that moving them changes nothing in the first order.
    assert residuals @ more[:, 0] == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=1e-4)
    assert residuals.sum() == pytest.approx(0, abs=1e-6)
    assert np.abs(known.T @ residuals).max() < 1e-5


def test_an_interaction_is_the_likelihood_ratio_of_two_models():
    X, codes, grades = table()
    found = interplay.interactions(X, grades)
    row = found.table.iloc[0]
    assert row["members"] == ("x1", "x2")
    u, v = (found.cuts_of(each).codes(decision_column(X[:, each]), 0).astype(float) for each in (1, 2))
    smaller, larger = model_of(codes, np.column_stack([u, v])), model_of(codes, np.column_stack([u, v, u * v]))
    assert row["chi2"] == pytest.approx(2 * (larger.llf - smaller.llf), rel=1e-6)
    assert row["log_or"] == pytest.approx(larger.params[2], rel=1e-5)
    assert "ordered classes: low < mid < high < top" in found.summary()


@pytest.fixture(scope="module")
def found():
    X, _, grades = table()
    return interplay.select(X, grades, random_state=1)


class TestResults:
    def test_what_is_found(self, found):
        assert set(found.relevant) == {"x0", "x1", "x2"}
        assert found.table.set_index("variable").loc["x0", "direction"] == "rises with grade"
        assert found.in_model.kind == "ordered"

    def test_numbers_with_an_order_are_the_same(self, found):
        X, codes, _ = table()
        again = interplay.select(X, codes * 2 + 1, decision="ordered", random_state=1)
        assert np.array_equal(again.p_value, found.p_value)
        assert again.provenance["outcome"]["order"] == ["1", "3", "5", "7"]

    def test_saved_is_loaded_and_reported(self, found, tmp_path):
        found.save(tmp_path / "result")
        assert interplay.load(tmp_path / "result").summary() == found.summary()
        found.to_html(tmp_path / "report.html")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "score residuals of a proportional-odds model" in page

    def test_shards_are_one_call(self, found, tmp_path):
        X, _, grades = table()
        for k in (1, 2):
            interplay.search_shard(X, grades, shard=(k, 2), random_state=1).save(tmp_path / f"part{k}")
        merged = interplay.merge_parts(sorted(tmp_path.glob("part*")), X=X)
        assert np.array_equal(merged.p_value, found.p_value)
        assert merged.relevant == found.relevant

    def test_replication(self, found):
        X, codes, grades = table(seed=5)
        again = found.replicate(X, grades)
        assert (again.p_adjusted < 0.05).all()
        # The order is that of the first samples: labels may come without one.
        assert np.array_equal(found.replicate(X, np.array(GRADES)[codes]).log_p, again.log_p)
        with pytest.raises(ValueError, match="y has a class 'best', which the first samples do not have"):
            found.replicate(X, np.where(codes == 3, "best", np.array(GRADES)[codes]))

    def test_interactions_of_new_samples(self):
        X, _, grades = table()
        found, (new, _, new_grades) = interplay.interactions(X, grades), table(seed=5)
        again = found.replicate(new, new_grades)
        assert again.table["p_adjusted"][0] < 0.05
        assert again.table["first_log_or"][0] == found.table["log_or"][0]


def test_two_classes_are_classes():
    X, codes, _ = table(200, 4)
    y = pd.Categorical(np.where(codes > 1, "high", "low"), ["low", "high"], ordered=True)
    assert interplay.select(X, y, dimensions=1, random_state=0).class_sizes.keys() == {"low", "high"}
    assert ordered_classes(y, n_samples=200, decision="ordered") is None


def test_labels_without_an_order_and_many_values_are_refused():
    X, codes, _ = table(200, 4)
    with pytest.raises(ValueError, match="ordered' needs numbers or ordered categories in y, not labels"):
        interplay.select(X, np.array(GRADES)[codes], decision="ordered")
    with pytest.raises(ValueError, match="is for few classes, and y has 200 values: use decision='number'"):
        interplay.select(X, X[:, 0], decision="ordered")


def test_classes_have_names_of_their_own():
    X, codes, _ = table(200, 4)
    close = 1 + 1e-9 * codes
    found = interplay.select(X, close, dimensions=1, decision="ordered", random_state=0)
    assert found.settings["decision"] == "ordered"
    assert found.replicate(X, close).table.replicated.tolist() == [True] * len(found.relevant)
    assert ordered_classes([0.1 + 0.2, 1, 2], n_samples=3, decision="ordered", order=("0.3", "1", "2")) is not None
    with pytest.raises(ValueError, match=r"y has several classes '0\.3', which have to be one: round the numbers"):
        ordered_classes([0.1 + 0.2, 0.3, 2], n_samples=3, decision="ordered")
    y = pd.Categorical.from_codes(codes, [1, "1", 2, 3], ordered=True)
    with pytest.raises(ValueError, match="y has several classes '1'"):
        interplay.select(X, y)


def test_many_classes_are_one_line_and_parts_need_the_table():
    X, codes, _ = table(200, 4)
    many = np.argsort(np.argsort(X[:, 0])) // 4
    found = interplay.select(X, many, dimensions=1, decision="ordered", random_state=0)
    assert "ordered classes: 0 < 1 < 2 < 3 < 4 < … < 49;" in found.summary()
    options = {"dimensions": 1, "decision": "ordered", "random_state": 0}
    parts = [interplay.search_shard(X, codes, shard=(i, 2), **options) for i in (1, 2)]
    with pytest.raises(ValueError, match=r"X is needed to merge parts of .* of ordered classes"):
        interplay.merge_parts(parts)
    merged, whole = interplay.merge_parts(parts, X=X), interplay.select(X, codes, **options)
    assert np.array_equal(merged.log_p, whole.log_p)


def test_new_samples_of_one_class_are_refused():
    X, codes, grades = table()
    found = interplay.select(X, grades, dimensions=1, random_state=0)
    with pytest.raises(ValueError, match="y has one class only: every sample is 'low'"):
        found.replicate(X[codes == 0], grades[codes == 0])


def test_variables_and_offsets_that_decide_the_class():
    """No warning: classes far apart, and samples whose class is certain."""
    X, codes, grades = table(120, 5)
    assert interplay.select(X, pd.cut(X[:, 0], 4, labels=False), decision="ordered", random_state=0).relevant
    for size in (100, 1e4):
        offset = size * np.random.default_rng(1).normal(size=120)
        for y in (grades, codes > 1):
            interplay.select(X, y, offset=offset, random_state=0)


def test_p_values_of_noise_are_uniform():
    below = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, codes = rng.normal(size=(120, 12)), rng.choice(5, 120, p=[0.5, 0.2, 0.15, 0.1, 0.05])
        found = interplay.interactions(X, codes, decision="ordered", max_p=1, p_adjust="none")
        below.append(found.table["p_value"] < 0.05)
    share = float(np.mean(below))  # 660 pairs, some of which share a column
    assert 0.02 < share < 0.08
