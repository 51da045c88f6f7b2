"""What interactions() found, tested again in new samples."""

import numpy as np
import pandas as pd
import pytest

import interplay
from interaction_people import KINDS, people, result
from interplay.data.codes.cuts import NO_LEVEL, variable_cuts


@pytest.fixture(params=KINDS)
def found(request):
    return result(request.param)


def test_the_same_samples_give_the_same_tests(found):
    if found.first is not None:
        X, y = people(0)
        with pytest.raises(ValueError, match="is a replication already"):
            found.replicate(X, y)
        return
    X, y = people(0)
    strata = None
    if found.settings["missing"] == "omit":
        X.loc[:30, "g3"] = np.nan
    if len(found.outcome.bounds):
        y = 2 * ((X["g3"] > 0) ^ X["smokes"]) + np.random.default_rng(1).normal(size=len(X))
    if found.provenance["strata"]:
        strata = "city"
    again = found.replicate(X, y, strata=strata)
    assert again.n_tests == len(found)
    for name in ("statistic", "df", "min_expected", "estimate", "residual", "gain", "gain_alone", "n_samples"):
        first, second = getattr(again.first, name), getattr(again.tested, name)
        assert np.allclose(first, second, equal_nan=True), name
    for one, other in zip(found.counts, sorted(again.counts, key=lambda c: rank(found, c)), strict=True):
        assert (one.counts == other.counts).all()
        assert one.level_names == other.level_names
    assert again.table["same_direction"].isin([True, None]).all()


@pytest.mark.parametrize("coding", ["levels", "product"])
@pytest.mark.parametrize("kind", ["classes", "numbers", "times"])
def test_the_same_samples_with_gaps_give_the_same_tests(kind, coding):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    X["genotype"] = rng.integers(0, 3, 300).astype(float)
    score = 2 * X["a"] * X["b"] + X["c"] * X["genotype"] + rng.normal(size=300)
    times = np.exp(-score) * rng.exponential(size=300), rng.random(300) < 0.8
    y = {"classes": score > 0, "numbers": score, "times": times}[kind]
    X = X.mask(rng.random(X.shape) < 0.1)
    found = interplay.interactions(X, y, top=4, coding=coding)
    again = found.replicate(X, y)
    assert (again.tested.smooth_log_p < np.log(0.01)).any()
    for name in ("statistic", "df", "robust_log_p", "n_samples", "estimate", "ci_low", "gain", "min_expected"):
        first, second = getattr(again.first, name), getattr(again.tested, name)
        assert (first is None and second is None) or np.allclose(first, second, rtol=1e-4, equal_nan=True), name
    smooth = again.first.smooth_log_p, again.tested.smooth_log_p
    both = ~np.isnan(smooth).any(axis=0)
    assert both.any()
    assert np.allclose(*np.array(smooth)[:, both], rtol=1e-6)


def rank(found, counts):
    return found.tested.tuples.tolist().index(counts.members.tolist())


def test_new_samples_are_cut_where_the_first_were():
    X, y = people(1)
    first = interplay.interactions(X, y)
    new, new_y = people(2, n=900)
    again = first.replicate(new[["smokes", "g3", "city"]], new_y)
    threshold = first.cuts_of(X.columns.get_loc("g3")).thresholds[0, 0]
    assert threshold == pytest.approx(X["g3"].median(), abs=0.02)
    counts = again.counts_of(0)
    above = new["g3"] > threshold
    expected = [
        [[np.sum((above == a) & (new["smokes"] == s) & (new_y == c)) for c in ("ill", "well")] for s in (False, True)]
        for a in (False, True)
    ]
    assert counts.counts.tolist() == expected
    assert again.significant == [("g3", "smokes")]
    assert again.table["first_p_value"].tolist() == first.table["p_value"].tolist()


