"""The comparison of the default call with every other method: its counting, and the page that is written from it."""

import json

import numpy as np
import pandas as pd
import pytest

import one_call_power as study
from power.problems import Table


def rows(method, found, false):
    return [
        {"problem": "xor_pairs", "strength": "medium", "repetition": i, "method": method, "adjustment": adjustment,
         "n_relevant": 4, "n_found": n, "n_false": m}
        for i, (n, m) in enumerate(zip(found, false, strict=True))
        for adjustment in study.ADJUSTMENTS
    ]  # fmt: skip


def test_differences_are_paired_and_the_best_is_chosen_after_the_fact():
    table = pd.DataFrame(
        rows("auto", [4, 2, 4], [0, 1, 0]) + rows("2D", [2, 2, 3], [0, 0, 0]) + rows("3D", [1, 4, 4], [0] * 3)
    )
    line = study.compared(table).iloc[0]
    assert line.best == "3D"
    assert line.best_found == pytest.approx(9 / 12)
    difference = np.array([3, -2, 0]) / 4
    assert line.difference == pytest.approx(difference.mean())
    assert line.error == pytest.approx(difference.std(ddof=1) / np.sqrt(3))
    assert line.fdr == pytest.approx(1 / 3 / 3)
    assert line.any_false == pytest.approx(1 / 3)
    assert "| 3D 75 | 83 | +8 ± 36 | 33 |" in study.in_markdown(study.compared(table))


def test_a_table_gives_a_row_for_each_method_and_adjustment(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "WORK", tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    y = (X[:, 2] > 0).astype(int)
    found = pd.DataFrame(study.rows_of(Table(X, y, np.array([2])), 7))
    assert set(found["method"]) == {
        "auto", "welch", "rank", "1D", "1D 4 levels", "2D", "3D", "4D",
        "arm alone", "arm given", "arm pairs", "arm triples", "arm quadruples",
    }  # fmt: skip
    assert (found[found["method"] == "auto"]["n_found"] == 1).all()
    (tmp_path / "xor_pairs_weak.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in found.to_dict("records")) + '{"repetition": 3, "me'
    )
    again = study.read_rows()  # but for the line that was cut off
    assert len(again) == len(found)
    assert set(again["strength"]) == {"weak"}


def test_the_page_shows_the_results_that_are_kept():
    kept = pd.read_parquet(study.RESULT)
    assert set(kept["problem"]) == set(study.ALL_PROBLEMS)
    assert study.PAGE.read_text(encoding="utf-8") == study.in_markdown(study.compared(kept))
