"""The power study: its problems are what they are said to be, and its bookkeeping neither loses nor hides anything."""

import os
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import interplay
from power import penetrance, problems
from power.methods import METHODS
from power.problems import MORE_PROBLEMS, PROBLEMS, STRENGTHS, Problem, Table
from power.study import COLUMNS, counted, read_rows, row_of, run_study
from power.summary import summarised, wilson
from power.table import details_in_markdown, table_in_markdown
from power.workers import Workers

REPOSITORY = Path(__file__).parents[2]
needs_posix = pytest.mark.skipif(os.name != "posix", reason="the time limit of a call needs a POSIX system")
RESULT = REPOSITORY / "benchmarks" / "results" / "power.parquet"


# --- Penetrance -------------------------------------------------------------------------------------------------


def marginal(table, maf, kept):
    """Probability of being ill given the genotypes of some loci, summed cell by cell."""
    shares = [(1 - maf) ** 2, 2 * maf * (1 - maf), maf**2]
    result = np.zeros((3,) * len(kept))
    for cell in np.ndindex(table.shape):
        others = np.prod([shares[g] for axis, g in enumerate(cell) if axis not in kept])
        result[tuple(cell[axis] for axis in kept)] += others * table[cell]
    return result


@pytest.mark.parametrize("maf", [0.2, 0.3, 0.5])
@pytest.mark.parametrize("n_loci", [2, 3])
def test_pure_epistasis_has_no_effect_of_fewer_loci(n_loci, maf):
    for seed in range(5):
        table = penetrance.pure(n_loci, maf, 0.05, prevalence=0.4, rng=np.random.RandomState(seed))
        assert 0 <= table.min() < table.max() <= 1
        for fewer in range(n_loci):
            for kept in combinations(range(n_loci), fewer):
                assert marginal(table, maf, kept) == pytest.approx(0.4, abs=1e-12)
        variance = marginal((table - 0.4) ** 2, maf, ())
        assert variance / (0.4 * 0.6) == pytest.approx(0.05)


def test_tables_of_marchini():
    odds = penetrance.multiplicative(2, effect=1.0, baseline=0.1)
    odds = odds / (1 - odds)
    assert odds == pytest.approx(np.array([[0.1, 0.1, 0.1], [0.1, 0.2, 0.4], [0.1, 0.4, 1.6]]))
    odds = penetrance.threshold(3, effect=2.0, baseline=0.1)
    odds = odds / (1 - odds)
    assert odds[1:, 1:, 1:] == pytest.approx(0.3)
    assert odds[0] == pytest.approx(0.1)
    assert odds[:, 0] == pytest.approx(0.1)
    for table in (penetrance.multiplicative(2, 1.0), penetrance.threshold(3, 2.0)):
        assert np.ptp(marginal(table, 0.3, (0,))) > 0.01


def test_cases_and_controls_have_the_shares_of_the_model():
    table = penetrance.threshold(2, effect=3.0)
    genotypes, y = penetrance.draw_cases_and_controls(table, 0.3, 40_000, np.random.RandomState(0))
    assert y.sum() == 20_000
    joint = np.multiply.outer(penetrance.genotype_shares(0.3), penetrance.genotype_shares(0.3))
    for label, weight in ((1, table), (0, 1 - table)):
        expected = joint * weight / (joint * weight).sum()
        drawn = np.zeros((3, 3))
        np.add.at(drawn, tuple(genotypes[y == label].astype(int).T), 1)
        assert stats.chisquare(drawn.ravel(), 20_000 * expected.ravel()).pvalue > 0.001


# --- Truth ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", (PROBLEMS | MORE_PROBLEMS).values(), ids=PROBLEMS | MORE_PROBLEMS)
def test_tables_are_what_they_say(problem):
    table = problem.table(0)
    n_vars = table.X.shape[1]
    assert len(table.y) == len(table.X)
    assert set(table.y.tolist()) == ({0, 1, 2} if problem.name == "three_classes" else {0, 1})
    assert table.truth.tolist() == sorted(set(table.truth.tolist()))
    assert 0 <= table.truth[0] <= table.truth[-1] < n_vars
    assert table.genotypes == (set(np.unique(table.X)) == {0, 1, 2})
    assert (problem.table(0).X == table.X).all()
    assert not np.array_equal(problem.table(1).truth, table.truth)


