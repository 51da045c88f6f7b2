"""select() over several dimensions in one call: every way to run it gives the same, and everything shows it."""

import json
from functools import partial
from math import comb

import numpy as np
import pandas as pd
import pytest

import interplay
from command_line import in_process
from one_call_problem import N_VARS, found_in_mixed_effects, mixed_effects


@pytest.fixture(scope="module")
def data():
    return mixed_effects()


@pytest.fixture(scope="module")
def found():
    return found_in_mixed_effects()


# --- Every way to run it ----------------------------------------------------------------------------------------------


def assert_same(a, b):
    assert np.array_equal(a.log_p, b.log_p)
    assert a.relevant == b.relevant
    assert a.table.equals(b.table)
    for one, other in zip(a.tests, b.tests, strict=True):
        assert (one.name, one.arm, one.weight) == (other.name, other.arm, other.weight)
        assert np.array_equal(one.log_p, other.log_p, equal_nan=True)
        assert np.array_equal(one.tuples, other.tuples)


@pytest.mark.filterwarnings("ignore:column 'flag' of X determines y completely")  # of two of the classes, it does
@pytest.mark.parametrize(("multiclass", "with_strata"), [("joint", True), ("ovo", False), ("ovr", True)])
def test_shards_checkpoints_and_files_give_the_same(tmp_path, multiclass, with_strata):
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(240, 12)), columns=[f"g{v}" for v in range(12)])
    X["flag"] = rng.random(240) < 0.4
    X["city"] = rng.choice(["a", "b", "c"], 240)
    y = np.where(X["g1"] * X["g2"] + X["g5"] > 0.3, "ill", np.where(X["flag"], "well", "unknown"))
    how = {
        "dimensions": (1, 2, 3),
        "multiclass": multiclass,
        "n_contrast": 40,
        "random_state": 3,
        "strata": rng.integers(0, 2, 240) if with_strata else None,
    }
    plain = interplay.select(X, y, **how)
    for i in (1, 2, 3):
        interplay.search_shard(X, y, shard=(i, 3), **how).save(tmp_path / f"part{i}")
    assert_same(interplay.merge_parts(sorted(tmp_path.glob("part*"), reverse=True), X=X), plain)
    kept = tmp_path / "run.ckpt"
    assert_same(interplay.select(X, y, **how, checkpoint=kept), plain)
    assert_same(interplay.select(X, y, **how, checkpoint=kept, n_jobs=2), plain)
    with pytest.raises(ValueError, match=r"belongs to another search \(dimensions"):
        interplay.select(X, y, **how | {"dimensions": (1, 2)}, checkpoint=kept)
    plain.save(tmp_path / "run")
    loaded = interplay.load(tmp_path / "run")
    assert_same(loaded, plain)
    assert loaded.summary() == plain.summary()
    assert np.isnan([test.log_p[13] for test in plain.tests if test.name in ("rank", "given", "product 2")]).all()
    assert loaded.comparisons == plain.comparisons
    if multiclass != "joint":
        assert "decision" in plain.table.columns


def test_dask_gives_the_same(data):
    distributed = pytest.importorskip("distributed")
    X, y = data[0][:, :20], data[1]
    plain = interplay.select(X, y, random_state=0)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert_same(interplay.select(X, y, random_state=0, engine=client), plain)


def test_an_interrupt_goes_on_from_the_checkpoint(data, tmp_path, found):
    done: list[float] = []

    def stop_in_the_triples(share):
        done.append(share)
        if share > 0.2:
            raise KeyboardInterrupt

    kept = tmp_path / "run.ckpt"
    with pytest.raises(KeyboardInterrupt):
        interplay.select(
            *data, random_state=0, checkpoint=interplay.Checkpoint(kept, seconds=0), progress=stop_in_the_triples
        )
    shares: list[float] = []
    assert_same(interplay.select(*data, random_state=0, checkpoint=kept, progress=shares.append), found)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_names_of_classes_and_threads_change_nothing(data, found):
    X, y = data
    assert np.allclose(interplay.select(X, np.where(y, "a", "b"), random_state=0).log_p, found.log_p, rtol=1e-9)
    assert_same(interplay.select(X, y, random_state=0, n_jobs=2), found)
    monotone = np.exp(X)
    assert np.allclose(interplay.select(monotone, y, random_state=0).log_p, found.log_p, rtol=1e-9)


# --- What shows it ----------------------------------------------------------------------------------------------------


