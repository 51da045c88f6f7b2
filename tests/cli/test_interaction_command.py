"""`interplay interactions`: the command does what the function does."""

import json
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import interplay
from genotype_study import NAMES, Study
from hostile.commands import run_command
from interaction_people import people


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = people(0)
    X.assign(outcome=y).to_csv("data.csv", index=False)
    return Path("data.csv")


def test_the_command_is_the_function(command, data):
    done = command(
        "interactions", data, "--target", "outcome", "-k", 2, "--out", "pairs.csv", "--report", "pairs.html",
        "--save", "pairs", "--top", 4, "--seed", 3, "--divisions", 2,
    )  # fmt: skip
    assert done.code == 0, done.err
    X, y = people(0)
    X = pd.read_csv(data).drop(columns="outcome")
    expected = interplay.interactions(X, y, divisions=2, top=4, random_state=3)
    pd.testing.assert_frame_equal(interplay.load("pairs").table, expected.table)
    assert len(pd.read_csv("pairs.csv")) == 4
    assert Path("pairs.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert done.out.startswith(expected.headline())
    assert command("report", "pairs", "again.html").code == 0


def test_the_command_takes_sets_positions_and_a_holdout(command, data):
    Path("first.txt").write_text("g3\ng0\n")
    Path("at.csv").write_text("variable,chromosome,position\ng3,1,100\ng4,1,150\nsmokes,2,1\n")
    options = ["--variables", "@first.txt", "--partners", "g4", "--partners", "smokes", "--max-p", 1]
    done = command("interactions", data, "--target", "outcome", *options, "--format", "csv")
    rows = done.out.splitlines()
    assert sorted(row.split(",")[0] for row in rows[1:]) == ["g0;g4", "g0;smokes", "g3;g4", "g3;smokes"]
    options += ["--min-distance", 60, "--positions", "at.csv", "--holdout", "0.3"]
    done = command("interactions", data, "--target", "outcome", *options, "--format", "csv")
    assert done.code == 0, done.err
    assert sorted(row.split(",")[0] for row in done.out.splitlines()[1:]) == ["g0;g4", "g0;smokes", "g3;smokes"]


def test_the_command_can_be_recorded_and_repeated(command, data):
    options = ["--target", "outcome", "--drop", "g1", "--variables", "g3", "--variables", "g0", "--partners", "g4"]
    options += ["--max-p", 1, "--holdout", "0.3"]
    first = command("interactions", data, *options, "--write-config", "pairs.toml", "--format", "csv")
    assert first.code == 0, first.err
    content = Path("pairs.toml").read_text(encoding="utf-8")
    assert content.startswith("# `interplay interactions --config pairs.toml` repeats this run")
    record = tomllib.loads(content)
    assert record["variables"] == ["g3", "g0"]
    assert record["holdout"] == 0.3
    assert isinstance(record["seed"], int)  # it was drawn
    assert command("interactions", "--config", "pairs.toml", "--format", "csv").out == first.out
    # The command line goes before the file.
    other = command("interactions", "--config", "pairs.toml", "--variables", "g3", "--format", "csv")
    assert [row.split(",")[0] for row in other.out.splitlines()[1:]] == ["g3;g4"]
    Path("bad.toml").write_text("n_contrast = 3")
    assert "sets 'n_contrast'" in command("interactions", data, "--config", "bad.toml").error_line


def test_reports_say_what_they_are_about(command, data, tmp_path):
    options = ["--target", "outcome", "--drop", "g1", "--top", 2, "--seed", 3]
    done = command("interactions", data, *options, "--report", "pairs.html", "--save", "pairs")
    assert done.code == 0, done.err
    page = Path("pairs.html").read_text(encoding="utf-8")
    for name, value in (("Outcome", "outcome"), ("File", "data.csv"), ("Samples", "500"), ("Columns left out", "g1")):
        assert f"<dt>{name}</dt><dd>{value}</dd>" in page
    assert "<dt>Date</dt>" in page
    line = "interplay interactions data.csv --target outcome --drop g1 --seed 3 --top 2"
    assert f'<pre id="repeat">{line}</pre>' in page
    saved = interplay.load("pairs")
    assert saved.provenance["source"] == {"file": "data.csv", "dropped": ["g1"], "command": line}
    again = command(*line.split()[1:], "--format", "csv")
    assert again.out == command("interactions", data, *options, "--format", "csv").out
    # From Python, the call is given.
    X, y = people(0)
    interplay.interactions(X, pd.Series(y, name="illness"), top=2, holdout=0.4).to_html("split.html")
    page = Path("split.html").read_text(encoding="utf-8")
    assert "<dt>Outcome</dt><dd>illness</dd>" in page
    assert "result = interplay.interactions(\n    X, y,\n" in page


def test_a_dry_run_of_the_command_measures_and_does_nothing(command, data):
    n_vars = pd.read_csv(data).shape[1] - 1
    options = ["interactions", data, "--target", "outcome", "-k", 2, "--discretizations", 3, "--save", "s", "--dry-run"]
    done = command(*options)
    assert done.code == 0, done.err
    for word in (
        f"{n_vars} variables\n",
        "memory",
        "tuples/s",
        "time",
        "tests    of the tuples that the search leaves",
    ):
        assert word in done.out
    work = json.loads(command(*options, "--format", "json").out)
    assert work["n_tuples"] == 3 * n_vars * (n_vars - 1) / 2
    assert "shard    1/4: an equal share" in command(*options, "--shard", "1/4").out
    # The search leaves out samples that are held out, and repeats itself for permutations of groups.
    held_out = json.loads(command(*options, "--holdout", "0.5", "--format", "json").out)
    assert held_out["n_samples"] == work["n_samples"] / 2
    frame = pd.read_csv(data)
    frame.assign(donor=np.arange(len(frame)) // 2).to_csv("groups.csv", index=False)
    grouped = ["interactions", "groups.csv", "--target", "outcome", "--groups", "donor", "--n-permutations", 39]
    searches = json.loads(command(*grouped, "--dry-run", "--format", "json").out)["n_searches"]
    assert searches == 41
    assert sorted(path.name for path in Path().iterdir()) == ["data.csv", "groups.csv"]
    # What the search would refuse, the dry run refuses.
    assert "--max-p must be" in command(*options, "--max-p", 2).error_line


def test_the_command_reads_files_as_run_does(data):
    frame = pd.read_csv(data)
    frame.loc[[3, 5], "outcome"] = "n.d."
    frame.to_csv("gaps.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = run_command(
            "interactions", "gaps.csv", "--target", "outcome", "--na-values", "n.d.", "--missing-target", "drop",
            "--dry-run", "--format", "json",
        )  # fmt: skip
    assert json.loads(done.out)["n_samples"] == len(frame) - 2
    assert "2 of 500 values are missing" in done.err


def test_the_command_makes_parts(command, data):
    for number in (1, 2):
        done = command("interactions", data, "--target", "outcome", "--shard", f"{number}/2", "--save", f"p{number}")
        assert done.code == 0, done.err
        assert done.out == ""
    merged = command("merge", "p1", "p2", "--format", "csv").out
    assert merged == command("interactions", data, "--target", "outcome", "--seed", 0, "--format", "csv").out
    assert command("interactions", data, "--target", "outcome", "--shard", "1/2").code == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--p-adjust", "hommel"], "hommel"),
        (["--holdout", "half"], "'half' is neither a share such as 0.3"),
        (["--variables", "@nothing.txt"], "nothing.txt"),
        (["--min-distance", "5"], "positions of the variables are not known"),
        (["-k", "1"], "dimensions must be a whole number of at least 2"),
        (["--out", "pairs.xls"], "must end in one of"),
    ],
)
def test_the_command_refuses(command, data, options, words):
    done = command("interactions", data, "--target", "outcome", *options)
    assert done.code == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_bed_files_have_positions(tmp_path):
    bed_reader = pytest.importorskip("bed_reader")
    rng = np.random.default_rng(0)
    genotypes = rng.integers(0, 3, size=(300, 12)).astype("int8")
    ill = ((genotypes[:, 2] == 1) ^ (genotypes[:, 9] == 1)) ^ (rng.random(300) < 0.1)
    properties = {
        "pheno": np.where(ill, "2", "1"),
        "chromosome": ["1"] * 6 + ["2"] * 6,
        "bp_position": (np.arange(12) * 1000).tolist(),
    }
    bed_reader.to_bed(tmp_path / "study.bed", genotypes, properties=properties)
    study = interplay.genetics.read_bed(tmp_path / "study.bed")
    assert study.positions[6] == ("2", 6000.0)
    found = interplay.interactions(study, "phenotype", min_distance=1500)
    assert found.n_tests == 66 - 10
    assert found.significant == [("sid3", "sid10")]


