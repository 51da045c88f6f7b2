"""make_epistasis: margins that are flat to machine precision, and samples that follow the model."""

import itertools

import numpy as np
import pytest

import interplay
from interplay.datasets import make_epistasis
from interplay.datasets.penetrance import cell_shares, genotype_shares, pure_part, variance


def margin(table, shares, kept):
    """The average of a table over all members that are not kept, by one loop over cells."""
    sums = np.zeros([table.shape[i] for i in kept])
    for cell in np.ndindex(table.shape):
        weight = np.prod([shares[i][cell[i]] for i in range(table.ndim) if i not in kept])
        sums[tuple(cell[i] for i in kept)] += weight * table[cell]
    return sums


@pytest.mark.parametrize("dimensions", [2, 3, 4, 5])
@pytest.mark.parametrize("model", ["random", "xor", "multiplicative", "dominant"])
def test_margins_of_pure_penetrance_are_flat_to_machine_precision(dimensions, model):
    heritability = 0.02 if model == "random" else 1e-6  # a rare cell may hold most of a named model's effect
    _, _, truth = make_epistasis(
        10,
        30,
        dimensions=dimensions,
        model=model,
        heritability=heritability,
        prevalence=0.37,
        n_models=2,
        minor_allele_frequency=(0.2, 0.5),
        random_state=dimensions,
    )
    for table, shares in zip(truth.penetrance, truth.shares, strict=True):
        assert ((table >= 0) & (table <= 1)).all()
        assert np.ptp(table) > np.sqrt(heritability * 0.37 * 0.63)
        for size in range(dimensions):
            for kept in itertools.combinations(range(dimensions), size):
                np.testing.assert_allclose(margin(table, shares, kept), 0.37, rtol=0, atol=4 * np.finfo(float).eps)
        assert variance(table, list(shares)) / (0.37 * 0.63) == pytest.approx(heritability, rel=1e-6)


@pytest.mark.parametrize("outcome", ["number", "times"])
def test_margins_of_numbers_and_log_hazards_are_flat(outcome):
    _, _, truth = make_epistasis(10, 30, dimensions=3, outcome=outcome, heritability=0.3, random_state=1)
    assert truth.penetrance == ()
    (table,), (shares,) = truth.effects, truth.shares
    for kept in [(), (0,), (0, 1), (0, 2), (1, 2)]:
        np.testing.assert_allclose(margin(table, shares, kept), 0, atol=1e-14 * np.abs(table).max())


def test_share_of_main_effects_is_exact():
    for share in (0.0, 0.25, 1.0):
        _, _, truth = make_epistasis(10, 20, main_share=share, heritability=0.02, random_state=3)
        (table,), (shares,) = truth.effects, truth.shares
        of_pure = variance(pure_part(table, list(shares)), list(shares))
        assert of_pure / variance(table, list(shares)) == pytest.approx(1 - share, abs=1e-12)
    _, _, truth = make_epistasis(10, 20, model="dominant", main_share=None, heritability=0.02, random_state=3)
    inside = truth.effects[0][1:, 1:]
    assert np.ptp(inside) < 1e-15  # as the model has it: one number where both have an allele, another elsewhere


def test_table_of_ones_own_is_scaled():
    own = np.array([[0, 0, 1], [0, 2, 0], [3, 0, 0]])
    _, _, truth = make_epistasis(10, 5, model=own, main_share=None, outcome="number", heritability=0.2)
    (table,), (shares,) = truth.effects, truth.shares
    assert np.corrcoef(table.ravel(), own.ravel())[0, 1] == pytest.approx(1)
    assert variance(table, list(shares)) == pytest.approx(0.2)


def test_large_heritability_is_found_at_a_corner_of_the_bounds():
    """GAMETES' hardest setting at frequencies of 0.4: random draws alone do not reach it."""
    _, y, truth = make_epistasis(4000, 20, heritability=0.4, minor_allele_frequency=0.4, random_state=0)
    (table,), (shares,) = truth.penetrance, truth.shares
    assert variance(table, list(shares)) / 0.25 == pytest.approx(0.4)
    assert abs(y.mean() - 0.5) < 4 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize("cases", [None, 0.3])
