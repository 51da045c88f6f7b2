"""What users hold after interactions(): kept and shown."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import interplay
from fuzz.archives import with_checksums
from interaction_people import KINDS, people, result
from interplay.show.report.about import repeat


@pytest.fixture(params=KINDS)
def found(request):
    return result(request.param)


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
    document = json.loads(entries["content.json"])
    changes = [
        lambda content: content.update(n_tests=1),
        lambda content: content["settings"]["dict"].update(level=2.0),
        lambda content: content["cuts"]["tuple"].pop(),
        lambda content: content["outcome"]["labels"].pop(),
        lambda content: content["tested"].update(statistic={"array": "tested.df"}),
        lambda content: content["tested"].update(tuples={"array": "tested.residual_cell"}),
        lambda content: content["settings"]["dict"].update(missing="all"),
        lambda content: content.pop("names"),
        lambda content: content["tested"].pop("estimate"),
    ]
    for number, change in enumerate(changes):
        copy = json.loads(json.dumps(document))
        change(copy["content"])
        path = tmp_path / f"damaged{number}"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in with_checksums(entries | {"content.json": json.dumps(copy).encode()}).items():
                archive.writestr(name, data)
        with pytest.raises(ValueError, match="is not a saved list of interactions, or is damaged"):
            interplay.load(path)
    document["version"] = 99
    with zipfile.ZipFile(tmp_path / "newer", "w") as archive:
        archive.writestr("content.json", json.dumps(document))
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
    from interplay.show.results.result import write_table

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
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "interaction</span>" in page


def test_all_reports_can_be_written(found, tmp_path):
    found.to_html(tmp_path / "pairs.html")
    assert found.headline().split(" (")[0] in (tmp_path / "pairs.html").read_text(encoding="utf-8")


def test_tuples_have_the_names_they_have_in_selections():
    X, y = people(0)
    for dimensions, words in ((2, "of 28 pairs"), (4, "of 70 quadruples"), (6, "of 28 6-tuples")):
        found = interplay.interactions(X.filter(like="g").drop(columns="genotype"), y, dimensions=dimensions)
        assert words in found.headline()


def test_the_cell_of_the_largest_residual_is_in_words():
    first = result("labels").table.iloc[0]
    assert first["members"] == ("smokes", "g3")
    assert np.isfinite(first["log_or"])
    assert first["cell"] == ""
    with_city = result("labels").table.set_index("members").loc[[("city", "g3")]].iloc[0]
    assert with_city["cell"].startswith("city = ")
    assert with_city["cell"].endswith((": ill", ": well"))


def test_effects_of_cutting_are_told():
    """Correlated skewed numbers whose effects add up: no interaction, in words, table, graph and report."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(2000, 3))
    latent[:, 1] = 0.7 * latent[:, 0] + 0.714 * latent[:, 1]
    X = np.exp(latent)
    found = interplay.interactions(X, X[:, 0] + X[:, 1] + rng.normal(size=2000), scale="values")
    assert found.significant == []
    row = found.table.set_index("members").loc[[("x0", "x1")]].iloc[0]
    assert row["p_adjusted"] < 0.05 <= row["p_smooth_adjusted"]
    assert not row["holds_smooth"]
    assert any("1 of 1 tuples with a significant interaction of levels is only" in note for note in found.notes())
    assert found.only_significant().table.empty
    from interplay.show.report.interaction_page import interactions_page

    page = interactions_page(found)
    assert "effect of cutting" in page
    assert "natural cubic splines" in page


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
