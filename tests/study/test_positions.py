"""Where variables lie, and what it means if that is not known."""

import numpy as np
import pandas as pd
import pytest

from interplay.data.study.positions import NOWHERE, make_positions
from interplay.data.study.table import as_table

TABLE = as_table(np.arange(6).reshape(2, 3), names=["a", "b", "c"])


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, np.inf])
@pytest.mark.parametrize(
    "given",
    [
        lambda at: [1, at, 3],
        lambda at: [("1", 1), ("1", at), ("2", 3)],
        lambda at: {"a": 1, "b": at},
        lambda at: pd.DataFrame({"variable": ["b", "c"], "position": pd.Series([at, 3], dtype=object)}),
    ],
)
def test_a_position_that_is_missing_is_refused(given, missing):
    with pytest.raises(ValueError, match=r"positions has no position for variable 'b' .*: give it, or leave"):
        make_positions(given(missing), TABLE)


def test_a_chromosome_that_is_missing_is_refused():
    frame = pd.DataFrame({"variable": ["a", "b"], "chromosome": ["1", None], "position": [1, 2]})
    with pytest.raises(ValueError, match="positions has no chromosome for variable 'b'"):
        make_positions(frame, TABLE)


def test_what_is_not_named_lies_nowhere_and_plinks_zero_is_a_chromosome():
    assert make_positions({"a": ("0", 0), "c": ("0", 0)}, TABLE).chromosome.tolist() == [0, NOWHERE, 0]


def test_other_variables_may_have_no_position():
    assert make_positions({"a": 1, "d": None}, TABLE).chromosome.tolist() == [0, NOWHERE, NOWHERE]
