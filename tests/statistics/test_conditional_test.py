"""p-values of single variables given the margins: against plain listing, shuffling, and on noise."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import reference
from interplay.base.tails import chi2_tail
from interplay.infer.conditional_test import conditional_log_p
from interplay.infer.margin_tables import class_pseudocounts, listed_null, matched_null, table_gains


def p_of(tables, pseudocount=0.25):
    """Of one variable with these tables, stratum by stratum."""
    counts = np.moveaxis(np.asarray(tables), 0, -1)[np.newaxis]
    return float(np.exp(conditional_log_p(counts, pseudocount=pseudocount)[0]))


def drawn_counts(rng, n_vars, sizes, shares, n_classes=2):
    """Counts of variables that say nothing, in strata of these sizes: (n_vars, n_levels, n_classes, n_strata)."""
    counts = np.zeros((n_vars, len(shares), n_classes, len(sizes)), dtype=np.int64)
    for stratum, size in enumerate(sizes):
        y = rng.permutation(np.arange(size) % n_classes)
        levels = rng.choice(len(shares), p=shares, size=(n_vars, size))
        for q, level in product(range(n_classes), range(len(shares))):
            counts[:, level, q, stratum] = (levels[:, y == q] == level).sum(axis=1)
    return counts


@pytest.mark.parametrize(
    "table",
    [
        [[8, 1], [3, 6]],
        [[5, 0, 1], [1, 4, 3]],
        [[5, 1], [1, 4], [0, 3]],
        [[4, 0, 1], [0, 3, 1], [1, 1, 3]],
        [[4, 1], [0, 3], [2, 2], [3, 0]],
        [[5, 1], [0, 0], [0, 3]],
        [[5, 2], [7, 3]],
    ],
)
@pytest.mark.parametrize("pseudocount", [0.0, 0.25, 2.0])
def test_one_table_equals_plain_listing(table, pseudocount):
    rows = [row for row in table if sum(row)]
    assert p_of([table], pseudocount) == pytest.approx(reference.conditional_p_value([rows], pseudocount), rel=1e-9)


def test_equal_margins_are_fishers_test():
    """There the order by gain is the order by probability."""
    for table in ([[9, 3], [3, 9]], [[12, 8], [8, 12]], [[20, 5], [5, 20]]):
        assert p_of([table]) == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)


@pytest.mark.parametrize("n_levels", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_strata_equal_plain_listing_but_for_the_grid(seed, n_levels):
    """Gains of strata are rounded to steps of less than 0.02 bits here: that may swap tables as close as that."""
    rng = np.random.default_rng(seed)
    tables = rng.multinomial(7, np.full(2 * n_levels, 0.5 / n_levels), size=3).reshape(3, n_levels, 2)
    tables[0] += np.eye(n_levels, 2, dtype=np.int64) * 3
    observed, sums = reference.conditional_null(tables.tolist(), 0.25)
    low, high = (
        float(sum(chance for gain, chance in sums if gain >= observed + shift - 1e-9)) for shift in (0.05, -0.05)
    )
    assert low * (1 - 1e-5) <= p_of(tables) <= high * (1 + 1e-5)


@pytest.mark.parametrize(
    "tables",
    [
        [[[5, 1, 0], [1, 2, 0]], [[6, 0, 0], [2, 0, 3]]],
        [[[4, 0, 1], [1, 0, 3]], [[0, 3, 1], [0, 1, 4]], [[2, 1, 0], [3, 2, 0]]],
        [[[4, 0, 2], [1, 0, 1], [0, 0, 3]], [[0, 5, 1], [0, 0, 0], [0, 2, 3]]],
        [[[0, 6, 0], [0, 2, 0]], [[5, 0, 1], [0, 0, 3]]],
        [[[15, 4, 0], [1, 0, 0]], [[1, 0, 0], [15, 0, 4]]],
    ],
)
def test_strata_that_lack_a_class_equal_plain_listing(tables):
    observed, sums = reference.conditional_null(tables, 0.25)
    low, high = (float(sum(chance for gain, chance in sums if gain >= observed + shift)) for shift in (0.02, -0.02))
    assert low * (1 - 1e-5) <= p_of(tables) <= high * (1 + 1e-5)


def test_large_strata_that_lack_a_class_have_no_gain_of_pseudocounts():
    """Levels of 950 and 50 samples, two of the three classes in equal shares in each."""
    tables = [[[475, 475, 0], [25, 25, 0]], [[475, 0, 475], [25, 0, 25]]]
    assert p_of(tables) > 0.99


def test_p_values_with_strata_are_valid():
    """Of all tables with the margins, those with p ≤ a have together a chance of at most a, for every a."""
    first = [[[5, 1], [2, 4]], [[3, 3], [4, 2]], [[1, 6], [2, 2]]]
    possible = [
        [np.array(t) for t in reference.tables_with_margins(np.sum(t, axis=1).tolist(), np.sum(t, axis=0).tolist())]
        for t in first
    ]
    every = list(product(*possible))
    chance = np.array([float(np.prod([float(reference.table_chance(t.tolist())) for t in tables])) for tables in every])
    counts = np.stack([np.stack(tables, axis=-1) for tables in every])
    p = np.exp(conditional_log_p(counts, pseudocount=0.25))
    assert chance.sum() == pytest.approx(1)
    for level in np.unique(p):
        assert chance[p <= level * (1 + 1e-6)].sum() <= level * (1 + 2e-5)
    assert (p.min(), p.max()) == (pytest.approx(chance[p == p.min()].sum(), rel=1e-4), pytest.approx(1, rel=1e-5))


@pytest.mark.parametrize(("n_strata", "size"), [(3, 10), (40, 10), (250, 20)])
def test_far_tail(n_strata, size):
    """Level and class are the same in every stratum: of C(n, n/2) tables in each, two are as good."""
    half = size // 2
    log_p = conditional_log_p(
        np.moveaxis(np.tile([[half, 0], [0, half]], (n_strata, 1, 1)), 0, -1)[np.newaxis], pseudocount=0.25
    )
    log_choose = stats.hypergeom.logpmf(0, size, half, half)
    assert log_p[0] == pytest.approx(n_strata * (np.log(2) + log_choose), rel=1e-6)


def test_it_is_what_shuffling_within_strata_gives():
    rng = np.random.default_rng(1)
    strata, x = np.repeat([0, 1, 2, 3], [15, 20, 30, 25]), rng.integers(0, 3, 90)
    y = np.where(rng.random(90) < 0.35, x == 2, rng.random(90) < 0.4).astype(int)
    added = class_pseudocounts(np.bincount(y), 0.25)

    def tables(of_y):
        counts = np.zeros((4, 3, 2), dtype=np.int64)
        np.add.at(counts, (strata, x, of_y), 1)
        return counts

    observed = table_gains(tables(y), added).sum()
    shuffled = []
    for _ in range(4000):
        mixed = y.copy()
        for stratum in range(4):
            mixed[strata == stratum] = rng.permutation(y[strata == stratum])
        shuffled.append(table_gains(tables(mixed), added).sum())
    share = (np.array(shuffled) >= observed - 1e-9).mean()
    assert 0.0005 < share < 0.5
    assert p_of(tables(y)) == pytest.approx(share, abs=4 * np.sqrt(share / 4000))


@pytest.mark.parametrize(
    ("n_strata", "size", "shares", "n_classes"),
    [(64, 20, [0.5, 0.5], 2), (250, 20, [0.5, 0.5], 2), (30, 20, [0.6, 0.3, 0.1], 2), (30, 21, [0.7, 0.3], 3)],
)
def test_noise_in_many_strata(n_strata, size, shares, n_classes):
    """As many small p-values as there should be, at 0.05 and at 0.002; χ² misses that with two classes."""
    rng = np.random.default_rng(0)
    n_vars = 10_000
    counts = drawn_counts(rng, n_vars, [size] * n_strata, shares, n_classes)
    p = np.exp(conditional_log_p(counts, pseudocount=0.25))
    added = class_pseudocounts(counts[0].sum(axis=(0, 2)), 0.25)
    gains = table_gains(np.moveaxis(counts, 3, 1), added).sum(axis=1)
    by_chi2 = chi2_tail(2 * np.log(2) * gains, (len(shares) - 1) * (n_classes - 1) * n_strata)
    for level in (0.05, 0.002):
        error = np.sqrt(level / n_vars)
        assert abs((p < level).mean() - level) < 3.5 * error + 0.03 * level
    if n_classes == 2:
        assert abs((by_chi2 < 0.05).mean() - 0.05) > 5 * np.sqrt(0.05 / n_vars)


def test_tables_that_are_too_many_to_list_have_a_matched_distribution():
    level_sizes, class_sizes = np.array([8, 9, 10, 13]), np.array([22, 18])
    added = class_pseudocounts(class_sizes, 0.25)
    listed, matched = (
        listed_null(level_sizes, class_sizes, added, max_tables=10**6),
        matched_null(level_sizes, class_sizes, added),
    )
    assert listed_null(level_sizes, class_sizes, added, max_tables=500) is None
    p = np.exp(listed.log_p(listed.gain))
    for level in (0.3, 0.1, 0.01, 0.001):
        gain = listed.gain[np.argmin(np.abs(p - level))]
        assert np.exp(matched.log_p(np.array([gain])))[0] == pytest.approx(level, rel=0.25)


def test_margins_that_leave_nothing_to_chance():
    assert p_of([[[5, 7], [0, 0]]]) == 1
    assert p_of([[[5, 7], [0, 0]], [[0, 0], [3, 4]]]) == pytest.approx(1)
    assert p_of([[[5, 0], [4, 0]], [[9, 1], [2, 8]]]) == pytest.approx(p_of([[[9, 1], [2, 8]]]), rel=1e-1)
    assert conditional_log_p(np.empty((0, 2, 2, 1), dtype=np.int64), pseudocount=0.25).shape == (0,)


def test_variables_do_not_change_each_others_p_values():
    rng = np.random.default_rng(3)
    for sizes, shares in (([20] * 30, [0.5, 0.5]), ([200], [0.6, 0.35, 0.05])):
        counts = drawn_counts(rng, 60, sizes, shares)
        together = conditional_log_p(counts, pseudocount=0.25)
        alone = [conditional_log_p(counts[v : v + 1], pseudocount=0.25)[0] for v in range(60)]
        np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6)


def test_many_margins_are_taken_in_parts(monkeypatch):
    counts = drawn_counts(np.random.default_rng(6), 40, [15, 20, 25], [0.5, 0.3, 0.2])
    whole = conditional_log_p(counts, pseudocount=0.25)
    monkeypatch.setattr("interplay.infer.conditional_test.MAX_NULLS", 10)
    np.testing.assert_allclose(conditional_log_p(counts, pseudocount=0.25), whole, rtol=1e-5, atol=1e-6)


def test_many_samples_leave_chi_squared():
    rng = np.random.default_rng(4)
    counts = drawn_counts(rng, 300, [6000], [0.5, 0.3, 0.2])
    gains = table_gains(counts[..., 0], class_pseudocounts(np.array([3000, 3000]), 0.25))
    log_p = conditional_log_p(counts, pseudocount=0.25)
    np.testing.assert_allclose(np.exp(log_p), chi2_tail(2 * np.log(2) * gains, 2), rtol=0.05)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_levels_of_one_sample(n_classes):
    """A column of which every value is another says nothing; one with a pair is compared by this pair alone."""
    y = np.arange(40) % 5 % n_classes
    each_its_own = np.zeros((40, n_classes, 1), dtype=np.int64)
    each_its_own[np.arange(40), y] = 1
    in_strata = np.concatenate([each_its_own, each_its_own[:, ::-1]], axis=2)
    for counts in (each_its_own, in_strata):
        assert conditional_log_p(counts[np.newaxis], pseudocount=0.25)[0] == pytest.approx(0, abs=1e-9)
    first = int(np.flatnonzero(y == 0)[0]), int(np.flatnonzero(y == 0)[1])
    paired = np.delete(each_its_own, first[1], axis=0)
    paired[first[0], 0] = 2
    both = reference.conditional_p_value([paired[:8, :, 0].tolist()])
    assert np.exp(conditional_log_p(paired[np.newaxis, :8], pseudocount=0.25)[0]) == pytest.approx(both, rel=1e-6)
    assert both > 0.05
