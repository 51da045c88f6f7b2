import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from interplay.data.codes.coder import make_coder
from interplay.data.codes.contrast import contrast_table, contrast_variables
from interplay.data.study.table import as_table

X = np.random.default_rng(0).normal(size=(65, 10))


@pytest.mark.parametrize("n", [1, 4, 10, 11, 25])
def test_each_is_a_permutation_of_its_source(n):
    columns, sources = contrast_variables(X, n, random_state=3)
    assert columns.shape == (65, n)
    assert sources.dtype == np.int64
    np.testing.assert_array_equal(np.sort(columns, axis=0), np.sort(X[:, sources], axis=0))
    assert (columns != X[:, sources]).any(axis=0).all()


def test_sources_are_drawn_without_replacement_and_then_again():
    counts = np.bincount(contrast_variables(X, 25)[1], minlength=10)
    assert counts.min() == 2
    assert counts.max() == 3
    chosen = [frozenset(contrast_variables(X, 4, random_state=seed)[1]) for seed in range(20)]
    assert all(len(sources) == 4 for sources in chosen)
    assert len(set(chosen)) > 10
    assert frozenset.union(*chosen) == frozenset(range(10))


def test_copies_of_one_column_are_permuted_differently():
    columns, sources = contrast_variables(X, 20)
    assert sources[0] == sources[10] == 0
    assert (columns[:, 0] != columns[:, 10]).any()


def test_permutations_are_uniform():
    # Every value should come to every place equally often.
    x = np.arange(4)[:, None]
    columns, _ = contrast_variables(x, 4000)
    counts = np.array([np.bincount(row, minlength=4) for row in columns])
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)


def test_seed_decides():
    np.testing.assert_array_equal(
        contrast_variables(X, 7, random_state=1)[0], contrast_variables(X, 7, random_state=1)[0]
    )
    assert (contrast_variables(X, 10, random_state=1)[0] != contrast_variables(X, 10, random_state=2)[0]).any()


@pytest.mark.parametrize("n", [6, 10, 14])
def test_blocks_do_not_matter(n):
    table = contrast_table(as_table(X), n, seed=5)
    whole = table.block(0, n)
    assert whole.flags.c_contiguous
    for start in range(0, n, 3):
        np.testing.assert_array_equal(table.block(start, min(start + 3, n)), whole[start : start + 3])
    np.testing.assert_array_equal(table.columns(np.array([4, 0])), whole[[4, 0]])


def test_the_source_is_left_alone():
    F = np.asfortranarray(X)
    before = F.copy()
    contrast_variables(F, 10)
    np.testing.assert_array_equal(F, before)


def test_containers_agree():
    wanted, sources = contrast_variables(X, 14)
    for container in (np.asfortranarray(X), pd.DataFrame(X), sp.csr_matrix(X), X.tolist()):
        columns, found = contrast_variables(container, 14)
        np.testing.assert_array_equal(columns, wanted)
        np.testing.assert_array_equal(found, sources)


def test_labels_and_missing_values_travel():
    frame = pd.DataFrame({"a": ["u", None, "v", "v"], "b": [1.5, 2.5, 3.5, 4.5]})
    table = contrast_table(as_table(frame), 2, seed=0)
    assert table.names == ["contrast_0", "contrast_1"]
    assert table.is_label.tolist() == [True, False]
    assert np.isnan(table.block(0, 2)).sum(axis=1).tolist() == [1, 0]


def test_coded_as_their_sources():
    rng = np.random.default_rng(1)
    mixed = np.column_stack([rng.normal(size=64), rng.integers(0, 3, 64), rng.integers(0, 5, 64)])
    options = {"divisions": 1, "discretizations": 2, "range_": 0.5, "seed": 9}
    real = make_coder(as_table(mixed), **options, discrete=[2])
    contrast = contrast_table(as_table(mixed), 5, seed=9)
    coder = make_coder(contrast, **options, discrete=real.is_discrete[contrast.sources], first_variable=3)
    np.testing.assert_array_equal(coder.n_levels, real.n_levels[contrast.sources])
    threads = make_coder(
        contrast, **options, discrete=real.is_discrete[contrast.sources], first_variable=3, n_jobs=2, block_columns=2
    )
    np.testing.assert_array_equal(coder.codes(1).codes, threads.codes(1).codes)
