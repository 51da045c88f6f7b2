"""Every row of the table of bad and odd input: the right answer or a clear error, and so it says on the page."""

from __future__ import annotations

import pytest

from hostile import areas
from hostile.case import Case, outcome

CASES = [pytest.param(case, id=f"{area.title}: {case.what}") for area in areas.ALL for case in area.cases]


@pytest.mark.parametrize("case", CASES)
def test_right_answer_or_clear_error(case: Case) -> None:
    assert outcome(case)