@pytest.fixture
def region(tmp_path, monkeypatch):
    """Two markers, the cause on chromosomes with both, and a column that has nothing to do with it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    markers = rng.random((2, 1000, 2)) < 0.4
    columns = [*(each.sum(axis=1) for each in markers), markers.all(axis=0).sum(axis=1), rng.integers(0, 3, 1000)]
    frame = pd.DataFrame(np.column_stack(columns), columns=["a", "b", "cause", "other"])
    frame["trait"] = frame["cause"] + rng.normal(size=1000)
    frame.drop(columns="cause").to_csv("array.csv", index=False)
    frame[["cause"]].to_csv("dense.csv", index=False)
    Path("at.csv").write_text("variable,chromosome,position\na,1,100\nb,1,900\nother,2,5\n")
    return frame


def test_the_command_says_whether_a_find_is_real(command, region):
    hidden = command("interactions", "array.csv", "--target", "trait", "--tagging", "--positions", "at.csv")
    assert hidden.code == 0, hidden.err
    assert "of 1 it cannot be told" in hidden.out
    told = command(
        "interactions", "array.csv", "--target", "trait", "--tagging", "--dense", "dense.csv", "--report", "a.html"
    )
    assert told.code == 0, told.err
    assert told.out.startswith("0 of 3 pairs have an interaction")
    assert "explained by cause" in Path("a.html").read_text(encoding="utf-8")


def test_the_command_says_whether_a_find_in_times_is_real(command, region):
    rng = np.random.default_rng(1)
    array = region[["a", "b", "other"]].assign(age=rng.normal(size=1000), known=0.5 * region["trait"], start=0.0)
    array["days"] = (
        rng.exponential(np.exp(-1.5 * region["cause"] - 0.5 * array["age"] - array["known"])).round(3) + 0.001
    )
    array["died"] = rng.random(1000) < 0.8
    array.to_csv("times.csv", index=False)
    beside = ["--covariate", "age", "--offset", "known", "--entry", "start"]
    options = ["interactions", "times.csv", "--time", "days", "--event", "died", *beside, "--tagging"]
    assert "of 1 it cannot be told" in command(*options).out
    assert command(*options, "--dense", "dense.csv").out.startswith("0 of 3 pairs have an interaction")


def test_options_of_tagging_and_clumps_are_checked(command, region):
    options = ["interactions", "array.csv", "--target", "trait"]
    assert "--window is for --tagging" in command(*options, "--window", 5).err
    assert "--tagging does not go with --holdout" in command(*options, "--tagging", "--holdout", "0.3").err
    for value in (0, 7, 0.01):
        done = command(*options, "--clump", value)
        assert done.code == 2
        assert "--clump" in done.err
    assert command("run", "array.csv", "--target", "trait", "-k", 1, "--clump", 0.5).code == 0


def test_verdicts_of_tagging_are_columns(tmp_path, command):
    study = Study()
    bed = study.write(tmp_path, ".bed")
    out = tmp_path / "pairs.csv"
    done = command("interactions", bed, "--tagging", "--out", out, "-q", "--seed", 0)
    assert done.code == 0, done.err
    found = pd.read_csv(out)
    assert found.loc[found["significant"], "verdict"].isin(["holds", "cannot be told"]).all()
    assert "explained_by" in found.columns


@pytest.mark.parametrize("ending", [".bim", ".pvar", ".csv"])
def test_files_of_positions(tmp_path, command, ending):
    study = Study()
    bed = study.write(tmp_path, ".bed")
    file = bed.with_suffix(ending)
    if ending == ".pvar":
        study.write_pvar(file)
    elif ending == ".csv":
        rows = zip(NAMES, study.chromosomes, study.positions, strict=True)
        file.write_text("variable,chromosome,position\n" + "".join(f"{v},{c},{p}\n" for v, c, p in rows))
    how = ("--min-distance", 3000, "--positions", file, "--seed", 0, "--format", "csv", "--top", 5)
    done = command("interactions", bed, *how)
    assert done.code == 0, done.err
    assert "Warning" not in done.err
    assert done.out == command("interactions", bed, "--min-distance", 3000, *how[4:]).out


def test_variants_without_genotypes_are_named(tmp_path, command):
    study = Study()
    study.genotypes[:, [2, 3]] = -1
    bed = study.write(tmp_path, ".bed")
    how = ("--missing", "level", "--seed", 0)
    for search in (("interactions", bed), ("run", bed, "-k", 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            done = command(*search, *how)
        assert done.code == 0, done.err
        assert done.err.count("columns 'rs2', 'rs3' have no values: nothing can be found in them") == 1
    study.genotypes[:] = -1
    refused = command("run", study.write(tmp_path, ".bed"), "--missing", "impute").error_line
    assert "the table has no variables: give at least one" in refused
