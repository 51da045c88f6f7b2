"""Tutorials show what their words say of the table they use. That all of them run is seen by `make docs`."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "examples"

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]  # some tables are odd on purpose


@pytest.fixture
def run(monkeypatch):
    """Run a tutorial by the beginning of its name, without a window, and return its variables."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))

    def run_file(name):
        (file,) = FOLDER.glob(f"{name}*.py")
        return runpy.run_path(str(file))

    yield run_file
    plt.close("all")


def test_only_the_pairs_that_interact_are_found(run, capsys):
    found = run("plot_07")
    printed = capsys.readouterr().out
    assert "additive  []\n" in printed
    for kind in ("modifier", "xor", "threshold"):
        assert f"{kind:9s} [('{kind}_1', '{kind}_2')]\n" in printed
    p_values = {kind: test.table["p_value"].iloc[0] for kind, test in found["tests"].items()}
    assert p_values.pop("additive") > 0.05
    assert max(p_values.values()) < 1e-6


def test_the_true_pairs_replicate(run, capsys):
    found = run("plot_08")
    true = {("rs8", "rs25"), ("rs30", "rs52")}
    assert true <= set(found["found"].significant)
    assert set(found["again"].significant) == true
    assert found["again"].table["same_direction"][found["again"].table["significant"]].all()
    # The winner's curse: too large where it was found, not in new samples.
    estimates, repeated = found["estimates"], found["repeated"]
    assert sum(estimates) / len(estimates) > 2 > sum(repeated) / len(repeated)
    assert "the truth is 1.5" in capsys.readouterr().out


def test_the_progress_of_diabetes(run):
    found = run("plot_09")
    assert len(found["result"].relevant) == 10
    assert found["sex"]["found"] == "given others"
    counts = found["found"]
    # The number finds nearly as much as the best plain test, and more than its cut.
    assert sum(counts["number"]) > sum(counts["cut at the median"]) + 10
    assert sum(counts["number"]) > sum(counts["Spearman"]) - 20
    assert not found["pairs"].significant
    assert found["p_values"]["values"] < 1e-6 < 0.05 < found["p_values"]["logarithms"]
    assert found["explained"]["selected columns"] > found["explained"]["all 110 columns"] + 0.1


def test_prognostic_factors_of_breast_cancer(run):
    found = run("plot_10")
    assert {"pnodes", "progrec"} <= set(found["result"].relevant)
    assert "age" not in found["result"].table["variable"].tolist()  # a covariate
    ratios = found["ratios"]["hazard ratio"]
    assert ratios["pnodes"] > 1 > ratios["progrec"]


def test_the_loci_of_blood_pressure(run):
    found = run("plot_11")
    assert {"1", "4"} <= set(found["found"]["chromosome"].astype(str))
    first = found["pairs"].table.iloc[0]
    assert {name.partition("Mit")[0] for name in first["members"]} == {"D6", "D15"}
    assert first["significant"]


def test_several_rows_per_person(run):
    found = run("plot_12")
    assert any("groups='individual'" in str(message.message) for message in found["said"])
    assert "individual" not in found["result"].names
    assert {"ttme", "gc"} <= set(found["result"].relevant)


def test_expression_of_donors(run):
    found = run("plot_13")
    assert any("groups='donor'" in str(message.message) for message in found["said"])
    assert len(found["false"]) > 3  # of the first day, without groups
    assert found["n_early"] == 0
    assert set(found["known"]) <= set(found["result"].relevant)
    assert (found["table"].loc[found["known"], "direction"] == "higher with symptoms").all()
