"""Codes of variables, and the bit planes that engines search."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import CodeArray, IntArray, WordArray

#: Each decision class fills whole blocks of this many 64-bit words: one cache line, one AVX-512 register.
WORDS_PER_BLOCK = 8


class CutValues(NamedTuple):
    """Values whose codes follow from thresholds alone: a code is the number of its row's thresholds below the value."""

    #: (n_rows, n_samples), C-contiguous: of a type that the compiled module knows, see `COMPILED_TYPES`; without NaN.
    values: npt.NDArray[Any]
    #: (n_rows, n_thresholds), C-contiguous, of the same dtype: ascending in each row.
    thresholds: npt.NDArray[Any]


class CodeBlocks(Protocol):
    """Codes that are made, or cut out, block by block, so that they need not all be in memory at once."""

    @property
    def n_vars(self) -> int: ...

    @property
    def n_levels(self) -> IntArray: ...

    def blocks(self, n_jobs: int) -> list[slice]:
        """Cut the variables into blocks to be read one after the other, or by `n_jobs` threads."""
        ...

    def read(self, rows: slice) -> CodeArray:
        """Return the codes of some variables, C-contiguous (n_rows, n_samples)."""
        ...

    def read_cut(self, rows: slice) -> CutValues | None:
        """Return values and thresholds instead of codes; None where codes follow from more than these."""
        ...


@dataclass(frozen=True)
class DiscreteCodes:
    """Levels of variables as small numbers: the form in which samples are counted."""

    #: (n_vars, n_samples), C-contiguous: level of each sample; ``codes[v] < n_levels[v]``.
    codes: CodeArray
    #: (n_vars,): number of levels of each variable, 1 … 256; a level may be empty.
    n_levels: IntArray

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.dtype != np.uint8 or not self.codes.flags.c_contiguous:
            raise ValueError("codes must be a C-contiguous (n_vars, n_samples) array of uint8")
        if self.n_levels.shape != (self.codes.shape[0],):
            raise ValueError("n_levels must have one entry per variable")

    @property
    def n_vars(self) -> int:
        return int(self.codes.shape[0])

    @property
    def n_samples(self) -> int:
        return int(self.codes.shape[1])

    def blocks(self, n_jobs: int) -> list[slice]:
        """Cut the variables into a few blocks per thread."""
        edges = np.linspace(0, self.n_vars, min(self.n_vars, 4 * n_jobs) + 1).astype(int).tolist()
        return [slice(start, stop) for start, stop in pairwise(edges)]

    def read(self, rows: slice) -> CodeArray:
        """Return the codes of some variables."""
        return self.codes[rows]

    def read_cut(self, rows: slice) -> CutValues | None:
        """Return None: there are no values."""
        return None


@dataclass(frozen=True)
class BitPlanes:
    """One bit per sample for every level but level 0, samples grouped by decision class.

    Level 0 needs no plane: its samples are in no other plane. A variable with c levels thus has c − 1 planes, and the
    count of any cell per class is a popcount over that class's words.
    """

    #: (n_planes, n_words): the planes; padding bits at the end of each class are 0.
    words: WordArray
    #: (n_rows + 1,): planes of variable v are ``plane_start[v] : plane_start[v + 1]``, for levels 1, 2, ….
    plane_start: IntArray
    n_levels: IntArray  #: (n_rows,)
    #: (n_classes + 1,): words of class q are ``class_word_start[q] : class_word_start[q + 1]``, a multiple of 8 words.
    class_word_start: IntArray
    class_sizes: IntArray  #: (n_classes,)
    #: Real variables; the rows after them are contrast variables.
    n_vars: int
    #: (8 * n_words,): of a number outcome, which has one class: samples are sorted by an integer score, which those of
    #: a byte share.
    scores: npt.NDArray[np.int32] | None = None
    #: (n_words,): of a number outcome: the bits that are samples. A byte may have fewer than eight.
    samples: WordArray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.n_levels)

    @property
    def of_numbers(self) -> bool:
        """Whether the outcome is a number."""
        return self.scores is not None

    @property
    def cell_size(self) -> int:
        """Numbers that are kept of a cell: the samples of each class, or the samples and the sum of their scores."""
        return 2 if self.of_numbers else len(self.class_sizes)

    @property
    def outcome_df(self) -> int:
        """Degrees of freedom of the outcome: classes − 1, or 1 of numbers."""
        return self.cell_size - 1

    @property
    def n_contrast(self) -> int:
        return self.n_rows - self.n_vars

    @property
    def n_samples(self) -> int:
        return int(self.class_sizes.sum())
