"""The calibration study's own code, on a tiny study, and the page that is written from its results."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.calibration import rows  # noqa: E402
from benchmarks.calibration.__main__ import PAGE, PICTURES, RESULT  # noqa: E402
from benchmarks.calibration.cells import ALL_CELLS, DEFAULT_CELLS, ONE_CALL_CELLS, Cell  # noqa: E402
from benchmarks.calibration.null_data import N_PLANTED, make_data  # noqa: E402
from benchmarks.calibration.one_dimension import any_selected  # noqa: E402
from benchmarks.calibration.pictures import draw_all  # noqa: E402
from benchmarks.calibration.repetition import repeat  # noqa: E402
from benchmarks.calibration.study import run_study  # noqa: E402
from benchmarks.calibration.summary import binomial_interval, summarise, too_bold  # noqa: E402
from benchmarks.calibration.tables import fill, make_tables  # noqa: E402

#: One cell each of noise in 1D, noise in 2D with a number of contrast variables, planted signals, and noise in 2D.
TINY = [
    Cell(dimensions=1, n_samples=100),
    Cell(n_contrast=30),
    Cell(dimensions=1, planted=True),
    Cell(),
]


@pytest.fixture(scope="module")
def tiny_study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    run_study(TINY, folder, repetitions=3)
    return folder, rows.gather(folder, TINY)


def test_every_repetition_has_one_row(tiny_study):
    table = tiny_study[1]
    assert table.groupby("cell", observed=True)["repetition"].apply(list).tolist() == [[0, 1, 2]] * len(TINY)
    assert set(table["cell"]) == {cell.name for cell in TINY}


def test_a_killed_study_goes_on(tiny_study, tmp_path):
    """What is there is kept, a torn line is done again, and in the end all is as if nothing had happened."""
    cell = TINY[0]
    whole = rows.path_of(tiny_study[0], cell).read_text()
    lines = whole.splitlines(keepends=True)
    torn = rows.path_of(tmp_path, cell)
    torn.write_text(lines[0] + lines[1][:40])
    run_study([cell], tmp_path, repetitions=2)
    assert torn.read_text() == lines[0] + lines[1]
    run_study([cell], tmp_path, repetitions=3)
    assert torn.read_text() == whole
    run_study([cell], tmp_path, repetitions=3)
    assert torn.read_text() == whole


def test_processes_make_no_difference(tiny_study, tmp_path):
    run_study(TINY[:2], tmp_path, repetitions=3, jobs=2)
    for cell in TINY[:2]:
        assert rows.path_of(tmp_path, cell).read_text() == rows.path_of(tiny_study[0], cell).read_text()


def test_tables_and_pictures_are_made(tiny_study, tmp_path):
    table = tiny_study[1]
    table.to_parquet(tmp_path / "study.parquet")
    again = pd.read_parquet(tmp_path / "study.parquet")
    tables = make_tables(summarise(again))
    assert tables == make_tables(summarise(table))
    assert TINY[0].name in tables["all_null"]
    assert TINY[1].name in tables["fits"]
    assert TINY[2].name in tables["planted"]
    page = fill("# Page\n<!-- table: planted -->\n<!-- end -->\nend", tables)
    assert page == f"# Page\n<!-- table: planted -->\n{tables['planted']}\n<!-- end -->\nend"
    draw_all(again, summarise(again), tmp_path / "images")
    assert {path.name for path in (tmp_path / "images").iterdir()} == {
        path.name for path in PICTURES.glob("calibration_*.png")
    }


def test_names_of_cells_are_unique():
    assert len({rows.path_of(Path(), cell) for cell in ALL_CELLS}) == len(ALL_CELLS)
    assert len({cell.name for cell in ALL_CELLS}) == len(ALL_CELLS)


# ---- the data


@pytest.mark.parametrize("columns", ["gaussian", "integers", "binary", "three-level", "rare", "genotypes", "mixed"])
def test_columns_have_their_levels(columns):
    X, y, _ = make_data(Cell(columns=columns, n_samples=2000, shares=(90, 10)), 0)
    assert X.shape == (2000, 100)
    assert np.bincount(y).tolist() == [1800, 200]
    n_levels = {len(np.unique(column)) for column in X.T}
    expected = {"binary": {2}, "rare": {2}, "three-level": {3}, "gaussian": {2000}, "mixed": {2000, 3, 2}}
    if columns in expected:
        assert n_levels == expected[columns]
    elif columns == "integers":
        assert min(n_levels) > 8
        assert max(n_levels) < 20
    else:
        assert n_levels <= {2, 3}
        assert X.mean(axis=0).min() < 0.2 < 0.8 < X.mean(axis=0).max()


def test_blocks_are_correlated_and_nothing_else():
    X, _, _ = make_data(Cell(correlation=0.9, n_samples=3000, n_vars=25), 0)
    r = np.corrcoef(X.T)
    same_block = np.arange(25)[:, np.newaxis] // 10 == np.arange(25) // 10
    assert np.abs(r[same_block & ~np.eye(25, dtype=bool)] - 0.9).max() < 0.03
    assert np.abs(r[~same_block]).max() < 0.1


def test_planted_columns_say_something_and_the_others_do_not():
    cell = Cell(planted=True, n_samples=2000)
    row = repeat(cell, 0)
    assert row["n_found_BH"] == N_PLANTED
    assert repeat(replace(cell, dimensions=1), 0)["n_found_BH"] < N_PLANTED


def test_the_same_tables_for_other_searches_and_other_tables_for_other_repetitions():
    X, y, _ = make_data(Cell(), 1)
    again, y_again, _ = make_data(Cell(dimensions=3, n_contrast=30, discretizations=5), 1)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, make_data(Cell(), 2)[0])


def test_strata_are_even_and_batches_differ():
    X, y, strata = make_data(Cell(n_samples=320, n_strata=16, n_vars=20), 0)
    assert np.bincount(strata).tolist() == [20] * 16
    X, y, strata = make_data(Cell(n_samples=3200, n_strata=16, n_vars=20, batch_effect=True), 0)
    assert y[strata < 4].mean() < 0.4 < 0.6 < y[strata > 11].mean()
    assert abs(np.corrcoef(X[:, 1], strata)[0, 1]) < 0.1
    assert np.abs([np.corrcoef(X[:, v], strata)[0, 1] for v in range(0, 20, 2)]).max() > 0.3


# ---- the summary


def test_summary_counts():
    p = np.array([0.01, 0.049, 0.05, 0.7])
    table = pd.DataFrame(
        {
            "cell": "a",
            "planted": True,
            "smallest_p_adjusted": p,
            "p_of_last": [0.1, 0.4, 0.6, 0.9],
            "share_below_05": [0.0, 0.1, 0.1, 0.0],
            "share_below_01": 0.0,
            "fit": ["weibull", "union", "weibull", "weibull"],
            "warned": ["", "few samples", "", ""],
            "any_lsq": [False, True, True, None],
            "n_tests_lsq": [10.0, 20.0, 30.0, 40.0],
            **{f"n_false_{method}": [0, 1, 0, 2] for method in ("holm", "BH", "BY")},
            **{f"n_found_{method}": [3, 3, 0, 0] for method in ("holm", "BH", "BY")},
        }
    )
    line = summarise(table).loc["a"]
    assert line["any_selected"] == 0.5
    assert line["any_not_warned"] == 0.25
    assert line["any_lsq"] == pytest.approx(2 / 3)
    assert line["n_tests_lsq"] == 25
    assert line["union_share"] == line["warned_share"] == 0.25
    assert line["fdr_BH"] == pytest.approx((0 + 1 / 4 + 0 + 1) / 4)
    assert line["any_false_holm"] == 0.5
    assert line["found_BY"] == 1.5
    assert np.isnan(line["any_tail"])


def test_binomial_interval_is_clopper_and_pearsons():
    low, high = binomial_interval(10, 200)
    assert low == pytest.approx(stats.beta.ppf(0.025, 10, 191))
    assert high == pytest.approx(stats.beta.ppf(0.975, 11, 190))


def test_too_bold_allows_for_the_number_of_cells():
    summary = pd.DataFrame({"any_selected": [0.05, 0.085, 0.15], "repetitions": 200})
    assert too_bold(summary, "any_selected").tolist() == [False, False, True]
    assert too_bold(summary[1:2], "any_selected").tolist() == [True]


def test_one_dimension_by_counting_is_what_simulation_gives():
    """The rows of this cell: 200 samples, 10 of the smaller class; χ² takes all ten in one half for a find."""
    by_chi2, exactly = any_selected(200, 10, n_vars=100)
    rng = np.random.default_rng(0)
    in_first = rng.hypergeometric(10, 190, 101, size=(4000, 100))
    share = ((in_first == 0) | (in_first == 10)).any(axis=1).mean()
    assert by_chi2 == pytest.approx(share, abs=4 * np.sqrt(share / 4000))
    assert exactly == 0


# ---- what is committed


@pytest.fixture(scope="module")
def committed():
    return summarise(pd.read_parquet(RESULT))


def test_the_page_is_up_to_date(committed):
    page = PAGE.read_text()
    assert fill(page, make_tables(committed)) == page, "run python -m benchmarks.calibration"


def test_every_cell_was_run_at_least_200_times(committed):
    assert set(committed.index) == {cell.name for cell in ALL_CELLS}
    of_one_call = committed.index.str.startswith("auto")
    assert committed["repetitions"][~of_one_call].min() >= 200
    assert committed["repetitions"][of_one_call].min() >= 60


def test_one_call_is_not_too_bold(committed):
    null = committed.loc[[cell.name for cell in ONE_CALL_CELLS]]
    assert null.index[too_bold(null, "any_selected")].tolist() == []
    n_tables = null["repetitions"].sum()
    assert (null["any_selected"] * null["repetitions"]).sum() / n_tables <= 0.05


def test_nothing_is_too_bold(committed):
    """The promise of the default settings: on noise, finds in at most 5 %, but for chance, warning or no warning."""
    null = committed.loc[[cell.name for cell in DEFAULT_CELLS]]
    assert null.index[too_bold(null, "any_selected")].tolist() == []