def test_samples_of_classes_follow_the_penetrance_of_several_models(cases):
    n = 200_000
    X, y, truth = make_epistasis(
        n, 4, n_models=2, heritability=0.04, prevalence=0.2, cases=cases, minor_allele_frequency=0.4, random_state=5
    )
    assert X.dtype == np.int8
    assert y.mean() == pytest.approx(0.3 if cases else 0.2, abs=0 if cases else 0.004)
    # Cells and classes together: P(cell) from the population, P(class | cell) by Bayes' rule in a case-control study.
    for members, table, shares in zip(truth.tuples, truth.penetrance, truth.shares, strict=True):
        cell = X[:, members[0]] * 3 + X[:, members[1]]
        for q, chance, share in ((1, table, 0.2), (0, 1 - table, 0.8)):
            expected = (cell_shares(list(shares)) * chance).ravel() / share
            observed = np.bincount(cell[y == q], minlength=9) / (y == q).sum()
            sd = np.sqrt(expected * (1 - expected) / (y == q).sum())
            assert (np.abs(observed - expected) < 4.5 * sd + 1e-9).all()
    # The two tuples add up: no interaction between them beyond the sum of their effects.
    a, b = ((X[:, members].sum(axis=1) % 2).astype(bool) for members in truth.tuples)
    if cases is None:
        rates = np.array([[y[(a == i) & (b == j)].mean() for j in (0, 1)] for i in (0, 1)])
        assert abs(rates[0, 0] - rates[0, 1] - rates[1, 0] + rates[1, 1]) < 0.02


def test_numbers_have_variance_one_and_the_share_of_each_tuple():
    X, y, truth = make_epistasis(100_000, 10, outcome="number", n_models=2, heritability=0.2, random_state=2)
    assert y.var() == pytest.approx(1, abs=0.02)
    for members, table in zip(truth.tuples, truth.effects, strict=True):
        signal = table[tuple(X[:, members].T)]
        assert np.corrcoef(signal, y)[0, 1] ** 2 == pytest.approx(0.2, abs=0.01)


def test_times_follow_the_hazards_of_cells():
    X, y, truth = make_epistasis(100_000, 5, outcome="times", heritability=0.2, censored=0.4, random_state=2)
    assert 0.3 < 1 - y["event"].mean() < 0.5
    log_hazard = truth.effects[0][tuple(X[:, truth.tuples[0]].T)]
    for value in np.unique(log_hazard):
        rows = log_hazard == value
        if rows.sum() > 2000:  # events per time at risk estimate the hazard of exponential times
            hazard = y["event"][rows].sum() / y["time"][rows].sum()
            assert np.log(hazard) == pytest.approx(value, abs=4.5 / np.sqrt(y["event"][rows].sum()))
    log_time = np.log(
        make_epistasis(100_000, 5, outcome="times", heritability=0.2, censored=0, random_state=2)[1]["time"]
    )
    assert np.corrcoef(log_time, log_hazard)[0, 1] ** 2 == pytest.approx(0.2, abs=0.02)


def test_linkage_of_blocks_is_that_of_a_chain():
    X, _, truth = make_epistasis(
        40_000, 30, block_size=5, linkage=0.8, minor_allele_frequency=(0.2, 0.5), random_state=3
    )
    r = np.corrcoef(X.T)
    assert len({int(truth.block[v]) for v in truth.relevant}) == 2
    for i in range(30):
        assert X[:, i].mean() / 2 == pytest.approx(truth.minor_allele_frequency[i], abs=0.01)
        for j in range(i):
            expected = 0.8 ** (i - j) if truth.block[i] == truth.block[j] else 0.0
            assert r[i, j] == pytest.approx(expected, abs=0.025)


def test_frequencies_of_members_and_ploidy():
    X, _, truth = make_epistasis(
        50, 9, minor_allele_frequencies=[0.1, 0.45], ploidy=1, random_state=1, heritability=0.01
    )
    assert truth.minor_allele_frequency[truth.tuples[0]].tolist() == [0.1, 0.45]
    assert set(np.unique(X).tolist()) == {0, 1}
    assert genotype_shares(0.3, 1).tolist() == [0.7, 0.3]


def test_seed_repeats_and_matters():
    first, again, other = (make_epistasis(60, 12, random_state=seed) for seed in (7, 7, 8))
    assert all(np.array_equal(a, b) for a, b in zip(first[:2], again[:2], strict=True))
    assert not np.array_equal(first[0], other[0])


def test_pair_without_main_effects_is_found_by_interactions_alone():
    X, y, truth = make_epistasis(1500, 40, outcome="number", heritability=0.05, random_state=4)
    found = interplay.interactions(X, y)
    assert found.significant == [tuple(f"x{v}" for v in truth.tuples[0])]


def test_heritability_that_no_probabilities_have_is_refused_with_the_largest():
    with pytest.raises(ValueError, match=r"^heritability=0.9 cannot be had .* at most about 0\.\d+ can"):
        make_epistasis(50, 5, heritability=0.9, minor_allele_frequency=0.2)
