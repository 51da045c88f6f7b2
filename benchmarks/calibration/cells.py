"""The cells of the study: which data, searched in which way. The most telling come first, the slowest last.

A full factorial of samples, variables, class shares, dimensions, kinds of columns and correlations is out of reach.
Instead there is a centre, each factor is varied by itself, and those are crossed that should hurt most together: what
leaves few samples in a cell of a tuple's table, and what makes the tests of a variable depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class Cell:
    """One kind of data and one way to search it; the defaults are the centre of the study."""

    dimensions: int = 2  # 0 for all of them in one call, select's default
    n_samples: int = 500
    n_vars: int = 100
    shares: tuple[int, ...] = (50, 50)
    columns: str = "gaussian"
    correlation: float = 0.0  # within blocks of ten columns
    discretizations: int = 1
    divisions: int = 1
    n_contrast: int | str = "auto"
    planted: bool = False
    n_strata: int = 1
    batch_effect: bool = False  # half of the columns, and the shares of two classes, differ between strata

    @property
    def data_name(self) -> str:
        """What decides the data: cells that differ only in the search see the same tables."""
        parts = [f"N{self.n_samples}", f"p{self.n_vars}", "/".join(map(str, self.shares)), self.columns]
        parts += [f"rho{self.correlation:g}"] * (self.correlation > 0) + ["planted"] * self.planted
        parts += [f"strata{self.n_strata}"] * (self.n_strata > 1) + ["batch"] * self.batch_effect
        return " ".join(parts)

    @property
    def name(self) -> str:
        parts = [f"{self.dimensions}D" if self.dimensions else "auto", self.data_name]
        parts += [f"discretizations{self.discretizations}"] * (self.discretizations > 1)
        parts += [f"divisions{self.divisions}"] * (self.divisions > 1)
        parts += [f"contrast{self.n_contrast}"] * (self.n_contrast != "auto")
        return " ".join(parts)


CENTRE = Cell()
#: A smaller table for the dimensions in which tuples are many.
BY_DIMENSION = {
    1: Cell(dimensions=1),
    2: CENTRE,
    3: Cell(dimensions=3, n_vars=60),
    4: Cell(dimensions=4, n_vars=30),
}

UNBALANCED = [(70, 30), (80, 20), (90, 10), (95, 5)]
KINDS = ["integers", "binary", "three-level", "rare", "genotypes", "mixed"]
THREE, FOUR = (34, 33, 33), (25, 25, 25, 25)


def _cross(base: Cell, **factors: list) -> list[Cell]:
    cells = [base]
    for name, values in factors.items():
        cells = [replace(cell, **{name: value}) for cell in cells for value in values]
    return cells


def _each_dimension(dimensions: Sequence[int] = (1, 2, 3, 4), **factors: list) -> list[Cell]:
    return [cell for k in dimensions for cell in _cross(BY_DIMENSION[k], **factors)]


#: Searched with the default settings; nothing is to be found.
NULL_CELLS: list[Cell] = [
    *BY_DIMENSION.values(),
    # Few samples in a cell of a tuple's table: small tables, and rare classes.
    *_each_dimension(n_samples=[100, 200]),
    *_each_dimension(n_samples=[100, 200], shares=[(80, 20), (90, 10), (95, 5)]),
    *_each_dimension(shares=UNBALANCED),
    # Columns of few values, columns that are much alike.
    *_each_dimension(columns=KINDS),
    *_each_dimension(correlation=[0.9]),
    *_cross(CENTRE, correlation=[0.5, 0.99]),
    *_cross(BY_DIMENSION[3], correlation=[0.99]),
    *_each_dimension([1, 2, 3], columns=["genotypes"], n_samples=[200], shares=[(80, 20)]),
    *_each_dimension([2, 3], correlation=[0.9], n_samples=[200], shares=[(80, 20)]),
    # More classes, more levels.
    *_each_dimension(shares=[FOUR]),
    *_cross(CENTRE, shares=[THREE]),
    *_each_dimension([1, 2, 3], shares=[(70, 10, 10, 10)], n_samples=[200]),
    *_each_dimension([1, 2, 3], divisions=[2]),
    # Few variables, many variables, many samples.
    *_cross(Cell(n_vars=30), dimensions=[1, 2, 3]),
    *_cross(Cell(dimensions=1, n_vars=1000), n_samples=[100, 500]),
    *_cross(Cell(dimensions=1), n_samples=[1000, 10_000]),
    *_cross(Cell(), n_vars=[300, 1000]),
    *_cross(Cell(n_vars=1000), n_samples=[100]),
    *_cross(Cell(n_vars=30), n_samples=[1000, 10_000]),
    *_cross(BY_DIMENSION[3], n_samples=[3000]),
]

#: Within strata of 20 samples, and of more: the fewer samples in a stratum, and the more strata, the farther a gain is
#: from χ².
OF_STRATA = {2: 200, 16: 320, 64: 1280, 100: 2000, 250: 5000}
STRATA_CELLS: list[Cell] = [
    Cell(dimensions=k, n_samples=n_samples, n_vars=20, n_strata=n_strata)
    for k in (1, 2)
    for n_strata, n_samples in OF_STRATA.items()
] + [
    *_cross(Cell(dimensions=1, n_samples=60, n_vars=20), n_strata=[2, 8]),
    *_cross(Cell(dimensions=1, n_samples=1280, n_vars=20, n_strata=64), shares=[(80, 20), THREE]),
    *_cross(Cell(dimensions=1, n_samples=1280, n_vars=20, n_strata=64), columns=["three-level", "rare", "genotypes"]),
    *_cross(Cell(n_samples=320, n_vars=20, n_strata=16, batch_effect=True), dimensions=[1, 2]),
    *_cross(Cell(n_samples=320, n_vars=20, n_strata=16, shares=(80, 20)), dimensions=[1, 2]),
    *_cross(Cell(n_samples=320, n_vars=20, n_strata=16, columns="genotypes"), dimensions=[1, 2]),
    Cell(dimensions=1, n_samples=320, n_vars=20, n_strata=16, discretizations=3, n_contrast=30),
]

#: Few samples, and many levels or classes, in 1D.
SPARSE_CELLS: list[Cell] = [
    *_cross(Cell(dimensions=1, n_samples=60), shares=[(50, 50), (70, 30), (80, 20), (90, 10)]),
    *_cross(Cell(dimensions=1, n_samples=100, shares=(80, 20)), columns=["rare", "genotypes", "three-level", "mixed"]),
    *_cross(Cell(dimensions=1, n_samples=100), divisions=[2, 5, 9]),
    Cell(dimensions=1, n_samples=100, shares=FOUR, divisions=4),
]

#: The same, with what takes long.
SLOW_NULL_CELLS: list[Cell] = [
    *_cross(Cell(dimensions=3, n_vars=300), n_samples=[200]),
    *_cross(Cell(dimensions=4, n_vars=60), n_samples=[500]),
    *_cross(Cell(dimensions=1, discretizations=30), n_samples=[100, 500]),
    *_cross(Cell(discretizations=30), n_samples=[100, 500]),
    *_cross(Cell(discretizations=30), columns=["integers"]),
    *_cross(Cell(discretizations=30), correlation=[0.9]),
    *_cross(Cell(dimensions=3, n_vars=30, discretizations=30), n_samples=[500]),
    *_cross(Cell(dimensions=3, n_vars=1000), n_samples=[200]),
]

#: How many contrast variables a fit needs, and which fit: the same tables with more and more of them. The table of 36
#: columns in 3D is the one in which the original's fit is known to be too bold.
CONTRAST_CELLS: list[Cell] = [
    *_cross(Cell(dimensions=3, n_samples=400, n_vars=36), n_contrast=[36, 30, 100, 300, 1000]),
    *_cross(Cell(), n_contrast=[30, 100, 300, 1000]),
    *_cross(Cell(dimensions=4, n_vars=30), n_contrast=[30, 100, 300, 1000]),
]

#: With variables that say something, alone or in pairs: how many of the others are selected beside them?
PLANTED_CELLS: list[Cell] = [
    *_cross(Cell(planted=True), dimensions=[1, 2]),
    *_cross(Cell(planted=True), n_samples=[200, 2000]),
    *_cross(Cell(planted=True), shares=[(80, 20)]),
    *_cross(Cell(planted=True), columns=["genotypes"]),
    Cell(planted=True, dimensions=3, n_vars=60),
]

#: All dimensions in one call.
_AUTO = Cell(dimensions=0)
ONE_CALL_CELLS: list[Cell] = [
    _AUTO,
    *_cross(_AUTO, n_samples=[100, 200]),
    *_cross(_AUTO, shares=UNBALANCED),
    *_cross(_AUTO, n_samples=[100, 200], shares=[(80, 20), (90, 10), (95, 5)]),
    *_cross(_AUTO, columns=KINDS),
    *_cross(_AUTO, columns=["genotypes", "rare", "mixed", "lognormal"], n_samples=[200], shares=[(80, 20)]),
    *_cross(_AUTO, correlation=[0.5, 0.9, 0.99]),
    *_cross(_AUTO, correlation=[0.9], n_samples=[200], shares=[(80, 20)]),
    *_cross(_AUTO, shares=[THREE, FOUR]),
    *_cross(_AUTO, shares=[(70, 10, 10, 10)], n_samples=[200], columns=["gaussian", "genotypes", "rare"]),
    *_cross(_AUTO, n_vars=[10, 30, 300]),
    *_cross(_AUTO, n_vars=[30], n_samples=[100], shares=[(50, 50), (90, 10)]),
    *_cross(_AUTO, divisions=[2]),
    *_cross(_AUTO, n_contrast=[30, 100]),
    *_cross(replace(_AUTO, n_samples=320, n_vars=20, n_strata=16), columns=["gaussian", "genotypes", "rare"]),
    *_cross(replace(_AUTO, n_samples=320, n_vars=20, n_strata=16), shares=[(80, 20), THREE]),
    *_cross(replace(_AUTO, n_vars=20), n_strata=[2, 8], n_samples=[60]),
    replace(_AUTO, n_samples=320, n_vars=20, n_strata=16, batch_effect=True),
    replace(_AUTO, n_samples=2000, n_vars=20, n_strata=100),
]
#: The same with variables that say something.
ONE_CALL_PLANTED_CELLS: list[Cell] = [
    replace(_AUTO, planted=True),
    *_cross(replace(_AUTO, planted=True), n_samples=[200, 2000]),
    *_cross(replace(_AUTO, planted=True), shares=[(80, 20)]),
    *_cross(replace(_AUTO, planted=True), columns=["genotypes"]),
]

DEFAULT_CELLS = [*NULL_CELLS, *SPARSE_CELLS, *STRATA_CELLS, *SLOW_NULL_CELLS]
ALL_CELLS = [
    *NULL_CELLS,
    *SPARSE_CELLS,
    *STRATA_CELLS,
    *PLANTED_CELLS,
    *CONTRAST_CELLS,
    *SLOW_NULL_CELLS,
    *ONE_CALL_CELLS,
    *ONE_CALL_PLANTED_CELLS,
]
FACTORS = [field.name for field in fields(Cell)]
