"""Populations, relatives: no pair is called an interaction; in tables without them, and with a true pair, it is."""

import numpy as np
import pytest

import interplay
from interplay.data.study.table import Table, as_table

N, P = 800, 120


def genotypes(rng, kind):
    """Return genotypes, the population or family of each person."""
    frequency = rng.uniform(0.1, 0.5, P)
    if kind == "populations":
        of = rng.integers(0, 2, N)
        return rng.binomial(2, np.clip(frequency + rng.normal(0, 0.25, (2, P)), 0.03, 0.97)[of]), of
    if kind == "families":
        of = np.repeat(np.arange(N // 20), 20)
        parents = rng.random((N // 20, 4, P)) < frequency
        first, second = rng.random((2, N, P)) < 0.5
        inherited = np.where(first, parents[of, 0], parents[of, 1]), np.where(second, parents[of, 2], parents[of, 3])
        return sum(each.astype(int) for each in inherited), of
    return rng.binomial(2, frequency, (N, P)), np.zeros(N, dtype=int)


def additive(rng, X):
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    predictor = z @ rng.normal(size=P)
    return predictor / predictor.std() + rng.normal(size=N) + 0.8 * z[:, 0] * z[:, 1]


@pytest.mark.parametrize("seed", [0, 1])
def test_populations_and_what_is_offered_for_them(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, population = genotypes(rng, "populations")
    y = additive(rng, X) + 3 * population
    found = interplay.interactions(X, y)
    assert (found.table["p_adjusted"] < 0.05).sum() > 5
    assert found.significant == []
    assert found.provenance["inflation"] > 1.1
    assert "none of 7,140 pairs is called an interaction, although" in found.summary()
    assert "--pcs 10" in found.summary()
    found.save(tmp_path / "found.interplay")
    assert interplay.load(tmp_path / "found.interplay").significant == []
    for way in ({"strata": population}, {"covariates": population.astype(float)}):
        given = interplay.interactions(X, y, **way)
        assert "doubt" not in given.provenance
        assert ("x0", "x1") in given.significant


def test_correlated_chromosomes(monkeypatch):
    """Populations that differ too little to inflate the tests of pairs taken at random."""
    rng = np.random.default_rng(5)
    monkeypatch.setattr(Table, "positions", property(lambda table: [(str(v % 5), v) for v in range(table.n_vars)]))
    frequency = rng.uniform(0.2, 0.5, P)
    population = rng.integers(0, 2, N)
    for shift, words in ((0.08, "variants of different chromosomes are correlated"), (0.0, "")):
        X = rng.binomial(2, frequency + shift * rng.choice([-1, 1], (2, P))[population])
        found = interplay.interactions(X, additive(rng, X) + 2 * population)
        assert ("x0", "x1") in [found.members_of(row) for row in range(len(found))]
        assert words in found.provenance.get("doubt", "")
        assert (("x0", "x1") in found.significant) == (not words)


def test_families_of_a_fam_file():
    rng = np.random.default_rng(2)
    X, family = genotypes(rng, "families")
    table = as_table(X)
    table.sample_columns = {"family": np.array([f"F{number}" for number in family])}
    y = additive(rng, X)
    with pytest.warns(UserWarning, match="use groups='family'"):
        found = interplay.interactions(table, y, top=5)
    assert found.significant == []
    assert "give groups='family' (--groups family)" in found.summary()


@pytest.mark.parametrize("kind", ["number", "classes"])
def test_a_polygenic_trait_is_no_structure(kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, _ = genotypes(rng, "none")
        y = additive(rng, X)
        found = interplay.interactions(X, y if kind == "number" else (y > np.median(y)).astype(int), top=5)
        assert "doubt" not in found.provenance
        if kind == "number":
            assert ("x0", "x1") in found.significant
