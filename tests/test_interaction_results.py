"""What users hold after interactions(): kept, shown, tested again in new samples; and the command."""

from __future__ import annotations

import json
import tomllib
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import interplay
from command_line import in_process
from hostile.commands import run_command
from interplay.report.about import repeat
from interplay.steps.frozen_cuts import NO_LEVEL, variable_cuts

KINDS = ["two levels", "three levels", "triples", "strata", "labels", "continuous", "replication", "empty", "omit"]


def people(seed, n=500):
    """A table of all kinds of columns, with an interaction of a number and a label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"g{v}" for v in range(8)])
    frame["city"] = rng.choice(["Bern", "Graz", "Kiel"], n)
    frame["smokes"] = rng.random(n) < 0.4
    frame["genotype"] = rng.integers(0, 3, n)
    ill = ((frame["g3"] > 0) ^ frame["smokes"]) ^ (rng.random(n) < 0.15)
    return frame, np.where(ill, "ill", "well")


def result(kind):
    X, y = people(0)
    if kind == "two levels":
        return interplay.interactions(X.drop(columns=["city", "genotype"]), y, top=5)
    if kind == "three levels":
        return interplay.interactions(X, y, divisions=2, top=5)
    if kind == "triples":
        return interplay.interactions(X, y, dimensions=3, top=4)
    if kind == "strata":
        return interplay.interactions(X, y, strata="city", top=5)
    if kind == "labels":
        return interplay.interactions(X[["city", "smokes", "g3"]], y, max_p=1)
    if kind == "continuous":
        rng = np.random.default_rng(1)
        outcome = 2 * ((X["g3"] > 0) ^ X["smokes"]) + rng.normal(size=len(X))
        return interplay.interactions(X, outcome, decision_divisions=2, top=3)
    if kind == "replication":
        return interplay.interactions(X, y, top=3, holdout=0.4)
    if kind == "omit":
        X.loc[:30, "g3"] = np.nan
        return interplay.interactions(X, y, missing="omit", top=3)
    return interplay.interactions(X[["g0", "g1", "g2"]], y)


@pytest.fixture(params=KINDS)
def found(request):
    return result(request.param)


# --- Kept and shown ---------------------------------------------------------------------------------------------------


def test_saved_and_loaded(found, tmp_path):
    found.save(tmp_path / "pairs")
    loaded = interplay.load(tmp_path / "pairs")
    assert isinstance(loaded, interplay.Interactions)
    pd.testing.assert_frame_equal(loaded.table, found.table)
    assert repr(loaded) == repr(found)
    assert loaded.settings == json.loads(json.dumps(found.settings))
    if found.settings["missing"] == "error" and not found.provenance["strata"] and not len(found.outcome.bounds):
        X, y = people(0)
        again = interplay.interactions(X[found.names], y, **loaded.settings)
        pd.testing.assert_frame_equal(again.table, found.table)
    if len(found):
        assert (loaded.counts_of(0).counts == found.counts_of(0).counts).all()


def test_damaged_files_are_refused(tmp_path):
    result("three levels").save(tmp_path / "pairs")
    with zipfile.ZipFile(tmp_path / "pairs") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(entries["interactions.json"])
    changes = [
        lambda content: content.update(n_tests=1),
        lambda content: content["settings"]["dict"].update(level=2.0),
        lambda content: content["cuts"]["tuple"].pop(),
        lambda content: content["outcome"]["labels"].pop(),
        lambda content: content["tested"].update(chi2={"array": "interactions.tested.df"}),
        lambda content: content["tested"].update(tuples={"array": "interactions.tested.residual_cell"}),
        lambda content: content.pop("names"),
    ]
    for number, change in enumerate(changes):
        copy = json.loads(json.dumps(document))
        change(copy["content"])
        path = tmp_path / f"damaged{number}"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in (entries | {"interactions.json": json.dumps(copy).encode()}).items():
                archive.writestr(name, data)
        with pytest.raises(ValueError, match="is not a saved list of interactions, or is damaged"):
            interplay.load(path)
    document["version"] = 99
    with zipfile.ZipFile(tmp_path / "newer", "w") as archive:
        archive.writestr("interactions.json", json.dumps(document))
    with pytest.raises(ValueError, match="newer interplay"):
        interplay.load(tmp_path / "newer")


def test_it_is_frozen_and_prints(found):
    with pytest.raises(AttributeError):
        found.names = []
    assert "interaction" in repr(found).splitlines()[0]
    assert "<b>" in found._repr_html_()
    table = found.table
    table["chi2"] = 0
    assert len(found) == 0 or found.table["chi2"].iloc[0] > 0


def test_tables_are_written(found, tmp_path):
    from interplay.results.table_file import write_table

    for ending in ("csv", "json", "parquet"):
        write_table(found.table, tmp_path / f"pairs.{ending}")
    assert list(pd.read_csv(tmp_path / "pairs.csv").columns) == list(found.table.columns)


def test_plots(found):
    plt = pytest.importorskip("matplotlib.pyplot")
    if found.first is not None:
        assert len(found.plot.effects().get_legend().get_texts()) == 2
    else:
        found.plot.effects()
    found.plot.network()
    if len(found):
        names = [found.names[v] for v in found.counts_of(0).members]
        assert found.plot.why(0).get_xlabel() == names[0]
    plt.close("all")


def test_the_graph_joins_members_of_significant_tuples():
    pytest.importorskip("networkx")
    graph = result("two levels").graph()
    assert {frozenset(edge) for edge in graph.edges} == {frozenset(("g3", "smokes"))}
    assert graph.edges["g3", "smokes"]["p_adjusted"] < 1e-6
    assert len(result("two levels").graph(only_significant=False).edges) == 5
    assert len(result("triples").graph(only_significant=False).edges) > 3


def test_the_report_is_one_page_with_names_as_text(tmp_path):
    X, y = people(3)
    X = X.rename(columns={"g3": "<script>alert(1)</script>"})
    interplay.interactions(X, y, top=3).to_html(tmp_path / "pairs.html")
    page = (tmp_path / "pairs.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "interaction</span>" in page


def test_all_reports_can_be_written(found, tmp_path):
    found.to_html(tmp_path / "pairs.html")
    assert found.headline().split(" (")[0] in (tmp_path / "pairs.html").read_text(encoding="utf-8")


def test_the_cell_of_the_largest_residual_is_in_words():
    first = result("labels").table.iloc[0]
    assert first["members"] == ("smokes", "g3")
    assert np.isfinite(first["log_or"])
    assert first["cell"] == ""
    with_city = result("labels").table.set_index("members").loc[[("city", "g3")]].iloc[0]
    assert with_city["cell"].startswith("city = ")
    assert with_city["cell"].endswith((": ill", ": well"))


def test_many_samples_of_cut_numbers_are_warned_of():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 3))
    y = rng.integers(0, 2, 12_000)
    assert any("cutting numbers into levels" in note for note in interplay.interactions(X, y, max_p=1).notes())
    whole = (X > 0).astype(int)
    assert not any("cutting" in note for note in interplay.interactions(whole, y, max_p=1).notes())


# --- New samples ------------------------------------------------------------------------------------------------------


def test_the_same_samples_give_the_same_tests(found):
    if found.first is not None:
        X, y = people(0)
        with pytest.raises(ValueError, match="is a replication already"):
            found.replicate(X, y)
        return
    X, y = people(0)
    strata = None
    if found.settings["missing"] == "omit":
        X.loc[:30, "g3"] = np.nan
    if len(found.outcome.bounds):
        y = 2 * ((X["g3"] > 0) ^ X["smokes"]) + np.random.default_rng(1).normal(size=len(X))
    if found.provenance["strata"]:
        strata = "city"
    again = found.replicate(X, y, strata=strata)
    assert again.n_tests == len(found)
    for name in ("chi2", "df", "min_expected", "log_or", "residual", "gain", "gain_alone", "n_samples"):
        first, second = getattr(again.first, name), getattr(again.tested, name)
        assert np.allclose(first, second, equal_nan=True), name
    for one, other in zip(found.counts, sorted(again.counts, key=lambda c: rank(found, c)), strict=True):
        assert (one.counts == other.counts).all()
        assert one.level_names == other.level_names
    assert again.table["same_direction"].isin([True, None]).all()


def rank(found, counts):
    return found.tested.tuples.tolist().index(counts.members.tolist())


def test_new_samples_are_cut_where_the_first_were():
    X, y = people(1)
    first = interplay.interactions(X, y)
    new, new_y = people(2, n=900)
    again = first.replicate(new[["smokes", "g3", "city"]], new_y)
    threshold = first.cuts_of(X.columns.get_loc("g3")).thresholds[0, 0]
    assert threshold == pytest.approx(X["g3"].median(), abs=0.02)
    counts = again.counts_of(0)
    above = new["g3"] > threshold
    expected = [
        [[np.sum((above == a) & (new["smokes"] == s) & (new_y == c)) for c in ("ill", "well")] for s in (False, True)]
        for a in (False, True)
    ]
    assert counts.counts.tolist() == expected
    assert again.significant == [("g3", "smokes")]
    assert again.table["first_p_value"].tolist() == first.table["p_value"].tolist()


def test_values_that_were_not_there_are_left_out():
    X, y = people(1)
    first = interplay.interactions(X, y, variables=["city", "genotype"], max_p=1)
    new, new_y = people(5)
    new.loc[:49, "city"] = "Oslo"
    new["genotype"] = new["genotype"].astype(float)
    new.loc[100:119, "genotype"] = np.nan
    new.loc[120:129, "genotype"] = 7
    n_samples = first.replicate(new, new_y).table.set_index("members")["n_samples"]
    assert n_samples[[("city", "smokes")]].item() == 450
    assert n_samples[[("g3", "genotype")]].item() == 470
    assert n_samples[[("city", "genotype")]].item() == 420


def test_codes_of_new_columns():
    from interplay.steps.discrete_codes import make_coder
    from interplay.steps.table import as_table

    X = pd.DataFrame({"a": [0.1, 0.5, 0.9, 0.4], "b": [1, 2, np.nan, 1], "c": ["x", "y", "x", "z"]})
    coder = make_coder(
        as_table(X), divisions=1, discretizations=1, range_=0.0, seed=0, missing="level", discrete=[1, 2]
    )
    new = as_table(pd.DataFrame({"a": [0.5, 0.51, np.nan], "b": [2.0, 3.0, np.nan], "c": ["z", "w", None]}))
    codes = [variable_cuts(coder, v).codes(new.column(v), 0).tolist() for v in range(3)]
    assert codes == [[0, 1, NO_LEVEL], [1, NO_LEVEL, 2], [2, NO_LEVEL, NO_LEVEL]]
    assert variable_cuts(coder, 1).codes(new.column(1), 0, omit_missing=True).tolist() == [1, NO_LEVEL, NO_LEVEL]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X.drop(columns="g3"), y), "X lacks the variable 'g3'"),
        (
            lambda X, y: (X, np.where(y == "ill", "dead", y)),
            "y has the class 'dead', which the first samples do not have",
        ),
        (lambda X, y: (X, np.full(len(y), "ill")), "y has one class only"),
        (lambda X, y: (X, y[:-1]), "y must have one value per sample"),
    ],
)
def test_new_samples_that_do_not_fit(change, words):
    first = interplay.interactions(*people(1))
    with pytest.raises(ValueError, match=words):
        first.replicate(*change(*people(2)))


def test_classes_may_be_written_otherwise():
    X, y = people(1)
    first = interplay.interactions(X, (y == "ill").astype(int))
    new, new_y = people(2)
    again = first.replicate(new, (new_y == "ill").astype(float))
    assert again.significant == [("g3", "smokes")]
    with pytest.raises(ValueError, match="has the class 'False'"):
        first.replicate(new, new_y == "ill")


def test_a_continuous_outcome_is_cut_where_the_first_was():
    found = result("continuous")
    new, _ = people(9)
    outcome = 2 * ((new["g3"] > 0) ^ new["smokes"]) + np.random.default_rng(3).normal(size=len(new)) + 1
    again = found.replicate(new, outcome)
    bounds = found.outcome.bounds
    assert list(again.class_sizes.values()) == np.bincount(np.searchsorted(bounds, outcome)).tolist()


def test_a_holdout_is_a_search_and_a_replication():
    X, y = people(4)
    found = interplay.interactions(X, y, holdout=0.4, top=6, random_state=5)
    rng_free = found.provenance["found in"]["n_samples"]
    assert (rng_free, found.provenance["n_samples"]) == (300, 200)
    share = found.class_sizes["ill"] / np.sum(y == "ill")
    assert share == pytest.approx(0.4, abs=0.01)
    assert found.n_tests == len(found) == 6
    assert found.significant == [("g3", "smokes")]
    pd.testing.assert_frame_equal(found.table, interplay.interactions(X, y, holdout=200, top=6, random_state=5).table)
    other = interplay.interactions(X, y, holdout=0.4, top=6, random_state=6)
    assert not other.table["chi2"].equals(found.table["chi2"])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"dimensions": 3},
        {"dimensions": 2, "strata": "city"},
        {"dimensions": 2, "divisions": 2, "discretizations": 2},
    ],
)
def test_the_tests_of_a_selection_are_kept_and_shown_alike(settings, tmp_path):
    X, y = people(4)
    found = interplay.select(X, y, random_state=0, **settings).interactions()
    found.save(tmp_path / "pairs")
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "pairs").table, found.table)
    found.to_html(tmp_path / "pairs.html")
    assert "of relevant variables" in found.headline()
    assert found.headline() in (tmp_path / "pairs.html").read_text(encoding="utf-8").replace("&lt;", "<")
    found.plot.effects()


def test_a_selection_is_replicated():
    X, y = people(4)
    selection = interplay.select(X, y, dimensions=2, random_state=0)
    again = selection.replicate(*people(6))
    assert again.significant == [("g3", "smokes")]
    assert len(again) == 1
    assert len(selection.interactions().replicate(*people(6))) == len(selection.interactions())
    nothing = interplay.select(X, np.random.default_rng(0).permutation(y), dimensions=2, random_state=0)
    assert len(nothing.replicate(*people(6))) == 0


# --- The command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def command(monkeypatch, capfd):
    return partial(in_process, monkeypatch, capfd)


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
    assert record["holdout"] == "0.3"
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
    assert "max_p must be" in command(*options, "--max-p", 2).error_line


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
        (["--holdout", "half"], "--holdout 'half' is neither a share"),
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


def test_the_report_names_the_call_of_the_search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = (X[:, 1] > 0) ^ (X[:, 2] > 0)
    selection = interplay.select(X, y, dimensions=2, random_state=0)
    call = repeat(selection.interactions())
    assert call.startswith("import interplay\n\nresult = interplay.select(\n    X, y,")
    assert call.endswith(").interactions()")
    names = {"X": X, "y": y}
    exec(call, names)
    assert names["result"].significant == selection.interactions().significant
    found = interplay.interactions(X, y)
    again = found.replicate(X, y, p_adjust="BH")
    assert again.settings["p_adjust"] == "BH"
    assert repeat(again) == repeat(found)
    positions = np.arange(8) * 10.0
    apart = interplay.interactions(X, y, min_distance=5, positions=positions)
    assert " positions=positions," in repeat(apart)
