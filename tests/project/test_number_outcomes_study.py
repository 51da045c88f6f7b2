"""The study of number outcomes: its tables, its plain tests beside those of others, its bookkeeping, its pages."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import number_outcomes as study
from power import plain_tests
from power.number_problems import NOISE_LINES, POWER_LINES
from published import listopad


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    X[:, 1] += X[:, 0]
    return X, 0.3 * X[:, 0] * X[:, 2] + 0.2 * X[:, 1] + rng.exponential(size=80)


@pytest.mark.parametrize("name", study.LINES)
def test_tables(name):
    line = study.LINES[name]
    made = line.table(3)
    assert made.X.shape == (line.n_samples, line.n_vars)
    assert np.isfinite(made.y).all()
    assert (line.table(3).X == made.X).all()
    assert not (line.table(4).X == made.X).all()
    if line.outcome == "classes":
        assert np.bincount(made.y).tolist() == [line.n_samples // 5] * 5


def test_no_line_has_the_tables_of_another():
    assert not set(NOISE_LINES) & set(POWER_LINES)
    first = [line.table(0).X[0, 0] for line in study.LINES.values() if line.columns == "normal"]
    assert len(set(first)) == len(first)


def test_plain_tests_are_those_of_others(table):
    sm = pytest.importorskip("statsmodels.api")
    X, y = table
    assert plain_tests.pearson(X, y) == pytest.approx([stats.pearsonr(x, y).pvalue for x in X.T])
    assert plain_tests.spearman(X, y) == pytest.approx([stats.spearmanr(x, y).pvalue for x in X.T])
    square = [sm.OLS(y, sm.add_constant(np.column_stack([x, x**2]))).fit().f_pvalue for x in X.T]
    assert plain_tests.parabola(X, y) == pytest.approx(square)
    p, i, j = plain_tests.products(X, y)
    for value, a, b in zip(p, X.T[i], X.T[j], strict=True):
        fit = sm.OLS(y, sm.add_constant(np.column_stack([a, b, a * b]))).fit()
        assert value == pytest.approx(fit.pvalues[3], rel=1e-8)


def test_holm():
    p = np.array([0.04, 0.001, 0.012, 0.03])
    assert plain_tests.holm(p).tolist() == [False, True, True, False]


def test_a_line_is_counted_summarized_and_printed():
    row = study.row_of(POWER_LINES["product 0.3"])
    study.appended(row, [study.by_fast_methods("product 0.3", number) for number in range(2)])
    assert set(row["methods"]) == {study.OURS, *study.PLAIN}
    assert all(len(kept["found"]) == len(kept["false"]) == 2 for kept in row["methods"].values())
    row["methods"][study.OURS] = {"found": "21", "false": "03"}
    row["methods"]["products"] = {"found": "22", "false": "00"}
    summary = study.summarized(row)["summary"]
    assert summary[study.OURS]["found"] == {"mean": 0.75, "error": 0.25}
    assert summary[study.OURS]["any false"] == {"mean": 0.5, "error": 0.5}
    assert study.best_plain(row) == "products"
    printed = study.power_table({"product 0.3": row})
    assert "| product 0.3 | 2 | 75 |" in printed
    assert "| -25 ± 25 |" in printed
    assert "| all, with the tables of the effects | 2 | 50.0 ± 35.4 |" in study.noise_table({"product 0.3": row})


def test_a_study_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    file = tmp_path / "result.json"
    for tables in ("1", "2"):
        monkeypatch.setattr(
            "sys.argv", ["x", "--only", "noise alone, 30 variables", "--tables", tables, "--save", str(file)]
        )
        study.main()
    row = study.read_rows(file)["noise alone, 30 variables"]
    assert {len(kept["false"]) for kept in row["methods"].values()} == {2}


def test_the_pages_show_the_results_that_are_kept():
    rows = study.read_rows(study.RESULT)
    assert study.POWER_PAGE.read_text(encoding="utf-8") == study.power_table(rows)
    assert study.NOISE_PAGE.read_text(encoding="utf-8") == study.noise_table(rows)
    assert set(rows) <= set(study.LINES)


def test_pairs_of_the_published_sets_are_judged_as_their_authors_do():
    judged = listopad.judged(np.array([[1, 2], [5, 4], [7, 8]]), np.array([[2, 1], [4, 5], [3, 9]]))
    assert judged == {"pairs": 3, "true": 2, "false": 1, "f1": round(2 / 3, 4)}
    assert listopad.judged(np.empty((0, 2), dtype=int), np.array([[2, 1]]))["f1"] == 0
    kept = json.loads((Path(listopad.__file__).parents[1] / "results" / "listopad.json").read_text())
    assert kept["total"]["sets"] == 20
