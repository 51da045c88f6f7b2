"""A cross in a csv file of R/qtl: rows of chromosomes and positions under the header are no samples."""

import numpy as np
import pytest

import interplay
from interplay.io import read_data

HEADER = ["bp,sex,id,D1M1,D1M2,D2M1", ",,,1,1,2", ",,,10.5,20,5"]


def written(tmp_path, *rows):
    file = tmp_path / "cross.csv"
    file.write_text("\n".join([*HEADER, *rows]) + "\n")
    return file


def test_a_cross(tmp_path):
    file = written(tmp_path, "101.5,f,m1,A,H,B", "-,m,m2,-,B,H", "98,f,m3,C,D,NA")
    with pytest.warns(UserWarning, match="1 of 3 values is missing"):
        X, y = read_data(file, target="bp", missing_target="drop")
    assert list(y) == [101.5, 98.0]
    assert X.names == ["D1M1", "D1M2", "D2M1"]
    assert X.positions == [("1", 10.5), ("1", 20.0), ("2", 5.0)]
    np.testing.assert_array_equal(X.block(0, 3), [[0, np.nan], [1, np.nan], [2, np.nan]])
    assert list(X.sample_columns["sex"]) == ["f", "f"]


def test_it_is_searched_with_its_positions(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.3f},{i % 2},m{i}," + ",".join(rng.choice(list("AHB-"), 3)) for i in range(80)]
    X, y = read_data(written(tmp_path, *rows), target="bp")
    found = interplay.interactions(X, y, max_p=1, min_distance=12, covariates=["sex"])
    assert found.table["members"].map(set).tolist().count({"D1M1", "D1M2"}) == 0
    assert found.n_tests == 2


def test_other_genotypes_are_refused(tmp_path):
    with pytest.raises(ValueError, match="the genotype 'X' is none of A, H, B, C, D, - and NA"):
        read_data(written(tmp_path, "1,f,m1,A,X,B", "2,f,m2,A,A,B"), target="bp")
