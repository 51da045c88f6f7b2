"""Every row of the table of bad and odd input: the right answer or a clear error, and so it says on the page."""

import functools
import sys

import numpy as np
import pytest

from hostile.areas import ALL
from hostile.case import outcome
from hostile.page import PAGE, row

CASES = [pytest.param(case, id=f"{area.title}: {case.what}") for area in ALL for case in area.cases]


@functools.cache
def page():
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_right_answer_or_clear_error(case):
    came_of_it = outcome(case)
    # Other systems, numpy before 2, and other versions of what parses the command line, have words of their own.
    has_these_words = sys.platform == "linux" and np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    if has_these_words and not came_of_it.endswith("--help')"):
        assert row(case, came_of_it) in page(), "the page is out of date: run `python -m hostile.page` in tests"


def test_the_page_has_all_of_them():
    rows = [line for line in page().splitlines() if line.startswith("| ") and " | " in line]
    assert len(rows) == len(CASES) + 2 * len(ALL)
    assert f"{len(CASES)} inputs" in page()


def test_no_case_is_there_twice():
    for area in ALL:
        whats = [case.what for case in area.cases]
        assert len(set(whats)) == len(whats), area.title
