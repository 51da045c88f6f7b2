"""A record of a VCF or BCF file, of which the genotypes are read only if they are wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interplay.readers.genotypes.hard_calls import Codes

Dosages = npt.NDArray[np.float64]

#: Certainty of imputation, as Minimac, Beagle and IMPUTE call it.
INFO_KEYS = ("R2", "DR2", "INFO")


@dataclass(frozen=True, eq=False)
class VcfRecord:
    """A variant of a VCF or BCF file.

    Attributes
    ----------
    chromosome, id, first, others : str
    position : int
    fields : tuple of str
        What is written of each sample, such as ("GT", "DS").
    genotypes : callable
        () → codes (n_samples,), by GT.
    dosages : callable
        () → dosages of the second allele (n_samples,), by DS; NaN where missing.
    info : callable
        () → certainty of imputation, by INFO; NaN if it is not written.
    """

    chromosome: str
    position: int
    id: str
    first: str
    others: str
    fields: tuple[str, ...]
    genotypes: Callable[[], Codes]
    dosages: Callable[[], Dosages]
    info: Callable[[], float]
