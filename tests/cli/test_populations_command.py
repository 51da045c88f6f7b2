"""`--pcs` and `--loco auto`: the commands do what the functions of `interplay.genetics` do."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bed_reader import to_bed

import interplay

N, P = 300, 30


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Two populations, which differ in the trait and in most variants; three chromosomes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    population = np.arange(N) % 2
    frequency = np.clip(rng.uniform(0.3, 0.7, P) + rng.normal(scale=0.15, size=(2, P)), 0.1, 0.9)[population]
    X = rng.binomial(2, frequency).astype(np.int8)
    trait = X @ rng.normal(size=P) / 4 + 2 * population + rng.normal(size=N)
    age = rng.uniform(20, 70, N)
    properties = {"chromosome": [str(v // 10 + 1) for v in range(P)], "bp_position": [1000 * v for v in range(P)],
                  "sid": [f"rs{v}" for v in range(P)], "iid": [f"p{i}" for i in range(N)],
                  "pheno": [f"{value:.5f}" for value in trait]}  # fmt: skip
    to_bed("study.bed", X, properties=properties)
    pd.DataFrame({"IID": properties["iid"], "age": age}).to_csv("people.csv", index=False)
    return Path("study.bed")


def test_components_are_covariates(command, study):
    done = command("run", study, "-k", 1, "--pcs", 2, "--save", "found", "--seed", 1, "--covariate-file", "people.csv")
    assert done.code == 0, done.err
    found = interplay.load("found")
    assert found.provenance["covariates"] == ["age", "PC1", "PC2"]
    table = interplay.genetics.read_bed(study)
    known = interplay.genetics.principal_components(table, 2)
    known.insert(0, "age", pd.read_csv("people.csv")["age"].to_numpy())
    expected = interplay.select(table, "phenotype", dimensions=1, covariates=known, random_state=1)
    names = ["variable", "p_value", "p_adjusted", "relevant"]
    pd.testing.assert_frame_equal(found.table[names], expected.table[names])


def test_components_and_offsets_in_a_search_of_pairs(command, study):
    options = ["--top", 5, "--save", "found", "--write-config", "again.toml"]
    done = command("interactions", study, "--pcs", 2, "--loco", "auto", *options)
    assert done.code == 0, done.err
    found = interplay.load("found")
    assert found.provenance["covariates"] == ["PC1", "PC2"]
    assert found.provenance["offset by chromosome"] == ["1", "2", "3"]
    table = interplay.genetics.read_bed(study)
    known = interplay.genetics.principal_components(table, 2)
    offsets = interplay.genetics.polygenic_offsets(table, "phenotype", known)
    assert offsets.index[:2].tolist() == ["p0", "p1"]
    expected = interplay.interactions(table, "phenotype", covariates=known, offset=offsets, top=5)
    pd.testing.assert_frame_equal(found.table, expected.table)
    again = command("interactions", "--config", "again.toml", "--save", "again")
    assert again.code == 0, again.err
    pd.testing.assert_frame_equal(interplay.load("again").table, expected.table)


def test_a_text_file(command, study):
    table = interplay.genetics.read_bed(study)
    frame = pd.DataFrame(table.columns(slice(None)).T, columns=table.names).astype(int)
    frame.assign(trait=table.phenotype).to_csv("table.csv", index=False)
    done = command("interactions", "table.csv", "--target", "trait", "--pcs", 3, "--top", 2, "--save", "found")
    assert done.code == 0, done.err
    assert interplay.load("found").provenance["covariates"] == ["PC1", "PC2", "PC3"]
    taken = frame.rename(columns={"rs3": "PC1"}).assign(trait=table.phenotype)
    taken.to_csv("taken.csv", index=False)
    done = command("run", "taken.csv", "--target", "trait", "--pcs", 3)
    assert done.code == 2
    assert "--pcs: the file has a column PC1 already" in done.err


@pytest.mark.parametrize(("options", "message"), [
    (["--loco", "auto", "--offset", "age"], "--loco does not go with --offset"),
    (["--pcs", 0], "0 is not in the range"),
    (["--pcs", 150], "--pcs 150 is too many for 300 samples: give at most 100"),
])  # fmt: skip
def test_refusals(command, study, options, message):
    done = command("interactions", study, *options)
    assert done.code == 2
    assert message in done.err
