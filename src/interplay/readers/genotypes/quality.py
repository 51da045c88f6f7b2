"""Which variants are kept by their genotypes: allele frequency, missing genotypes, certainty of imputation."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_real
from interplay.readers.genotypes.genotype_file import GenotypeFile

#: Genotypes that are looked at in one go.
_AT_ONCE = 2**22


def check_limits(min_maf: Any, max_missing: Any, min_info: Any) -> dict[str, float]:
    """Return the limits that are given, checked."""
    limits = {}
    for name, value, high in (("min_maf", min_maf, 0.5), ("max_missing", max_missing, 1), ("min_info", min_info, 1)):
        if value is not None:
            limits[name] = check_real(name, value, low=0, high=high)
    return limits


def good_variants(file: GenotypeFile, kept: IntArray, rows: IntArray | None, limits: dict[str, float]) -> IntArray:
    """Return the numbers of the variants within the limits, in all of which equality is enough.

    The genotypes of all `kept` variants are read once, block by block, in the people `rows` (None for all).
    """
    if not limits:
        return kept
    n_rows = file.n_samples if rows is None else len(rows)
    at_once = max(1, _AT_ONCE // n_rows)
    good = []
    for start in range(0, len(kept), at_once):
        numbers = kept[start : start + at_once]
        is_good = np.ones(len(numbers), dtype=np.bool_)
        if "min_maf" in limits or "max_missing" in limits:
            counts = file.tallies(numbers, rows)
            if "min_maf" in limits:
                is_good &= minor_frequency(counts) >= limits["min_maf"]
            if "max_missing" in limits:
                is_good &= counts[:, 3] <= limits["max_missing"] * n_rows
        if "min_info" in limits:
            is_good &= file.info(numbers, rows) >= limits["min_info"]
        good.append(numbers[is_good])
    found = np.concatenate(good)
    if not len(found):
        named = ", ".join(f"{name}={value:g}" for name, value in limits.items())
        raise ValueError(f"{os.fspath(file.path)!r} has no variant within {named}: {len(kept)} were looked at")
    return found


def minor_frequency(counts: IntArray) -> FloatArray:
    """Return the frequency of the rarer allele by counts of 0, 1, 2 and missing; 0 where nothing is known.

    Examples
    --------
    >>> minor_frequency(np.array([[10, 10, 5, 75], [0, 1, 9, 0], [0, 0, 0, 4]]))
    array([0.4 , 0.05, 0.  ])
    """
    called = counts[:, :3].sum(axis=1)
    frequency: FloatArray = (counts[:, 1] + 2 * counts[:, 2]) / np.maximum(2 * called, 1)
    minor: FloatArray = np.minimum(frequency, np.where(called > 0, 1 - frequency, 0))
    return minor
