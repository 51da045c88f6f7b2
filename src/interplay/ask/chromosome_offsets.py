"""Predictions that leave out one chromosome each → offsets that leave out any set of chromosomes.

With predictions that are sums over chromosomes, loco[c] = total − part[c], so that total = Σ loco[c] / (C − 1), and any
set of chromosomes can be left out of the total.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import shown
from interplay.data.study.design import is_by_chromosome, make_offset
from interplay.data.study.positions import NOWHERE, make_positions
from interplay.data.study.table import Table
from interplay.readers.genotypes.filters import plain_name
from interplay.readers.genotypes.loco import places_of_samples

#: Arguments that a search by chromosomes does not have, and what to do.
_NOT_BY_CHROMOSOME = {
    "groups": "leave one of them out",
    "holdout": "search some of the samples, and test the tuples in the others with an offset of their chromosomes",
    "stability": "leave one of them out",
    "shard": "search sets of chromosomes by themselves, with variables and partners",
    "checkpoint": "search sets of chromosomes by themselves, with variables and partners",
}


@dataclass(frozen=True, eq=False)
class ChromosomeOffsets:
    """Offsets that leave out chromosomes."""

    #: (n_chromosomes, n_samples): predictions without each chromosome.
    left_out: FloatArray
    #: The chromosomes.
    labels: list[str]
    #: (n_vars,): place of the chromosome of each variable; `NOWHERE` for variables that lie on none, such as exposures.
    chromosome: IntArray

    def without(self, chromosomes: tuple[int, ...]) -> FloatArray:
        """Return the prediction without some chromosomes, (n_samples,); `NOWHERE` leaves nothing out.

        Examples
        --------
        >>> parts = np.array([[1.0], [10.0], [100.0]])  # what each of three chromosomes predicts
        >>> offsets = ChromosomeOffsets(parts.sum() - parts, ["1", "2", "3"], np.array([0, 1, 2]))
        >>> [float(offsets.without(some)[0]) for some in ((), (0,), (0, 2), (0, 1, 2))]
        [111.0, 110.0, 10.0, 0.0]
        """
        some = [c for c in chromosomes if c != NOWHERE]
        if len(some) == 1:
            return np.asarray(self.left_out[some[0]])
        total = self.left_out.sum(axis=0) / (len(self.labels) - 1)
        return np.asarray(total - sum(total - self.left_out[c] for c in some))

    def sets(self, dimensions: int) -> list[tuple[int, ...]]:
        """Return all sets of chromosomes that `dimensions`-tuples can lie on."""
        present, counts = np.unique(self.chromosome, return_counts=True)
        enough = dict(zip(present.tolist(), counts.tolist(), strict=True))
        return [
            some
            for size in range(1, dimensions + 1)
            for some in combinations(present.tolist(), size)
            if sum(enough[c] for c in some) >= dimensions
        ]


def chromosome_offsets(
    offset: Any, X: Any, table: Table, positions: Any, given: dict[str, Any]
) -> ChromosomeOffsets | None:
    """Return the offsets of all chromosomes where `offset` is a table of these, else None.

    - `offset`: one row per sample, one column per chromosome, as `read_loco` returns it.
    - `positions`: of the variables, as in `interactions`; those of a file of genotypes are known.
    - `given`: arguments that a search by chromosomes may not have; None was not given.
    """
    if not is_by_chromosome(offset):
        return None
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} does not go with an offset for each chromosome: {_NOT_BY_CHROMOSOME[name]}, or give an offset "
                "of one number per sample"
            )
    labels = [plain_name(str(name)) for name in offset.columns]
    if len(set(labels)) < len(labels) or len(labels) < 2:
        raise ValueError(
            f"offset must have a column for each of two or more chromosomes, not {shown(list(offset.columns))}: give "
            "all predictions of the file, as genetics.read_loco returns them"
        )
    matched = _matched(offset, X, table.n_samples)
    columns = [make_offset(matched[:, place], n_samples=table.n_samples) for place in range(len(labels))]
    where = make_positions(positions, table)
    place_of = {label: place for place, label in enumerate(labels)}
    known = [place_of.get(plain_name(label), len(labels)) for label in where.labels]
    chromosome = np.array([*known, NOWHERE], dtype=np.int64)[where.chromosome]
    if (lacking := np.flatnonzero(chromosome == len(labels))).size:
        v = int(lacking[0])
        raise ValueError(
            f"offset has no predictions without chromosome {shown(where.labels[where.chromosome[v]])}, of variable "
            f"{shown(table.names[v])}: leave out its variables, or add the predictions"
        )
    return ChromosomeOffsets(np.array(columns), labels, chromosome)


def _matched(offset: Any, X: Any, n_samples: int) -> FloatArray:
    """Return the predictions in the order of the samples: by name where X has names of samples, else by position."""
    values = np.asarray(offset.to_numpy(), dtype=np.float64)
    people = [str(name) for name in offset.index]
    names = getattr(X, "sample_names", None)
    if names is not None:
        return values[places_of_samples(people, [str(name) for name in names], "offset")]
    known = getattr(X, "index", None)
    index = [] if known is None or callable(known) else [str(name) for name in known]  # lists have such a method
    if index and len(set(people)) == len(people) and set(index) <= set(people):
        place_of = {person: place for place, person in enumerate(people)}
        return values[[place_of[name] for name in index]]
    if len(values) != n_samples:
        raise ValueError(
            f"offset must have one row per sample, {n_samples}, not {len(values)}: give genetics.read_loco(path, "
            "samples=…) the names of the samples, in the order of X"
        )
    return values
