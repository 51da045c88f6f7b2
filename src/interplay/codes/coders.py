"""Settings + tables → coders, each table surveyed once for all that reads its codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import IntArray
from interplay.codes.coder import Coder, Discrete, make_coder
from interplay.codes.contrast import naming_contrast
from interplay.study.table import Table

if TYPE_CHECKING:
    from interplay.search.settings import SearchSettings


def coder_for(
    table: Table,
    settings: SearchSettings,
    *,
    n_threads: int,
    discrete: Discrete | None = None,
    first_variable: int = 0,
    columns: IntArray | None = None,
) -> Coder:
    """Survey a table, or some of its `columns`, as the settings say.

    `discrete` of its own and `first_variable` are for contrast variables.
    """
    return make_coder(
        table,
        divisions=settings.divisions,
        discretizations=settings.discretizations,
        range_=settings.range_,
        seed=settings.random_state,
        discrete=settings.discrete if discrete is None else discrete,
        missing=settings.missing,
        first_variable=first_variable,
        n_jobs=n_threads,
        columns=columns,
    )


def contrast_coder(
    coder: Coder, contrast: Table, settings: SearchSettings, *, sources: IntArray | Sequence[int] | None
) -> Coder:
    """Survey contrast variables of a table: each like its source where that is known, else as the settings say."""
    if sources is not None:
        discrete: Discrete = coder.is_discrete[np.asarray(sources)]
    else:  # a list of columns of X does not speak of other columns
        discrete = settings.discrete if isinstance(settings.discrete, str) else "auto"
    with naming_contrast():
        return coder_for(
            contrast, settings, n_threads=coder.n_jobs, discrete=discrete, first_variable=coder.table.n_vars
        )


class Coders:
    """The coders of a selection's tables, each made when it is first asked for.

    Only the latest is kept. That is the one there is, unless each pair of classes is compared: pairs have tables of
    their own, and all their coders together could take more memory than the data.
    """

    def __init__(self, settings: SearchSettings, *, n_threads: int) -> None:
        self.n_threads = n_threads
        #: Numeric columns that were cut into levels; None while no whole table has been surveyed.
        self.n_cut: int | None = None
        self._settings = settings
        self._latest: Coder | None = None
        self._columns: IntArray | None = None  # those that the latest is for; None for all

    def of(self, table: Table, columns: IntArray | None = None) -> Coder:
        """Return a coder of a table, for these `columns` at least: only they are surveyed if it has to be made."""
        if self._latest is None or self._latest.table is not table or not self._is_for(columns):
            self._latest = None  # its memory is free before the next one is made
            self._latest = coder_for(table, self._settings, n_threads=self.n_threads, columns=columns)
            self._columns = columns
            if columns is None:
                self.n_cut = max(self.n_cut or 0, int((~self._latest.is_discrete).sum()))
        return self._latest

    def _is_for(self, columns: IntArray | None) -> bool:
        return self._columns is None or (columns is not None and bool(np.isin(columns, self._columns).all()))
