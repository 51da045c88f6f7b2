"""REGENIE's predictions that leave out one chromosome: read, matched by sample, used as an offset."""

import gzip

import numpy as np
import pytest

import interplay
from interplay.genetics import read_loco

TEXT = "FID_IID f1_a f_2_b f3_c\n1 0.25 -0.5 1\n2 0.5 -0.25 2\n23 0 0 3\n"


def test_samples_and_chromosomes(tmp_path):
    file = tmp_path / "step1_1.loco"
    file.write_text(TEXT)
    found = read_loco(file)
    assert found.index.tolist() == ["f1_a", "f_2_b", "f3_c"]
    assert found.columns.tolist() == ["1", "2", "X"]
    assert read_loco(file, samples=["c", "f1_a", "b"])["2"].tolist() == [2.0, 0.5, -0.25]


def test_gzip(tmp_path):
    file = tmp_path / "step1_1.loco.gz"
    file.write_bytes(gzip.compress(TEXT.encode()))
    assert read_loco(file).loc["f3_c", "X"] == 3


@pytest.mark.parametrize(("text", "message"), [
    ("", "first line does not begin with FID_IID"),
    ("ID a b\n1 2 3\n", "first line does not begin with FID_IID"),
    ("FID_IID f_a f_b\n", "has no predictions"),
    ("FID_IID f_a f_b\n1 2\n", "line 2 has 1 predictions for 2 samples"),
    ("FID_IID f_a f_b\n1 2 x\n", "line 2: a prediction is no number"),
    ("FID_IID f_a f_b\n1 2 3\n1 2 3\n", "chromosome '1' is there twice"),
    ("FID_IID f_a f_b\n1 2 NA\n", "a prediction is no number"),
    ("FID_IID f_a f_b\n1 2 nan\n", "no prediction for sample 'f_b'"),
])  # fmt: skip
def test_damaged_files(tmp_path, text, message):
    file = tmp_path / "x.loco"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_loco(file)


def test_samples_that_are_not_there(tmp_path):
    file = tmp_path / "x.loco"
    file.write_text("FID_IID f1_a f2_a f3_c\n1 1 2 3\n")
    with pytest.raises(ValueError, match="'d' has no predictions"):
        read_loco(file, samples=["d"])
    with pytest.raises(ValueError, match="'a' is the name of 2 people: give FID_IID"):
        read_loco(file, samples=["a"])


def test_it_is_an_offset(tmp_path):
    rng = np.random.default_rng(3)
    n = 300
    X = rng.integers(0, 3, size=(n, 6))
    background = rng.normal(size=n)
    y = 2 * background + 0.8 * np.where((X[:, 1] > 0) ^ (X[:, 4] > 0), 1, -1) + rng.normal(size=n)
    file = tmp_path / "step1_1.loco"
    names = [f"f_{i}" for i in range(n)]
    lines = [" ".join(["FID_IID", *names]), " ".join(["1", *(f"{2 * value:.6f}" for value in background)])]
    file.write_text("\n".join(lines) + "\n")
    loco = read_loco(file, samples=names)
    without = interplay.interactions(X, y, variables=["x1"])
    beside = interplay.interactions(X, y, variables=["x1"], offset=loco["1"].to_numpy())
    assert ("x1", "x4") in beside.significant
    assert beside.tested.log_p[0] < (without.tested.log_p[0] if len(without) else 0.0)
