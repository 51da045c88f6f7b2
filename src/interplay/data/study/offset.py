"""An offset, the known part of an outcome of each sample → checked numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.data.study.columns import ColumnKind, check_length, decision_column


def is_by_chromosome(offset: Any) -> bool:
    """Say whether an offset is a dataframe with a column for each chromosome, as `read_loco` returns it."""
    return getattr(offset, "ndim", 0) == 2 and hasattr(offset, "columns") and hasattr(offset, "index")


def make_offset(offset: Any, *, n_samples: int) -> FloatArray | None:
    """Return the offset of each sample, (n_samples,); None if there is none.

    Examples
    --------
    >>> make_offset([0.5, -0.5], n_samples=2).tolist()
    [0.5, -0.5]
    """
    if offset is None:
        return None
    if is_by_chromosome(offset):
        raise ValueError(
            "offset has a column for each chromosome, which interactions() takes alone: give one number per sample, "
            "such as the column of one chromosome, and the variables of this chromosome"
        )
    column = decision_column(offset, "offset")
    values = column.read()
    check_length("offset", values, n_samples)
    if column.kind != ColumnKind.NUMBER:
        raise TypeError("offset must be numbers, one per sample: known means, log odds or log hazards")
    numbers: FloatArray = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        first = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(
            f"offset has missing or infinite values (the first at sample {first}): leave those samples out, or fill in "
            "the values"
        )
    return numbers
