"""Principal components, relatives and ridge levels, compared with numpy, pedigrees and scikit-learn."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import interplay
from interplay.base.arrays import scaled_columns
from interplay.data.study.table import as_table
from interplay.genetics import polygenic_offsets, principal_components, relatives
from interplay.populations.components import pruned_variants
from interplay.populations.polygenic import _fitted, _folds, fold_predictions, penalties, slope_of


def genotypes(rng, n, p, low=0.2):
    return rng.binomial(2, rng.uniform(low, 0.5, p), (n, p)).astype(float)


def test_pruned_variants_are_not_correlated_and_none_is_left_out_without_reason():
    rng = np.random.default_rng(1)
    base = genotypes(rng, 500, 300)
    X = np.repeat(base, 2, axis=1)
    X[:, 1::2] = np.where(rng.random((500, 300)) < 0.05, 2 - X[:, 1::2], X[:, 1::2])
    X[:, 7] = 0.0
    X[rng.random(X.shape) < 0.02] = np.nan
    kept = pruned_variants(as_table(X), most=600, max_r2=0.2)
    r2 = np.square(scaled_columns(X.T) @ scaled_columns(X.T).T)
    assert np.max(np.tril(r2[np.ix_(kept, kept)], -1)) <= 0.2
    left_out = np.setdiff1d(np.arange(600), [*kept, 7])
    assert (r2[np.ix_(left_out, kept)].max(axis=1) > 0.2).all()


@pytest.mark.parametrize("missing", [0.0, 0.03])
def test_components_are_those_of_an_svd(missing):
    rng = np.random.default_rng(2)
    n, p = 400, 600
    population = np.arange(n) % 4
    shift = rng.normal(scale=0.15, size=(4, p))
    X = rng.binomial(2, np.clip(rng.uniform(0.3, 0.7, p) + shift[population], 0.05, 0.95)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    found = principal_components(X, 3, max_r2=1.0)
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    scaled = (filled - filled.mean(axis=0)) / filled.std(axis=0)
    left, values, _ = np.linalg.svd(scaled, full_matrices=False)
    assert np.allclose(np.abs(left[:, :3].T @ found.to_numpy()), np.eye(3), atol=1e-3)
    assert np.allclose(found.attrs["variance_shares"], values[:3] ** 2 / (n * p), rtol=1e-4)


def family(rng, frequency):
    """Return genotypes of two parents, two children, a half sib, an uncle and a stranger."""

    def founder():
        return rng.random((2, len(frequency))) < frequency

    def child(a, b):
        at = np.arange(len(frequency))
        return np.stack([one[rng.integers(0, 2, len(at)), at] for one in (a, b)])

    grandfather, grandmother, mother, other = founder(), founder(), founder(), founder()
    father, uncle = child(grandfather, grandmother), child(grandfather, grandmother)
    people = [father, mother, child(father, mother), child(father, mother), child(father, other), uncle, founder()]
    return [person.sum(axis=0).astype(float) for person in people]


@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_kinship_is_that_of_the_pedigree(missing):
    rng = np.random.default_rng(3)
    p = 6000
    # Two populations: pairs of one are not related because they are alike.
    frequency = rng.uniform(0.2, 0.8, p)
    other = np.clip(frequency + rng.normal(scale=0.1, size=p), 0.05, 0.95)
    people = family(rng, frequency) + [rng.binomial(2, other).astype(float) for _ in range(60)]
    X = np.array([*people, people[6]])
    X[rng.random(X.shape) < missing] = np.nan
    found = relatives(pd.DataFrame(X, index=[f"p{i}" for i in range(len(X))]), max_r2=1.0)
    kinship = {frozenset(pair[:2]): pair[2:] for pair in found.pairs.itertuples(index=False, name=None)}
    true = {
        ("p0", "p2"): 0.25, ("p0", "p3"): 0.25, ("p1", "p2"): 0.25, ("p1", "p3"): 0.25, ("p2", "p3"): 0.25,
        ("p0", "p4"): 0.25, ("p2", "p4"): 0.125, ("p3", "p4"): 0.125, ("p0", "p5"): 0.25, ("p2", "p5"): 0.125,
        ("p3", "p5"): 0.125, ("p4", "p5"): 0.125, ("p6", "p67"): 0.5,
    }  # fmt: skip
    assert set(kinship) == set(map(frozenset, true))
    for pair, value in true.items():
        assert kinship[frozenset(pair)][0] == pytest.approx(value, abs=0.04)
        relation = {0.5: "same person or twins", 0.25: "first degree", 0.125: "second degree"}[value]
        assert kinship[frozenset(pair)][1] == relation
    assert len(set(found.families[:6].tolist())) == 1
    assert found.families[6] == found.families[-1]
    assert len(set(found.families.tolist())) == len(X) - 6
    assert "13 pairs of 68 samples" in found.summary()
    assert "--loco auto" in str(found)


def test_kinship_of_many_blocks_of_samples(monkeypatch):
    rng = np.random.default_rng(4)
    X = genotypes(rng, 90, 400)
    X[80:] = X[:10]
    whole = relatives(X, max_r2=1.0).pairs
    monkeypatch.setattr("interplay.populations.kinship._ROWS", 16)
    monkeypatch.setattr("interplay.populations.kinship._COLUMNS", 32)
    assert relatives(X, max_r2=1.0).pairs.equals(whole)
    assert len(whole) >= 10


def test_few_variants_say_little_of_relatives():
    rng = np.random.default_rng(0)
    found = relatives(rng.binomial(2, 0.3, (400, 300)))
    assert 0.05 < found.error < 0.07
    assert abs(found.pairs["kinship"].gt(0.05).sum() / (400 * 399 / 2) - 0.19) < 0.1
    assert "are expected by chance, as a kinship of unrelated samples varies by 0.05" in found.summary()
    assert "--groups" not in found.summary()
    many = relatives(rng.binomial(2, 0.3, (300, 8000)), max_r2=1.0)
    assert abs(many.error - 0.010) < 0.002
    assert "No two of 300 samples" in many.summary()


def test_level_zero_is_ridge_regression_of_the_other_folds():
    rng = np.random.default_rng(6)
    columns = scaled_columns(genotypes(rng, 120, 30).T) * np.sqrt(120)
    target = rng.normal(size=120)
    target -= target.mean()
    folds = [slice(0, 40), slice(40, 80), slice(80, 120)]
    found = fold_predictions(columns, target, folds, penalties(30))
    for fold in folds:
        others = np.setdiff1d(np.arange(120), np.arange(120)[fold])
        for place, alpha in enumerate(penalties(30)):
            ridge = Ridge(alpha=alpha, fit_intercept=False, solver="cholesky")
            ridge.fit(columns[:, others].T, target[others])
            assert np.allclose(found[fold, place], ridge.predict(columns[:, fold].T), atol=1e-10)


def test_level_one_of_classes_is_a_logistic_ridge_regression():
    from interplay.data.study.study import make_study
    from interplay.populations.polygenic import _slopes

    rng = np.random.default_rng(7)
    predictors = rng.normal(size=(300, 8))
    y = rng.random(300) < 1 / (1 + np.exp(-predictors[:, 0] - 0.5))
    study = make_study(rng.normal(size=(300, 2)), y)
    found = _fitted(predictors, _slopes(study.outcome, study.design), 5.0)
    logistic = LogisticRegression(C=1 / 5.0, tol=1e-10, max_iter=1000).fit(predictors, y)
    assert np.allclose(found, logistic.coef_[0], atol=1e-4)


def test_level_one_of_times_is_a_ridge_cox_model():
    """The penalised score is 0: the sum of martingale residuals times a column is the penalty times its coefficient."""
    from interplay.data.study.study import make_study
    from interplay.populations.polygenic import _slopes

    rng = np.random.default_rng(8)
    predictors = rng.normal(size=(300, 5))
    time = rng.exponential(np.exp(-predictors[:, 0]))
    event = rng.random(300) < 0.7
    study = make_study(rng.normal(size=(300, 2)), (time, event), times=True)
    found = _fitted(predictors, _slopes(study.outcome, study.design), 5.0)
    left = study.outcome.martingale_residuals(offset=predictors @ found)  # type: ignore[attr-defined]
    assert np.allclose(predictors.T @ left, 5.0 * found, atol=0.02)
    assert found[0] > 0.5


def test_sibs_are_in_different_folds_and_folds_are_of_one_size():
    rng = np.random.default_rng(14)
    frequency = rng.uniform(0.2, 0.5, 600)
    parents = rng.random((40, 2, 2, 600)) < frequency
    sides = rng.integers(0, 2, (160, 2, 600))
    family = np.repeat(np.arange(40), 4)
    X = sum(parents[family[:, np.newaxis], parent, sides[:, parent], np.arange(600)].astype(float) for parent in (0, 1))
    fold_of = _folds(as_table(X), 5, np.random.RandomState(0))
    assert sorted(np.bincount(fold_of)) == [32] * 5
    assert np.mean([len(set(fold_of[family == f].tolist())) for f in range(40)]) > 3.9
    dosages = _folds(as_table(X * 0.99), 5, np.random.RandomState(0))  # no genotypes: at random
    assert sorted(np.bincount(dosages)) == [32] * 5


def test_the_slope_of_a_prediction_is_that_of_a_logistic_model():
    from interplay.data.study.study import make_study
    from interplay.populations.polygenic import _slopes

    rng = np.random.default_rng(15)
    prediction = rng.normal(size=400)
    y = rng.random(400) < 1 / (1 + np.exp(-0.6 * prediction))
    study = make_study(rng.normal(size=(400, 2)), y)
    logistic = LogisticRegression(C=1e9, tol=1e-10).fit(prediction[:, np.newaxis], y)
    slopes = _slopes(study.outcome, study.design)
    assert slope_of(prediction, slopes) == pytest.approx(logistic.coef_[0, 0], abs=1e-3)
    assert slope_of(-prediction, slopes) == 0.0
    assert slope_of(np.zeros(400), slopes) == 1.0


def study_of(rng, n=500, p=200):
    X = genotypes(rng, n, p)
    background = scaled_columns(X.T).T @ rng.normal(size=p) * np.sqrt(n)
    positions = [(str(v // (p // 5) + 1), 1000.0 * v) for v in range(p)]
    return X, background / background.std(), positions


@pytest.mark.parametrize("kind", ["number", "classes", "times"])
def test_offsets_predict_the_background_of_other_chromosomes(kind):
    rng = np.random.default_rng(9)
    X, background, positions = study_of(rng)
    age = rng.normal(size=500)
    y: Any
    if kind == "number":
        y = 100 + 5 * (background + age + 0.5 * rng.normal(size=500))
    elif kind == "classes":
        y = rng.random(500) < 1 / (1 + np.exp(-2 * background - age))
    else:
        y = (rng.exponential(np.exp(-2 * background - age)), rng.random(500) < 0.8)
    offsets = polygenic_offsets(X, y, covariates=age, positions=positions)
    assert offsets.columns.tolist() == ["1", "2", "3", "4", "5"]
    for c in range(5):
        here = X[:, c * 40 : c * 40 + 40]
        coefficients = np.linalg.lstsq(np.column_stack([np.ones(500), here]), background, rcond=None)[0]
        others = background - np.column_stack([np.ones(500), here]) @ coefficients
        offset = offsets[str(c + 1)].to_numpy()
        assert np.corrcoef(offset, others)[0, 1] > 0.35
        # In the unit of the outcome, and fitted in other folds: no larger than what is there.
        assert 0.5 < np.polyfit(offset, others * {"number": 5, "classes": 2, "times": 2}[kind], 1)[0] < 2.5
    # Sums over chromosomes, as `interactions` needs them.
    total = offsets.sum(axis=1) / 4
    parts = offsets.rsub(total, axis=0)
    assert np.allclose(parts.sum(axis=1), total)


def test_offsets_of_noise_are_nothing():
    rng = np.random.default_rng(10)
    X, _, positions = study_of(rng)
    sizes = [polygenic_offsets(X, rng.normal(size=500), positions=positions).to_numpy().std() for _ in range(5)]
    assert max(sizes) < 0.2
    assert min(sizes) == 0.0


def test_offsets_find_a_pair_in_a_polygenic_background():
    rng = np.random.default_rng(11)
    X, background, positions = study_of(rng, n=700)
    pair = (X[:, 3] - X[:, 3].mean()) * (X[:, 120] - X[:, 120].mean())
    y = 2 * background + 1.6 * pair + 0.7 * rng.normal(size=700)
    offsets = polygenic_offsets(X, y, positions=positions)
    beside = interplay.interactions(X, y, offset=offsets, positions=positions, variables=["x3"], max_p=1)
    alone = interplay.interactions(X, y, variables=["x3"], max_p=1)

    def log_p(found):
        return float(found.table.loc[found.table["members"] == ("x3", "x120"), "p_value"].iloc[0])

    assert log_p(beside) < 0.01 * log_p(alone)


def test_offsets_by_name_and_index():
    rng = np.random.default_rng(12)
    X, background, positions = study_of(rng, n=200)
    frame = pd.DataFrame(X, index=[f"p{i}" for i in range(200)], columns=[f"v{i}" for i in range(200)])
    frame["trait"] = background
    by_name = {f"v{i}": place for i, place in enumerate(positions)}
    offsets = polygenic_offsets(frame, "trait", positions=by_name)
    assert offsets.index[3] == "p3"
    again = polygenic_offsets(X, background, positions=positions)
    assert np.allclose(offsets.to_numpy(), again.to_numpy())


@pytest.mark.parametrize(("given", "message"), [
    ({"n_folds": 100}, "too few for n_folds=100"),
    ({"y": np.arange(200) % 3}, "y has 3 classes"),
])  # fmt: skip
def test_refusals(given, message):
    rng = np.random.default_rng(13)
    X, y, positions = study_of(rng, n=200)
    arguments = {"y": y, "positions": positions} | given
    with pytest.raises(ValueError, match=message):
        polygenic_offsets(X, **arguments)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_offsets_are_in_the_unit_of_the_outcome(unit):
    X, y, positions = study_of(np.random.default_rng(14), n=200)
    offsets = polygenic_offsets(X, y, positions=positions)
    assert offsets.to_numpy().any()
    assert np.allclose(polygenic_offsets(X, y * unit, positions=positions) / unit, offsets, atol=1e-9)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e30])
def test_numbers_that_are_no_genotypes_are_refused(value):
    X, y, positions = study_of(np.random.default_rng(15), n=200)
    X[3, 5] = value
    for call in (principal_components, relatives, lambda X: polygenic_offsets(X, y, positions=positions)):
        with pytest.raises(ValueError, match=r"^X has values up to .* which are no genotypes"):
            call(X)
