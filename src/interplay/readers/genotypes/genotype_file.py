"""A file of genotypes as every format gives it: variants, people, and codes of some variants."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.readers.genotypes.hard_calls import Codes
from interplay.readers.genotypes.people import People
from interplay.readers.genotypes.variants import Variants


class GenotypeFile(ABC):
    """An open file of genotypes, which may be read by several threads at once.

    Attributes
    ----------
    path : path
    variants : Variants
    people : People
    """

    def __init__(self, path: str | os.PathLike[str], variants: Variants, people: People) -> None:
        self.path = path
        self.variants = variants
        self.people = people

    @property
    def n_samples(self) -> int:
        """Number of people in the file."""
        return len(self.people.ids)

    @abstractmethod
    def codes(self, numbers: IntArray, rows: IntArray | None) -> Codes:
        """Return genotypes of the variants `numbers` in the people `rows` (None: all), (n_chosen, n_rows).

        0, 1 and 2 are copies of the allele that the format counts; every other number is a missing genotype.
        """

    def tallies(self, numbers: IntArray, rows: IntArray | None) -> IntArray:
        """Return how many people have 0, 1, 2 copies or a missing genotype, (n_chosen, 4)."""
        codes = self.codes(numbers, rows)
        counts = np.stack([np.count_nonzero(codes == level, axis=1) for level in range(3)], axis=1)
        missing = codes.shape[1] - counts.sum(axis=1)
        return np.column_stack([counts, missing])

    def info(self, numbers: IntArray, rows: IntArray | None) -> FloatArray:
        """Return the certainty of imputation of some variants, (n_chosen,)."""
        raise ValueError(f"min_info cannot be used with {os.fspath(self.path)!r}, which has no dosages: leave it out")


def only(values: Any, rows: IntArray | None) -> Any:
    """Return some columns of an array; None stands for all."""
    return values if rows is None else np.ascontiguousarray(values[:, rows])
