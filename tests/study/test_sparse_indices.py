"""Sparse matrices whose indices point outside: SciPy's compiled code would read and write there."""

import anndata
import numpy as np
import pytest
import scipy.sparse as sp

import interplay

RNG = np.random.default_rng(0)
DENSE = RNG.poisson(0.5, size=(60, 8)).astype(np.float64)
Y = np.arange(60) % 2


def damaged(make, part, place, value):
    X = make(DENSE)
    getattr(X, part)[place] = value
    return X


DAMAGE = {
    "csr": [("indices", 5, 10**9), ("indices", 5, 8), ("indices", 0, -1), ("indptr", 3, 10**9), ("indptr", 3, -5)],
    "csc": [("indices", 5, 10**9), ("indices", 5, 60), ("indptr", 3, 10**9), ("indptr", 0, 1), ("indptr", -1, 10**6)],
    "coo": [("row", 5, 10**9), ("row", 5, -1), ("col", 5, 8)],
    "bsr": [("indices", 1, 10**6), ("indptr", 1, 10**6)],
}
CASES = [(getattr(sp, f"{name}_array"), *how) for name, ways in DAMAGE.items() for how in ways]
WAYS = {
    "maxima": lambda X: interplay.max_information_gain(X, Y, dimensions=1),
    "AnnData": lambda X: interplay.interactions(anndata.AnnData(X), Y),
    "layer": lambda X: interplay.singlecell.from_anndata(anndata.AnnData(DENSE, layers={"raw": X}), layer="raw"),
    "fit": lambda X: interplay.MDFSSelector(dimensions=1).fit(X, Y),
    "transform": lambda X: interplay.MDFSSelector(dimensions=1, min_features=2).fit(DENSE, Y).transform(X),
}


@pytest.mark.parametrize(("make", "part", "place", "value"), CASES)
def test_indices_outside_are_refused(make, part, place, value):
    X = damaged(make, part, place, value)
    with pytest.raises(ValueError, match=r"^X is a damaged sparse matrix: "):
        interplay.max_information_gain(X, Y, dimensions=1)


@pytest.mark.filterwarnings("ignore::anndata.ImplicitModificationWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix])
def test_every_way_in_checks_indices(way, make):
    with pytest.raises(ValueError, match=r"^X is a damaged sparse matrix: "):
        WAYS[way](damaged(make, "indices", 5, 10**9))


def test_unused_room_behind_the_entries_is_no_damage():
    X = sp.csr_array(DENSE)
    roomy = sp.csr_array(DENSE)
    roomy.data, roomy.indices = np.r_[X.data, 1.0], np.r_[X.indices, np.int32(0)]
    np.testing.assert_array_equal(
        interplay.max_information_gain(roomy, Y).gain, interplay.max_information_gain(DENSE, Y).gain
    )
