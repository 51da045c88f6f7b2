"""Chromosome, position, ID and alleles of the variants of a file, and names for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import shown

Texts = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Variants:
    """The variants of a file, (n_variants,) each.

    Attributes
    ----------
    chromosome, ids : array of str
    position : array of int
    first, others : array of str
        The first allele, and the others, separated by commas.
    """

    chromosome: Texts
    position: IntArray
    ids: Texts
    first: Texts
    others: Texts

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_multiallelic(self) -> BoolArray:
        """Whether a variant has more than two alleles."""
        return np.array(["," in alleles for alleles in self.others], dtype=np.bool_)

    def names(self, kept: IntArray, path: Any) -> list[str]:
        """Return names that are all different: IDs, or chromosome:position:alleles where an ID is "." or not unique."""
        names: list[str] = self.ids[kept].tolist()
        count = Counter(names)
        unclear = [i for i, name in enumerate(names) if name in (".", "") or count[name] > 1]
        for i in unclear:
            at = kept[i]
            alleles = f"{self.first[at]}:{self.others[at]}"
            names[i] = f"{self.chromosome[at]}:{self.position[at]}:{alleles}"
        if unclear and len(set(names)) < len(names):
            repeated = next(name for name, number in Counter(names).items() if number > 1)
            raise ValueError(f"{str(path)!r} has more than one variant {shown(repeated)}: give each an ID of its own")
        return names
