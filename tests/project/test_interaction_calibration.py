"""The calibration study of interactions(): its tables are what they are said to be, and its bookkeeping is right."""

import numpy as np
import pytest

from interaction_calibration import CELLS, POWER_DIMENSIONS, has_false, page, power_of
from power.problems import PROBLEMS


def test_names_are_different_and_problems_are_known():
    assert len({cell.name for cell in CELLS}) == len(CELLS)
    assert set(POWER_DIMENSIONS) <= set(PROBLEMS)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_tables(cell):
    X, y = cell.table(3)
    assert X.shape == (cell.n_samples, cell.n_vars)
    assert len(np.unique(y)) == cell.n_classes
    assert np.bincount(y).min() > 20
    if cell.kind != "numbers":
        assert set(np.unique(X)) <= {0, 1, 2}
    same, _ = cell.table(3)
    assert (same == X).all()
    assert not (cell.table(4)[0] == X).all()


def test_one_table_of_each_kind():
    for name in ("pairs, additive levels", "triples, noise"):
        cell = next(cell for cell in CELLS if cell.name == name)
        assert has_false(cell, 1) in [(False, False), (True, True), (False, True)]
    found = power_of("xor_pairs", 0)
    assert found["found"]
    assert found["boost found"]


def test_the_page_has_a_line_for_each():
    rows = [
        {"cell": "pairs, noise", "tables": 100, "any significant": 0.03, "by chi2 alone": 0.06},
        {"problem": "xor_pairs", "tables": 10, "found": 1.0, "false": 0.0, "boost found": 0.9, "boost false": 0.1},
    ]
    assert "| pairs, noise | 100 | 3.0 % | 6.0 % |" in page(rows)
    assert "| XOR: two pairs | 10 | 100 % | 0 % | 90 % | 10 % |" in page(rows)