def test_values_that_were_not_there_are_left_out():
    X, y = people(1)
    first = interplay.interactions(X, y, variables=["city", "genotype"], max_p=1)
    new, new_y = people(5)
    new.loc[:49, "city"] = "Oslo"
    new["genotype"] = new["genotype"].astype(float)
    new.loc[100:119, "genotype"] = np.nan
    new.loc[120:129, "genotype"] = 7
    n_samples = first.replicate(new, new_y).table.set_index("members")["n_samples"]
    assert n_samples[[("city", "smokes")]].item() == 450
    assert n_samples[[("g3", "genotype")]].item() == 470
    assert n_samples[[("city", "genotype")]].item() == 420


def test_codes_of_new_columns():
    from interplay.data.codes.coder import make_coder
    from interplay.data.study.table import as_table

    X = pd.DataFrame({"a": [0.1, 0.5, 0.9, 0.4], "b": [1, 2, np.nan, 1], "c": ["x", "y", "x", "z"]})
    coder = make_coder(
        as_table(X), divisions=1, discretizations=1, range_=0.0, seed=0, missing="level", discrete=[1, 2]
    )
    new = as_table(pd.DataFrame({"a": [0.5, 0.51, np.nan], "b": [2.0, 3.0, np.nan], "c": ["z", "w", None]}))
    codes = [variable_cuts(coder, v).codes(new.column(v), 0).tolist() for v in range(3)]
    assert codes == [[0, 1, NO_LEVEL], [1, NO_LEVEL, 2], [2, NO_LEVEL, NO_LEVEL]]
    assert variable_cuts(coder, 1).codes(new.column(1), 0, omit_missing=True).tolist() == [1, NO_LEVEL, NO_LEVEL]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: np.full(len(y), "ill"), "y has one class only"),
        (lambda y: y[:-1], "y must have one value per sample"),
    ],
)
def test_new_samples_that_do_not_fit(change, words):
    first = interplay.interactions(*people(1))
    X, y = people(2)
    with pytest.raises(ValueError, match=words):
        first.replicate(X, change(y))


def test_classes_may_be_written_otherwise():
    X, y = people(1)
    first = interplay.interactions(X, (y == "ill").astype(int))
    new, new_y = people(2)
    again = first.replicate(new, (new_y == "ill").astype(float))
    assert again.significant == [("g3", "smokes")]
    with pytest.raises(ValueError, match="has the class 'False'"):
        first.replicate(new, new_y == "ill")


def test_a_continuous_outcome_is_cut_where_the_first_was():
    found = result("continuous")
    new, _ = people(9)
    outcome = 2 * ((new["g3"] > 0) ^ new["smokes"]) + np.random.default_rng(3).normal(size=len(new)) + 1
    again = found.replicate(new, outcome)
    bounds = found.outcome.bounds
    assert list(again.class_sizes.values()) == np.bincount(np.searchsorted(bounds, outcome)).tolist()


def test_a_holdout_is_a_search_and_a_replication():
    X, y = people(4)
    found = interplay.interactions(X, y, holdout=0.4, top=6, random_state=5)
    rng_free = found.provenance["found in"]["n_samples"]
    assert (rng_free, found.provenance["n_samples"]) == (300, 200)
    share = found.class_sizes["ill"] / np.sum(y == "ill")
    assert share == pytest.approx(0.4, abs=0.01)
    assert found.n_tests == len(found) == 6
    assert found.significant == [("g3", "smokes")]
    pd.testing.assert_frame_equal(found.table, interplay.interactions(X, y, holdout=200, top=6, random_state=5).table)
    other = interplay.interactions(X, y, holdout=0.4, top=6, random_state=6)
    assert not other.table["chi2"].equals(found.table["chi2"])


def test_a_selection_is_replicated():
    X, y = people(4)
    selection = interplay.select(X, y, dimensions=2, random_state=0)
    again = selection.replicate(*people(6))
    assert again.interactions.significant == [("g3", "smokes")]
    assert len(again.interactions) == 1
    assert {"g3", "smokes"} <= set(again.replicated)
    assert len(selection.interactions().replicate(*people(6))) == len(selection.interactions())
    nothing = interplay.select(X, np.random.default_rng(0).permutation(y), dimensions=2, random_state=0)
    assert len(nothing.replicate(*people(6))) == 0
