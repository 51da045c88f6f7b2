"""A search with all options at once, drawn at random: the table, the settings, and how it is run."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import interplay
from interplay.search.engines.base import USUAL_TILES, TileShape
from interplay.search.engines.cpu import CpuEngine, simd_levels

#: What a column may be. Ties come from "constant", "copy" and "turned" (a copy with the highest value first).
KINDS = ("normal", "two", "three", "many", "constant", "copy", "turned", "informative", "gaps", "few and gaps")

#: Columns of these may all be taken as they are, without too many levels.
FEW_VALUES = {"two", "three", "many", "constant", "few and gaps"}

#: More tuples than this take the plain loops too long.
MAX_TUPLES = 130


@dataclass(frozen=True)
class DrawnSearch:
    """Numbers and words only, so that what fails can be written down and run again as it is printed.

    Attributes
    ----------
    seed : int
        Of the values of the table.
    kinds : tuple of str
        Of the columns, see `KINDS`.
    n_classes : int
        Of the decision; a continuous one is cut into so many.
    n_strata : int
        0 for none.
    variables : tuple of int, optional
    stop_at, n_shards : int
        The chunk of tiles at which a search with a checkpoint is stopped, the parts of a shared search; 0 for neither.
    """

    seed: int
    kinds: tuple[str, ...]
    n_samples: int = 20
    dimensions: int = 2
    divisions: int = 1
    discretizations: int = 1
    range_: float = 0.0
    pseudocount: float = 0.25
    n_classes: int = 2
    continuous: bool = False
    n_strata: int = 0
    n_contrast: int = 0
    variables: tuple[int, ...] | None = None
    require: str = "any"
    discrete: str = "auto"
    missing: str = "level"
    n_threads: int = 1
    simd_level: str = "serial"
    tile_shape: tuple[int, int, int] | None = None
    stop_at: int = 0
    n_shards: int = 0
    min_gain: float = 0.0
    stat: str = "MI"
    average: bool = False

    @property
    def n_vars(self):
        return len(self.kinds)

    def table(self):
        """Return X, y and the strata."""
        rng = np.random.default_rng(self.seed)
        n = self.n_samples
        classes = rng.permutation(np.arange(n) % self.n_classes)
        columns: list[np.ndarray] = []
        for kind in self.kinds:
            column = rng.normal(size=n)
            if kind in ("two", "three", "many", "few and gaps"):
                column = rng.integers(0, {"two": 2, "three": 3, "many": 6}.get(kind, 3), n).astype(float)
            elif kind == "constant":
                column = np.zeros(n)
            elif kind in ("copy", "turned") and columns:
                column = columns[int(rng.integers(len(columns)))] * (1 if kind == "copy" else -1)
            elif kind == "informative":
                column = np.where(rng.random(n) < 0.7, classes, column)
            if kind.endswith("gaps"):
                column = np.where(rng.random(n) < 0.2, np.nan, column)
            columns.append(column + 0.0)  # no −0
        strata = rng.integers(0, self.n_strata, n) if self.n_strata else None
        y = classes + 0.25 * rng.random(n) if self.continuous else classes
        return np.stack(columns, axis=1), y, strata

    @property
    def settings(self):
        """What `select`, `max_information_gain` and `interesting_tuples` have in common."""
        return {
            "dimensions": self.dimensions,
            "divisions": self.divisions,
            "discretizations": self.discretizations,
            "range_": self.range_,
            "pseudocount": self.pseudocount,
            "decision": "continuous" if self.continuous else "classes",
            "decision_divisions": self.n_classes - 1,
            "discrete": self.discrete,
            "missing": self.missing,
            "random_state": self.seed,
        }

    @property
    def chosen(self):
        """Which tuples count."""
        return {"variables": None if self.variables is None else list(self.variables), "require": self.require}

    def contrast(self, X, strata):
        """Return the contrast variables, as `max_information_gain` takes them."""
        if not self.n_contrast:
            return {}
        columns, sources = interplay.contrast_variables(X, self.n_contrast, strata=strata, random_state=self.seed)
        return {"contrast": columns, "contrast_sources": sources}

    def engine(self, **options):
        """Return the engine that the search is to be run with."""
        return ShapedEngine(
            **{"n_threads": self.n_threads, "simd_level": self.simd_level} | options, shape=self.tile_shape
        )


@dataclass(frozen=True)
class ShapedEngine(CpuEngine):
    """Cuts the tuples into tiles of any shape, and stops at a chunk of them, as Ctrl-C would."""

    shape: tuple[int, int, int] | None = None
    stop_at: list[int] | None = None

    def tile_shape(self, dimensions):
        return USUAL_TILES if self.shape is None else TileShape(*self.shape)

    def search(self, *args, **options):
        if self.stop_at:
            self.stop_at[0] -= 1
            if self.stop_at[0] == 0:
                raise KeyboardInterrupt
        super().search(*args, **options)


@st.composite
def drawn_searches(draw, *, wide=False):
    """Draw a small search for the plain loops, or a `wide` one, of which the direct searcher is the judge."""
    dimensions = draw(st.integers(1, 5))
    most_vars = {1: 9, 2: 9, 3: 9, 4: 8, 5: 8}[dimensions]
    if wide:
        most_vars = {1: 300, 2: 90, 3: 40, 4: 22, 5: 16}[dimensions]
    # Mostly one or two kinds: whole tuples of constants or of copies are where ties are.
    palette = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    n_vars = draw(st.integers(max(dimensions, 2), most_vars))
    few_levels = dimensions > 3
    if few_levels:
        palette = [kind for kind in palette if kind != "many"] or ["two"]
    kinds = draw(st.lists(st.sampled_from(palette), min_size=n_vars, max_size=n_vars))
    n_classes = draw(st.integers(2, 4 if dimensions < 4 else 3))
    n_samples = draw(st.integers(4 * n_classes, 600 if wide else 60))
    variables = draw(st.none() | st.sets(st.integers(0, n_vars - 1), min_size=1))
    require = draw(st.sampled_from(["any", "all"]))
    if variables is not None and require == "all" and len(variables) < dimensions:
        require = "any"
    shapes = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 12))
    return DrawnSearch(
        seed=draw(st.integers(0, 2**32 - 1)),
        kinds=tuple(kinds),
        n_samples=n_samples,
        dimensions=dimensions,
        divisions=draw(st.integers(1, 2 if few_levels else 3)),
        discretizations=draw(st.integers(1, 2)),
        range_=draw(st.sampled_from([0.0, 0.1, 0.5, 0.9])),
        pseudocount=draw(st.sampled_from([0.0, 0.1, 0.25, 1.0, 7.0])),
        n_classes=n_classes,
        continuous=draw(st.booleans()),
        n_strata=draw(st.sampled_from([0, 0, 2, 3])) if dimensions < 5 else 0,
        n_contrast=draw(st.integers(0, 3)),
        variables=None if variables is None else tuple(sorted(variables)),
        require=require,
        discrete=draw(st.sampled_from(["auto", "none", *(["all"] if set(kinds) <= FEW_VALUES else [])])),
        missing=draw(st.sampled_from(["level", "impute"])),
        n_threads=draw(st.sampled_from([1, 2, 5])),
        simd_level=draw(st.sampled_from(simd_levels())),
        tile_shape=draw(st.none() | shapes),
        stop_at=draw(st.integers(0, 6)),
        n_shards=draw(st.integers(0, 4)),
        min_gain=draw(st.sampled_from([0.0, 0.5, 2.0])),
        stat=draw(st.sampled_from(["MI", "H", "VI"] if dimensions == 2 else ["MI", "H"])),
        average=draw(st.booleans()),
    )
