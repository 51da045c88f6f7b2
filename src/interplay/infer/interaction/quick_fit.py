"""Tables → G² in compiled code: for decisions which tables are worth an exact test, never for a number that is shown.

The fit is that of `proportional_fit`; the sums have another order, so that G² differs by rounding.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from interplay import _core
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.infer.interaction.null_model import member_axes, per_table, supported_entries
from interplay.infer.interaction.proportional_fit import fit_proportionally

#: Members beyond which compiled code would multiply too many margins.
_MAX_MEMBERS = 5

#: Numbers of the tables that a thread fits at a time.
_AT_ONCE = 2**18

#: As in the bootstrap.
TOLERANCE = 1e-3
MAX_SWEEPS = 60


class QuickFit(NamedTuple):
    """G² of every table, never below its minimum but for rounding; whether all margins that H0 keeps are positive."""

    g2: FloatArray
    is_complete: BoolArray


def quick_fit(
    tables: IntArray, *, tolerance: float = TOLERANCE, max_sweeps: int = MAX_SWEEPS, n_threads: int = 1
) -> QuickFit:
    """Fit H0 to every table by IPF; with no sweeps G² is the bound of Kirkwood's product."""
    if len(member_axes(tables)) > _MAX_MEMBERS:
        fit = fit_proportionally(tables, tolerance=tolerance, max_sweeps=max_sweeps, n_threads=n_threads)
        return QuickFit(fit.g2, np.asarray(supported_entries(tables).reshape(per_table(tables)).all(axis=1)))
    flat = np.ascontiguousarray(tables, dtype=np.int64).reshape(per_table(tables))
    shape = np.array(tables.shape[1:], dtype=np.int64)
    g2, is_complete = np.empty(len(tables)), np.empty(len(tables), dtype=np.bool_)
    size = max(1, _AT_ONCE // prod(tables.shape[1:]))
    if n_threads > 1:
        size = max(1, min(size, -(-len(tables) // n_threads)))

    def fit_some(begin: int) -> None:
        some = slice(begin, begin + size)
        _core.fit_tables(flat[some], shape, tolerance, max_sweeps, "auto", g2[some], is_complete[some])

    map_in_threads(fit_some, range(0, len(tables), size), n_threads)
    return QuickFit(g2, is_complete)
