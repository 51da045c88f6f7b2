"""Several outcomes in one call: each result is that of a call for the outcome alone."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import interplay
from interplay.show.results.result import Traits

N = 300


@pytest.fixture(scope="module")
def table():
    """Genotypes, and traits of all kinds: a pair decides of the first, one column of the second, which has gaps."""
    rng = np.random.default_rng(0)
    X = rng.binomial(2, 0.4, (N, 24)).astype(float)
    X[:, 20:] = rng.normal(size=(N, 4))
    pair = (X[:, 3] == 1) * (X[:, 5] == 1)
    Y = pd.DataFrame(
        {
            "product": rng.normal(size=N) + 2 * pair,
            "gaps": rng.normal(size=N) + X[:, 7],
            "class": np.where(rng.random(N) < 0.25 + 0.5 * pair, "case", "control"),
            "noise": rng.normal(size=N),
        }
    )
    Y.loc[Y.index[:25], "gaps"] = np.nan
    Y.loc[Y.index[40:50], "class"] = None
    return X, Y


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize(
    "settings",
    [{}, {"top": 3, "coding": "levels", "n_jobs": 2}, {"max_p": 0.01, "p_adjust": "BH"}, {"variables": [3, 7]}],
)
def test_pairs_of_each_trait_are_those_of_a_call_for_it(table, settings):
    X, Y = table
    found = interplay.interactions(X, Y, **settings)
    assert list(found) == list(Y)
    for name in Y:
        known = Y[name].notna().to_numpy()
        alone = interplay.interactions(X[known], Y.loc[known, name], **settings)
        same(found[name].table, alone.table)
        assert found[name].provenance["data_fingerprint"] == alone.provenance["data_fingerprint"]
        assert found[name].provenance["target"] == name
    assert found["product"].significant[0] == ("x3", "x5")


@pytest.mark.parametrize("settings", [{"dimensions": 1}, {"dimensions": 2, "n_contrast": 30}, {"dimensions": (1, 2)}])
def test_variables_of_each_trait_are_those_of_a_call_for_it(table, settings):
    X, Y = table
    found = interplay.select(X, Y, random_state=1, **settings)
    for name in Y:
        known = Y[name].notna().to_numpy()
        same(found[name].table, interplay.select(X[known], Y.loc[known, name], random_state=1, **settings).table)
    assert "x7" in found["gaps"].relevant


def test_covariates_strata_and_groups_go_with_the_samples(table):
    X, Y = table
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=[f"v{i}" for i in range(24)]).assign(age=rng.normal(size=N), site=np.arange(N) % 3)
    family = np.repeat(np.arange(N // 2), 2)
    numbers = Y[["product", "gaps"]]
    found = interplay.interactions(frame, numbers, covariates="age", strata="site")
    known = Y["gaps"].notna().to_numpy()
    same(
        found["gaps"].table,
        interplay.interactions(frame[known], Y["gaps"][known], covariates="age", strata="site").table,
    )
    assert found["gaps"].provenance["covariates"] == ["age"]
    permuted = interplay.select(X, numbers, groups=family, dimensions=1, n_permutations=39, random_state=0)
    alone = interplay.select(
        X[known], Y["gaps"][known], groups=family[known], dimensions=1, n_permutations=39, random_state=0
    )
    same(permuted["gaps"].table, alone.table)
    np.testing.assert_allclose(permuted.p_adjusted_all[1], np.minimum(2 * alone.p_adjusted, 1))


def test_names_of_columns_and_other_frames(table):
    X, Y = table
    whole = pd.DataFrame(X, columns=[f"v{i}" for i in range(24)]).join(Y)
    by_name = interplay.interactions(whole.drop(columns="class"), ["product", "gaps", "noise"])
    of_polars = interplay.interactions(
        pl.DataFrame(X, schema=[f"v{i}" for i in range(24)]), pl.from_pandas(Y[["product", "gaps", "noise"]])
    )
    same(by_name.table, of_polars.table)


def test_adjusted_over_all_traits(table):
    X, Y = table
    found = interplay.interactions(X, Y, max_p=1)
    p = np.concatenate(
        [np.fmax(np.fmax(one.tested.log_p, one.tested.smooth_log_p), _robust(one)) for one in found.values()]
    )
    by_holm = np.minimum(np.maximum.accumulate(np.exp(np.sort(p)) * (len(p) - np.arange(len(p)))), 1)
    np.testing.assert_allclose(np.sort(np.concatenate(found.p_adjusted_all)), by_holm)
    listed = interplay.interactions(X, Y)
    assert listed.found_all == found.found_all
    assert listed.found_all["product"] == [("x3", "x5")]
    assert (found.table["p_adjusted_all"] >= found.table["p_adjusted"]).all()
    selected = interplay.select(X, Y, dimensions=1, p_adjust="BH", random_state=0)
    from statsmodels.stats.multitest import multipletests

    expected = multipletests(selected.table["p_value"], method="fdr_bh")[1]
    np.testing.assert_allclose(selected.table["p_adjusted_all"], expected)


def _robust(one):
    needed = one.tested.robust_log_p is not None and one.words.needs_robust
    return one.tested.robust_log_p if needed else np.full(len(one), np.nan)


def test_one_file_summary_and_shards(table, tmp_path):
    X, Y = table
    found = interplay.interactions(X, Y, top=2)
    found.save(tmp_path / "all")
    again = interplay.load(tmp_path / "all")
    assert isinstance(again, Traits)
    same(found.table, again.table)
    assert found.summary() == again.summary()
    assert found.summary().startswith("4 traits: ")
    for number in (1, 2):
        interplay.interactions(X, Y, top=2, shard=(number, 2)).save(tmp_path / f"part{number}")
    same(interplay.merge_interactions(sorted(tmp_path.glob("part*"))).table, found.table)
    with pytest.raises(ValueError, match=r"traits\['product'\].to_html"):
        found.to_html(tmp_path / "page.html")
    assert "noise" in found
    assert "other" not in found


def test_checkpoints_of_each_trait(table, tmp_path):
    X, Y = table
    file = tmp_path / "run.ckpt"
    first = interplay.select(X, Y[["product", "gaps"]], dimensions=2, checkpoint=file)
    assert sorted(path.name for path in tmp_path.glob("*.ckpt")) == ["run.1.ckpt", "run.2.ckpt"]
    again = interplay.select(X, Y[["product", "gaps"]], dimensions=2, checkpoint=file)
    same(first.table, again.table)


def test_ctrl_c_hands_over_the_traits_that_are_done(table):
    X, Y = table

    def stop(share):
        if share > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(interplay.SearchInterrupted) as caught:
        interplay.interactions(X, Y, progress=stop)
    assert isinstance(caught.value.partial, Traits)
    assert 0.2 < caught.value.done < 1
    assert len(caught.value.partial) >= 1


def test_where_no_trait_is_done_nothing_is_saved(table, tmp_path):
    def stop(_):
        raise KeyboardInterrupt

    X, Y = table
    with pytest.raises(KeyboardInterrupt) as caught:
        interplay.select(X, Y, dimensions=1, progress=stop)
    partial = caught.value.partial
    assert len(partial) == 0
    assert "0 traits" in partial.summary()
    with pytest.raises(ValueError, match="nothing to save"):
        partial.save(tmp_path / "none.interplay")
    assert not (tmp_path / "none.interplay").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda Y: Y.iloc[:10], "one row per sample: 10 rows, 300 samples"),
        (lambda Y: Y.assign(empty=np.nan), "no values.*trait 'empty'"),
        (lambda Y: Y.to_numpy(), "one column"),
    ],
)
def test_what_is_refused(table, change, message):
    X, Y = table
    with pytest.raises(ValueError, match=message):
        interplay.interactions(X, change(Y))


def test_a_column_that_cannot_be_read_is_named(table):
    X, Y = table
    with pytest.raises(TypeError, match=r"dates or times.*trait 'day'"):
        interplay.select(X, Y.assign(day=pd.date_range("2020", periods=len(Y))))


def test_command_line(table, tmp_path, command):
    X, Y = table
    file, out = tmp_path / "data.csv", tmp_path / "out.csv"
    pd.DataFrame(X, columns=[f"v{i}" for i in range(24)]).join(Y).to_csv(file, index=False)
    traits = ["--trait", "product", "--trait", "gaps", "--trait", "class"]
    done = command("interactions", file, "--drop", "noise", *traits, "--out", out)
    assert done.code == 0, done.err
    assert "3 traits" in done.out
    written = pd.read_csv(out)
    expected = interplay.interactions(X, Y[["product", "gaps", "class"]])
    np.testing.assert_allclose(written["p_value"], expected.table["p_value"])
    assert set(written["trait"]) == set(expected.table["trait"])
    done = command("run", file, "--drop", "noise", *traits, "-k", 1, "--seed", 1, "--format", "csv")
    assert done.code == 0, done.err
    assert done.out.startswith("trait,variable,")
    refused = command("run", file, *traits, "--report", tmp_path / "page.html")
    assert "--report is for one outcome, and --trait names 3" in refused.error_line
    pd.DataFrame(X).assign(time=1.0 + np.arange(len(X)), event=1).to_csv(file, index=False)
    refused = command("run", file, "--trait", "time", "--trait", "event")
    assert "give --time 'time' --event 'event' in place of --trait" in refused.error_line
