"""select(offset=read_loco(…), dimensions=1): each variable is tested beside the prediction without its chromosome."""

import numpy as np
import pandas as pd
import pytest
from bed_reader import to_bed

import interplay
from interplay.genetics import read_bed

N, CHROMOSOMES, EACH = 500, 3, 8


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Three chromosomes with a strong and a weaker cause each, beside what the two others predict."""
    rng = np.random.default_rng(5)
    G = rng.binomial(2, 0.4, (N, CHROMOSOMES * EACH))
    effects = np.zeros(CHROMOSOMES * EACH)
    effects[::EACH], effects[3::EACH] = 0.8, 0.25
    parts = np.array([G[:, c * EACH : (c + 1) * EACH] @ effects[c * EACH : (c + 1) * EACH] for c in range(CHROMOSOMES)])
    parts -= parts.mean(axis=1, keepdims=True)
    path = tmp_path_factory.mktemp("loco") / "study.bed"
    people = [f"p{i}" for i in range(N)]
    properties = {
        "fid": people, "iid": people, "sid": [f"rs{v}" for v in range(G.shape[1])],
        "chromosome": np.repeat(["1", "2", "3"], EACH), "bp_position": np.arange(1, G.shape[1] + 1),
        "allele_1": ["T"] * G.shape[1], "allele_2": ["C"] * G.shape[1],
    }  # fmt: skip
    to_bed(path, G.astype(np.int8), properties=properties)
    y = parts.sum(axis=0) + rng.normal(size=N)
    loco = pd.DataFrame({label: parts.sum(axis=0) - parts[c] for c, label in enumerate(("1", "2", "3"))}, index=people)
    return path, G, y, loco


@pytest.mark.parametrize("kind", ["number", "classes", "times"])
def test_as_a_call_for_each_chromosome(study, kind, tmp_path):
    path, _, y, loco = study
    rng = np.random.default_rng(1)
    outcome = {
        "number": y,
        "classes": np.where(y + 0.3 * rng.normal(size=N) > 0, "case", "control"),
        "times": (np.exp(-y) * rng.exponential(size=N), rng.random(N) < 0.8),
    }[kind]
    settings = {"dimensions": 1, "random_state": 0}
    age = rng.normal(size=N)
    found = interplay.select(read_bed(path), outcome, offset=loco, covariates=age, **settings)
    assert {"rs0", "rs8", "rs16"} <= set(found.relevant)
    assert found.relevant == found.table.sort_values("p_value")["variable"][: len(found.relevant)].to_list()
    table = found.table.set_index("variable")
    for label in loco:
        here = read_bed(path, variants=np.array([place[0] == label for place in read_bed(path).positions]))
        alone = interplay.select(
            here, outcome, offset=loco[label].to_numpy(), covariates=age, p_adjust="none", **settings
        )
        one = alone.table.set_index("variable")
        both = one.index[one["relevant"] == table.loc[one.index, "relevant"]]
        assert len(both) >= EACH - 3
        np.testing.assert_allclose(table.loc[both, "p_value"], one.loc[both, "p_value"], rtol=1e-12)
        known = [name for name in found.relevant if name in one.index and name in alone.relevant]
        for column in ("direction", "effect", "effect_low", "p_model"):
            assert table.loc[known, column].to_list() == pytest.approx(one.loc[known, column].to_list()), column
        if "beta" in one:  # of times there is none
            np.testing.assert_allclose(table.loc[one.index, "beta"], one["beta"], rtol=1e-9)
    assert found.provenance["offset by chromosome"] == ["1", "2", "3"]
    found.save(tmp_path / "found")
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "found").table, found.table)
    found.to_html(tmp_path / "report.html")
    assert found.summary().startswith(f"{len(found.relevant)} of {CHROMOSOMES * EACH} variables relevant")


def test_the_command_and_refusals(study, command):
    path, _, y, loco = study
    traits = pd.DataFrame({"FID": loco.index, "IID": loco.index, "y": y})
    traits.to_csv(path.with_name("traits.txt"), sep=" ", index=False)
    options = ["run", path, "--pheno", path.with_name("traits.txt"), "--pheno-name", "y", "--loco", "auto", "--seed", 0]
    done = command(*options, "-k", 1)
    assert done.code == 0, done.err
    assert "rs8" in done.out
    assert "give -k 1" in command(*options).error_line
    assert "give the number of variables" in command(*options, "-k", 1, "--best", "auto").error_line
    table = read_bed(path)
    for asked in ({}, {"dimensions": 2}, {"dimensions": (1, 2)}):
        with pytest.raises(ValueError, match="give dimensions=1"):
            interplay.select(table, y, offset=loco, **asked)
    with pytest.raises(ValueError, match="holdout does not go with an offset for each chromosome"):
        interplay.select(table, y, offset=loco, dimensions=1, holdout=0.3)
    with pytest.raises(ValueError, match="checkpoint does not go with an offset for each chromosome"):
        interplay.select(table, y, offset=loco, dimensions=1, checkpoint="run.ckpt")
    with pytest.raises(ValueError, match="read a file of genotypes"):
        interplay.select(np.zeros((N, 3)) + np.arange(3), y, offset=loco, dimensions=1)
