"""Tuples of stand-ins for causes in the table are explained by these, for every kind of outcome and of column."""

import numpy as np
import pytest
from scipy import stats

import interplay
from interplay.data.models.linear import bent_columns, spline_columns


def _correlated(seed, n=1500, p=8, r=0.75):
    rng = np.random.default_rng(seed)
    return rng, np.sqrt(r) * rng.normal(size=(n, 1)) + np.sqrt(1 - r) * rng.normal(size=(n, p))


def _outcome(kind, rng, score):
    if kind == "classes":
        return (score + rng.logistic(size=len(score)) > np.median(score)).astype(int)
    if kind == "times":
        return rng.exponential(size=len(score)) / np.exp(score), rng.random(len(score)) < 0.8
    return score + rng.normal(size=len(score))


def _table(kind):
    """Column 0 is a cause with a U-shape; others are two values of correlated numbers."""
    rng, z = _correlated(3)
    X = np.where(np.arange(z.shape[1]) == 0, z, z > 0.3)
    return X, _outcome(kind, rng, 1.5 * z[:, 0] ** 2)


@pytest.mark.parametrize("kind", ["numbers", "classes", "times"])
def test_stand_ins_are_explained_and_stay_listed(kind):
    X, y = _table(kind)
    found = interplay.interactions(X, y)
    assert found.is_explained.any()
    assert not found.is_significant.any()
    table = found.table[found.is_explained]
    assert all("x0" in by for by in table["explained_by"])
    assert (table["p_beside_adjusted"] >= 0.05).all()
    assert (table["p_adjusted"] < 0.05).all()
    assert "explained by the effects of other columns of the table (x0" in found.summary()
    # Without the cause nothing in the table can tell.
    assert len(interplay.interactions(X[:, 1:], y).significant) > 0


def test_labels_explain_too():
    rng, z = _correlated(3)
    codes = np.digitize(z[:, 0], [-1, 0, 1])
    y = np.array([1.5, 0, 0.5, 2.5])[codes] + rng.normal(size=len(z))
    import pandas as pd

    X = pd.DataFrame({f"c{i}": (z[:, i] > 0.3).astype(int) for i in range(1, 8)})
    X["cause"] = np.array(["low", "some", "more", "high"])[codes]
    found = interplay.interactions(X, y)
    assert found.is_explained.any()
    assert not found.is_significant.any()
    assert {by for names in found.table["explained_by"] for by in names} >= {"cause"}


@pytest.mark.parametrize("kind", ["numbers", "classes", "times"])
def test_true_pairs_hold_beside_causes(kind):
    rng, z = _correlated(4)
    z[:, 7] = rng.normal(size=len(z))
    X = z.copy()
    y = _outcome(kind, rng, 1.5 * z[:, 0] ** 2 + 0.7 * np.sign(z[:, 6] * z[:, 7]))
    found = interplay.interactions(X, y)
    assert ("x6", "x7") in found.significant
    row = found.tested.rows_of(np.array([[6, 7]]))[0]
    assert found.tested.p_beside[row] < 1e-4


def test_p_beside_is_that_of_least_squares():
    """F and HC3 of statsmodels, beside splines of the members and the columns of the cause."""
    sm = pytest.importorskip("statsmodels.api")
    X, y = _table("numbers")
    found = interplay.interactions(X, y, scale="values")
    row = int(np.flatnonzero([by == ("x0",) for by in found.table["explained_by"]])[0])
    a, b = (X[:, v] for v in found.tested.tuples[row])
    columns = np.column_stack([np.ones(len(y)), a, b, bent_columns(X[:, 0], len(y)), a * b])
    fits = [sm.OLS(y, columns).fit(cov_type=cov) for cov in ("nonrobust", "HC3")]
    p = max(2 * stats.t.sf(abs(fit.tvalues[-1]), fit.df_resid) for fit in fits)
    assert found.tested.p_beside[row] == pytest.approx(p, rel=1e-6)


def test_parts_replication_and_files(tmp_path):
    X, y = _table("numbers")
    whole = interplay.interactions(X, y)
    merged = interplay.merge_interactions([interplay.interactions(X, y, shard=(i, 2)) for i in (1, 2)])
    assert np.array_equal(merged.tested.tuples, whole.tested.tuples)
    assert np.array_equal(merged.is_explained, whole.is_explained)
    assert np.array_equal(merged.tested.explained_by, whole.tested.explained_by)
    whole.save(tmp_path / "found.interplay")
    again = interplay.load(tmp_path / "found.interplay")
    assert np.array_equal(again.is_explained, whole.is_explained)
    rng, z = _correlated(5)
    X_new = np.where(np.arange(z.shape[1]) == 0, z, z > 0.3)
    replicated = whole.replicate(X_new, _outcome("numbers", rng, 1.5 * z[:, 0] ** 2))
    assert not replicated.is_significant.any()
    assert (replicated.tested.p_value < 0.01).any()
    whole.to_html(tmp_path / "found.html")
    assert "explained by x0" in (tmp_path / "found.html").read_text()


def test_bent_columns_are_an_orthogonal_basis_that_holds_the_splines():
    values = np.random.default_rng(0).exponential(size=700)
    columns = bent_columns(values, 700)
    assert np.allclose(columns.T @ columns / len(values), np.eye(columns.shape[1]))
    splines = spline_columns(values)
    assert np.allclose(columns @ (columns.T @ splines) / len(values), splines)
