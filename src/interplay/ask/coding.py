"""How variables enter the tests of tuples: by levels, by dosages, or by products of scores that are not cut."""

from __future__ import annotations

import numpy as np

from interplay.base.checks import check_choice, shown
from interplay.data.study.study import Study

CODING_CHOICES = ("levels", "dosage", "product", "auto")


def check_coding(coding: str, study: Study, *, missing: str) -> None:
    """Refuse dosages and products where the outcome, or a variable, does not allow for them."""
    check_choice("coding", coding, CODING_CHOICES)
    if coding in ("levels", "auto"):
        return
    if coding == "dosage" and not study.compared.are_ordered:
        raise ValueError("coding='dosage' is for an outcome of numbers, and y has classes: use coding='product'")
    if coding == "product" and study.groups is not None:
        raise ValueError("coding='product' does not go with groups, whose labels permutations exchange: leave it out")
    if missing == "level":
        raise ValueError(
            f"coding={coding!r} has no number for missing values as a level: use missing='omit' or 'impute'"
        )
    table = study.table
    for v in np.flatnonzero(table.is_label).tolist():
        names = table.level_names(v)
        if names is not None and len(names) > 2:
            raise ValueError(
                f"coding={coding!r} needs numbers, and {shown(table.names[v])} has labels: leave it out, or use "
                "coding='levels'"
            )
