"""Samples that look as if they belonged together are pointed out, once, with what to do; others are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

import interplay


def table(n_groups=20, size=10, n_vars=30, seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), size)
    return rng.normal(size=(len(group), n_vars)), group % 2, group


def all_said(X, y, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        interplay.select(X, y, dimensions=1, random_state=0, **settings)
    return [str(warning.message) for warning in caught]


def said(X, y, **settings):
    # That a column looks like an identifier, or tells the classes apart, is said of it by itself.
    return [message for message in all_said(X, y, **settings) if "--drop" not in message]


@pytest.mark.parametrize(
    "name", ["donor", "Patient_ID", "subjectId", "family", "orig.ident", "sample name", "mouse.no"]
)
@pytest.mark.parametrize("as_text", [False, True])
def test_a_column_of_ids_with_repeats(name, as_text):
    X, y, group = table()
    frame = pd.DataFrame(X).rename(columns=str).assign(**{name: [f"p{g}" for g in group] if as_text else group})
    # Each subject has one class, so that its label determines the class: to leave it out would be other advice.
    (message,) = all_said(frame, y)
    assert message.startswith(f"X has a column {name!r} (a variable) with 20 values for 200 samples")
    assert message.endswith(f"use groups={name!r}, which also removes it from the variables")
    assert all_said(frame, y, groups=name) == []


def test_another_label_beside_groups_is_to_be_left_out():
    X, y, group = table()
    frame = pd.DataFrame(X).rename(columns=str).assign(donor=group, family=[f"f{g % 4}" for g in group])
    (message,) = all_said(frame, y, groups="donor")
    assert message.startswith("column 'family' of X determines y completely")
    assert message.endswith("leave it out (on the command line with --drop 'family')")


@pytest.mark.parametrize("name", ["patient_age", "donors_per_year", "x", "family_history", "sampling"])
def test_other_names_are_no_matter(name):
    X, y, group = table()
    assert said(pd.DataFrame(X).rename(columns=str).assign(**{name: group}), y) == []


def test_ids_without_repeats_or_of_no_consequence_are_no_matter():
    X, y, group = table()
    frame = pd.DataFrame(X).rename(columns=str)
    assert said(frame.assign(sample=np.arange(200)), y) == []
    assert said(frame.assign(sample=np.arange(200) / 7), y) == []
    # Every group has as many of both classes.
    assert said(frame.assign(donor=group), np.tile([0, 1], 100)) == []
    assert said(frame.assign(donor=[f"d{g % 3}" for g in group]), y) == []


def test_obs_of_an_anndata():
    anndata = pytest.importorskip("anndata")
    X, y, group = table()
    adata = anndata.AnnData(X)
    adata.obs["donor"] = pd.Categorical([f"d{g}" for g in group])
    adata.obs["state"] = y
    (message,) = said(adata, "state")
    assert "column 'donor' (known of its samples) with 20 values for 200 samples" in message
    assert message.endswith("use groups='donor'")
    assert said(adata, "state", groups="donor") == []


def test_strata_of_donors_need_no_groups():
    X, _, group = table(5, 40)
    y = np.random.default_rng(1).random(200) < np.array([0.2, 0.4, 0.5, 0.6, 0.8])[group]
    frame = pd.DataFrame(X).rename(columns=str).assign(donor=group)
    assert len(said(frame, y)) == 1
    assert said(frame, y, strata="donor") == []
    assert said(frame, y, strata=group) == []


class TestCopies:
    def test_nearly_equal_samples(self):
        rng = np.random.default_rng(0)
        X = np.repeat(rng.normal(size=(60, 40)), 3, axis=0) + 0.03 * rng.normal(size=(180, 40))
        (message,) = said(X, np.arange(180) // 3 % 2)
        assert "samples that nearly equal another sample" in message
        assert "groups=" in message

    def test_equal_genotypes(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 3, (200, 100)).astype(float)
        y = rng.integers(0, 2, 200)
        assert said(X, y) == []
        X[100:120] = X[:20]
        (message,) = said(X, y)
        assert message.startswith("X has 40 samples that nearly equal another sample")

    def test_missing_and_infinite_values_are_no_matter(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 60))
        X[rng.random(X.shape) < 0.01] = np.nan
        X[:, 3] = np.nan
        X[5, 4] = np.inf
        messages = said(X, rng.integers(0, 2, 200), missing="level")
        assert messages == ["column 'x3' of X has no values: nothing can be found in it"]

    @pytest.mark.parametrize("kind", ["independent", "few factors", "few columns", "sparse", "siblings"])
    def test_others_are_no_copies(self, kind):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(600, 50))
        if kind == "few factors":
            X = rng.normal(size=(600, 2)) @ rng.normal(size=(2, 50)) + 0.05 * X
        elif kind == "few columns":
            X = X[:, :3] > 0
        elif kind == "sparse":
            X = (rng.random((600, 50)) < 0.05) * 1.0
        elif kind == "siblings":
            X = np.repeat(rng.normal(size=(300, 50)), 2, axis=0) + X
        assert said(X, rng.integers(0, 2, 600)) == []


class TestSeries:
    """Rows in time, of which neighbours resemble each other."""

    def series(self, rng, rho, n, p):
        x = rng.normal(size=(n, p))
        for t in range(1, n):
            x[t] = rho * x[t - 1] + np.sqrt(1 - rho**2) * x[t]
        return x

    @pytest.mark.parametrize("kind", ["number", "classes"])
    def test_is_told(self, kind):
        rng = np.random.default_rng(0)
        y = self.series(rng, 0.95, 300, 1)[:, 0]
        y = y if kind == "number" else (y > np.median(y)).astype(int)
        X = self.series(rng, 0.95, 300, 30)
        assert "neighbouring rows resemble each other" in interplay.select(X, y, dimensions=1).summary()
        assert "rows" not in interplay.select(X, y, dimensions=1, order=np.arange(300)).provenance
        assert "rows" not in interplay.select(X, rng.permutation(y), dimensions=1).provenance

    def test_sorted_tables_are_none(self):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(200, 20))
            y = X[:, :5].sum(axis=1) + rng.normal(size=200)
            order = np.argsort(y)
            X[:, 19] = np.argsort(order)  # a number of the sample
            assert "rows" not in interplay.select(X[order], y[order], dimensions=1).provenance
            classes = (y > 0).astype(int)
            order = np.argsort(classes, kind="stable")
            assert "rows" not in interplay.select(X[order], classes[order], dimensions=1).provenance