def test_no_two_problems_share_a_table():
    problems = [*PROBLEMS.values(), *MORE_PROBLEMS.values()]
    first = [problem.table(0, strength).X[:, -1].tobytes() for problem in problems for strength in STRENGTHS]
    assert len(set(first)) == len(problems) * len(STRENGTHS)


def test_truth_of_additive_effects():
    table = problems.additive(3, n_samples=20_000)
    t = stats.ttest_ind(table.X[table.y == 0], table.X[table.y == 1]).statistic
    assert np.flatnonzero(np.abs(t) > 8).tolist() == table.truth.tolist()
    assert np.abs(np.delete(t, table.truth)).max() < 4.5


@pytest.mark.parametrize("group", [2, 3, 4])
def test_truth_of_parity(group):
    table = problems.parity(5, group=group, n_groups=1, effect=1.0, n_samples=4000, n_vars=10)
    signs, decision = np.sign(table.X), 2 * table.y - 1
    assert len(table.truth) == group
    assert abs((signs[:, table.truth].prod(axis=1) * decision).mean()) > 0.4
    for size in (1, 2, 3, 4):
        for columns in combinations(range(10), size):
            if set(columns) != set(table.truth.tolist()):
                assert abs((signs[:, columns].prod(axis=1) * decision).mean()) < 0.08


@pytest.mark.parametrize(
    "make",
    [
        lambda: problems.interaction_and_main(1, n_samples=4000, n_vars=30),
        lambda: problems.case_control(1, lambda _: penetrance.threshold(2, 2.5), n_samples=4000, n_vars=30),
        lambda: problems.case_control(
            1, lambda rng: penetrance.pure(2, problems.MINOR_ALLELE_SHARE, 0.07, 0.5, rng), n_samples=4000, n_vars=30
        ),
    ],
    ids=["interaction_and_main", "threshold", "pure"],
)
def test_truth_stands_out_where_samples_are_many(make):
    table = make()
    found = interplay.select(table.X, table.y, dimensions=2, random_state=0)
    assert sorted(found.ranked.tolist()) == table.truth.tolist()


# --- Bookkeeping ------------------------------------------------------------------------------------------------


def small_table(seed):
    return problems.parity(seed, group=2, n_groups=1, effect=3.0, n_samples=200, n_vars=8)


def table_with_gaps(seed):
    table = small_table(seed)
    table.X[0, 0] = np.nan
    return table


SMALL = Problem("small", "Small", "small", small_table)
GAPS = Problem("gaps", "Gaps", "gaps", table_with_gaps)
SLOW = Problem("slow", "Slow", "slow", lambda seed: problems.additive(seed, n_samples=3000, n_vars=400))


def do(path, problem, methods, **options):
    options = {"limit_seconds": 60, "repetitions": 2} | options
    with Workers(lambda module: Path(sys.executable), options.pop("limit_seconds")) as workers:
        return run_study(
            path,
            problems=[problem],
            methods=[METHODS[name] for name in methods],
            workers=workers,
            machine={"processor": "any"},
            say=lambda line: None,
            **options,
        )


class NobodyToCall:
    def call(self, *asked):
        raise AssertionError(f"done already: {asked}")


@needs_posix
def test_a_study_counts_and_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "power.parquet"
    do(path, SMALL, ["welch"], repetitions=1)
    rows = do(path, SMALL, ["welch", "interplay_2d_holm", "mutual_info"])
    assert (rows["status"] == "ok").all()
    assert sorted(zip(rows["method"], rows["repetition"], strict=True)) == [
        (method, repetition) for method in ("interplay_2d_holm", "mutual_info", "welch") for repetition in (0, 1)
    ]
    ours = rows[rows["method"] == "interplay_2d_holm"]
    assert ours["n_found"].tolist() == [2, 2]
    assert ours["version"].tolist() == [interplay.__version__] * 2
    oracle = rows[rows["method"] == "mutual_info"]
    assert (oracle["n_found"] + oracle["n_false"]).tolist() == [2, 2]
    assert rows[rows["method"] == "welch"]["n_found"].sum() < 4

    again = run_study(
        path,
        problems=[SMALL],
        methods=[METHODS["welch"]],
        workers=NobodyToCall(),
        machine={},
        repetitions=2,
    )
    pd.testing.assert_frame_equal(again, read_rows(path))


