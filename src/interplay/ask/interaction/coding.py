"""How the levels of variables enter the tests of an outcome of numbers: as levels, or as dosages."""

from __future__ import annotations

import numpy as np

from interplay.base.checks import check_choice, shown
from interplay.data.study.study import Study

CODING_CHOICES = ("levels", "dosage")


def check_coding(coding: str, study: Study, *, missing: str) -> None:
    """Refuse dosages where the outcome, or a variable, does not allow for them."""
    check_choice("coding", coding, CODING_CHOICES)
    if coding == "levels":
        return
    if not study.compared.are_ordered:
        raise ValueError("coding='dosage' is for an outcome of numbers, and y has classes: leave it out")
    if missing == "level":
        raise ValueError("coding='dosage' has no dosage for missing values as a level: use missing='omit' or 'impute'")
    table = study.table
    for v in np.flatnonzero(table.is_label).tolist():
        names = table.level_names(v)
        if names is not None and len(names) > 2:
            raise ValueError(
                f"coding='dosage' needs numbers, and {shown(table.names[v])} has labels: leave it out, or use "
                "coding='levels'"
            )