def test_the_summary_and_the_report_tell_how_each_was_found(found, tmp_path):
    assert found.summary().startswith("7 of 45 variables relevant (adjusted p < 0.05)")
    assert found.details().startswith("1+2+3D; holm-adjusted p; ")
    assert "in triples" not in found.summary()
    found.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    content = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert content["rows"]["found"][:7].count("in triples") == 3
    assert [fit["decision"] for fit in content["nullFits"]] == [test.name for test in found.tests if test.null_fits]
    assert "harmonic mean" in page
    assert "each variable alone, all pairs and all triples" in page


def test_pictures_and_counts_are_of_the_tuple_that_is_shown(found):
    pytest.importorskip("matplotlib").use("Agg")
    for name in ("x3", "x11", "x20"):
        counts = found.counts_of(name)
        partners = found.table.set_index("variable").loc[name, "partners"]
        assert {found.names[v] for v in counts.members} == {name, *partners}
        found.plot.why(name)
    for name in ("gains", "p_values", "correlation", "synergies"):
        getattr(found.plot, name)()
    assert found.plot.gains(dimensions=2).get_title() == "2D"
    found.plot.null_fit(run="2D")
    worst = found.plot.null_fit()  # without a name, the fit that describes its reference variables least well
    named = {test.name: test.null_fits[0].ks_p for test in found.tests if test.null_fits}
    named |= {f"{run.dimensions}D": run.null_fit.ks_p for run in found.runs}
    named = {name: p for name, p in named.items() if not np.isnan(p)}  # exact tests fit nothing
    assert worst.get_title().partition(":")[0] == min(named, key=named.get)
    found.plot.null_fit(run="synergy 2")
    found.plot.null_histogram()


def test_the_picture_of_a_default_result_does_not_contradict_itself(found):
    """Every relevant variable lies above all that are not, and above chance."""
    pytest.importorskip("matplotlib").use("Agg")
    lines = {line.get_label(): line.get_ydata() for line in found.plot.gains().lines}
    relevant = lines[f"relevant ({len(found.relevant)})"]
    assert relevant.min() > lines["not relevant"].max()
    assert (relevant > lines["by chance"][: len(relevant)]).all()
    pairs = found.plot.gains(dimensions=2)
    n_pairs = len(found.of_dimension(2).relevant)
    assert any(line.get_label() == f"relevant ({n_pairs})" for line in pairs.lines)


def test_synergies_are_of_tuples_of_all_sizes(found):
    together = found.synergies(top=1)
    assert set(together["partners"].map(len)) == {1, 2}


def test_the_command_line_and_its_settings_file(data, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    command = partial(in_process, monkeypatch, capfd)
    frame = pd.DataFrame(data[0][:, :14], columns=[f"g{v}" for v in range(14)]).assign(outcome=data[1])
    frame.to_csv("data.csv", index=False)
    options = ["run", "data.csv", "--target", "outcome", "--seed", 1, "--n-contrast", 40]
    assert "variables relevant (adjusted p < 0.05)\n" in command(*options).out
    first = command(
        *options, "-k", "1,2", "--arm", "alone", "--arm", "pairs", "--format", "csv", "--write-config", "a.toml"
    )
    assert first.code == 0
    assert first.out.splitlines()[0].endswith("short_list,found,p_alone,p_pairs,verdict,interacting,p_interaction")
    assert command("run", "--config", "a.toml", "--format", "csv", "data.csv").out == first.out
    assert "p-values" not in command(*options, "-k", "1,2").out  # of the first answer
    assert "not a valid integer" in command(*options, "-k", "1,x").error_line
    assert "--arm names 'couples'" in command(*options, "--arm", "couples").error_line
    dry = command(*options, "--dry-run").out
    n_tuples = sum(comb(14, k) + 40 * comb(14, k - 1) for k in (1, 2, 3, 4))
    assert f"{n_tuples:.4g}" in dry


def test_an_anndata_file_holds_it(data, found, tmp_path):
    anndata = pytest.importorskip("anndata")
    names = [f"x{v}" for v in range(N_VARS)] + ["never searched"]
    adata = anndata.AnnData(np.column_stack([data[0], data[0][:, 0]]), var=pd.DataFrame(index=names))
    found.annotate(adata)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad").var
    assert again.loc["x20", "interplay_found"] == "in triples"
    assert again.loc["never searched", "interplay_found"] == ""


def test_the_selector_has_it_too(data):
    X, y = data
    selector = interplay.MDFSSelector(random_state=0).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["x3", "x9", "x11", "x12", "x20", "x21", "x22"]
    assert np.array_equal(selector.gains_, selector.result_.table["gain"])
    pairs = interplay.MDFSSelector(dimensions=(1, 2), arms=["pairs"], random_state=0).fit(X, y)
    assert pairs.result_.arms == ("pairs",)