@needs_posix
def test_failures_are_rows(tmp_path):
    rows = do(tmp_path / "power.parquet", GAPS, ["select_fdr", "mutual_info"], repetitions=1)
    assert rows["status"].str.startswith("ValueError: ").all()
    assert rows[["n_found", "n_false", "seconds"]].isna().all(axis=None)
    summary = summarised(rows)
    assert summary["n_tables"].tolist() == [0, 0]
    assert summary["n_failed"].tolist() == [1, 1]


@needs_posix
def test_a_call_beyond_its_limit_is_ended_and_the_next_one_answered(tmp_path):
    rows = do(
        tmp_path / "power.parquet", SLOW, ["welch", "mutual_info", "select_fdr"], repetitions=1, limit_seconds=0.5
    )
    assert rows.set_index("method")["status"].to_dict() == {
        "welch": "ok",
        "mutual_info": "took more than 0.5 s",
        "select_fdr": "ok",
    }


def test_methods_that_do_not_apply_are_not_called():
    wide, genotypes = PROBLEMS["xor_pairs"].table(0), PROBLEMS["snp_pure_2"].table(0)
    assert not METHODS["interplay_4d_holm"].applies_to(wide)
    assert METHODS["interplay_4d_holm"].applies_to(PROBLEMS["parity_of_4"].table(0))
    assert not METHODS["fast_select_mdr"].applies_to(wide)
    assert METHODS["fast_select_mdr"].applies_to(genotypes)


def test_discoveries_are_counted_once():
    table = Table(np.zeros((4, 9)), np.array([0, 1, 0, 1]), np.array([2, 5]))
    assert counted(table, [5, 5, 7, 0]) == {"n_found": 1, "n_false": 2}
    assert counted(table, []) == {"n_found": 0, "n_false": 0}


def test_summary_of_a_few_rows():
    table = Table(np.zeros((4, 9)), np.array([0, 1, 0, 1]), np.array([2, 5]))
    answers = [
        {"selected": [2, 5], "seconds": 1.0, "package": "p", "version": "1"},
        {"selected": [2, 3, 4], "seconds": 3.0, "package": "p", "version": "1"},
        {"selected": [], "seconds": 2.0, "package": "p", "version": "1"},
        {"error": "took more than 9 s"},
    ]
    rows = pd.DataFrame([row_of("xor_pairs", "welch", i, table, a) for i, a in enumerate(answers)]).astype(COLUMNS)
    summary = summarised(rows)
    row = summary.loc[("xor_pairs", "welch")]
    assert (row.n_tables, row.n_failed, row.failures) == (3, 1, "took more than 9 s")
    assert row.found == pytest.approx(0.5)
    assert (row.n_false, row.most_false) == (pytest.approx(2 / 3), 2)
    assert row.fdr == pytest.approx(2 / 9)
    assert row.seconds == 2.0
    assert row.found_low < 0.5 < row.found_high
    assert "| Welch's t-test, BH | **50**\N{NO-BREAK SPACE}(22) | 33 | 2 |" in table_in_markdown(summary)
    assert "3, 1 failed: took more than 9 s" in details_in_markdown(summary)


def test_intervals_are_those_of_wilson():
    expected = stats.binomtest(13, 20).proportion_ci(method="wilson")
    assert wilson(13 / 20, 20) == pytest.approx((expected.low, expected.high), abs=1e-4)
    assert wilson(0.0, 20) == (0.0, pytest.approx(0.161, abs=1e-3))


# --- What is kept -----------------------------------------------------------------------------------------------


def test_the_page_shows_the_results_that_are_kept():
    rows = read_rows(RESULT)
    assert RESULT.stat().st_size < 1_000_000
    assert set(rows["problem"]) == set(PROBLEMS)
    assert set(rows["method"]) == set(METHODS)
    summary = summarised(rows)
    assert (REPOSITORY / "docs" / "power_table.md").read_text(encoding="utf-8") == table_in_markdown(summary)
    assert (REPOSITORY / "docs" / "power_details.md").read_text(encoding="utf-8") == details_in_markdown(summary)
