"""Coded comparison + settings → PreparedSearch: the engine, the tiles and the planes of one search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from math import comb
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray
from interplay.base.planes import BitPlanes
from interplay.base.progress import Progress, show_progress
from interplay.base.tuples import MaxGains, TupleTiles
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.planes import planes_to_come
from interplay.data.study.study import Study
from interplay.data.study.table import Table
from interplay.search.checkpoint import Checkpoint
from interplay.search.engines.base import USUAL_TILES, Engine, TileShape
from interplay.search.engines.choice import EngineChoice, SearchWork, choose_engine
from interplay.search.engines.routing import tile_costs, tiles_too_large
from interplay.search.engines.sinks import Maxima
from interplay.search.loop import KeptTuples, Shard, TileLoop
from interplay.search.settings import SearchSettings, check_workspace
from interplay.search.tiles import make_tuple_tiles

#: A tile should take no longer: threads and machines finish together, and little is lost where a search is cut short.
_MAX_TILE_SECONDS = 5.0

#: Shapes to try where the usual tiles take longer, or their blocks are too large, from large to small. The variables
#: that fill lanes are the last to become fewer.
_SMALLER = (
    TileShape(block_size=16, middle_size=64),
    TileShape(block_size=16, middle_size=16),
    TileShape(block_size=8, middle_size=16),
    TileShape(block_size=8, middle_size=8),
    TileShape(block_size=6, middle_size=8),
    TileShape(block_size=4, middle_size=8),
    TileShape(block_size=4, middle_size=4),
    TileShape(block_size=8, middle_size=16, n_lanes=64),
)


def about_search(study: Study, settings: SearchSettings, *, n_threads: int) -> dict[str, Any]:
    """Return the entries that decide the gains: shards and checkpoints of one search agree in them."""
    return {
        "n_samples": study.n_samples,
        "n_vars": study.table.n_vars,
        "n_classes": study.compared.df + 1,  # a number outcome has one degree of freedom, as two classes have
        "data fingerprint": study.fingerprint(n_threads=n_threads),
        **{field.name: getattr(settings, field.name) for field in fields(SearchSettings)},
    }


def least_work(table: Table, settings: SearchSettings) -> SearchWork:
    """Return a lower bound of the work, with two levels of each variable: columns are not surveyed yet."""
    n_tuples = settings.discretizations * float(comb(table.n_vars, settings.dimensions))
    return SearchWork(n_tuples, table.n_samples, n_cells=2.0**settings.dimensions)


@dataclass(frozen=True, eq=False)
class PreparedSearch:
    """A search that is ready to run: on which engine, in which tiles, with which planes."""

    #: Makes the planes.
    coded: CodedComparison
    settings: SearchSettings
    #: The tuples, and the real variables by themselves where these are asked for too.
    searches: list[TupleTiles]
    #: The tiles that are to be done here, the engine, and the finds.
    loop: TileLoop

    @property
    def engine(self) -> Engine:
        return self.loop.engine

    @property
    def n_tuples(self) -> float:
        """Tuples to be searched here, over all discretisations, once."""
        return sum(float(self.loop.tiles_at(d).n_tuples.sum()) for d in range(self.settings.discretizations))

    def run(
        self,
        progress: Progress = None,
        *,
        see_planes: Callable[[BitPlanes], None] | None = None,
        keep: KeptTuples | None = None,
    ) -> tuple[MaxGains, ...]:
        """Search, discretisation by discretisation; return the maxima of each list of tiles.

        `see_planes` is called with the bit planes of each discretisation, also of those that a checkpoint has done.
        With `keep`, which a search of another kind than maxima needs, the loop lists the tuples that are kept.
        """
        loop = self.loop
        what = f"{self.settings.dimensions}D, {loop.n_tuples:.4g} tuples"
        try:
            with show_progress(progress, n_tuples=loop.n_tuples, what=what) as show:
                for d in range(self.settings.discretizations):
                    if not loop.has_work(d) and see_planes is None:
                        continue
                    planes = self.coded.planes(d)
                    if see_planes is not None:
                        see_planes(planes)
                    for i in range(len(self.searches)):
                        rows_searched = planes if i == 0 else _real_rows(planes)
                        loop.search(rows_searched, d, i, pseudocount=self.settings.pseudocount, show=show, keep=keep)
            loop.finish()
        except KeyboardInterrupt as interrupt:
            loop.stop(interrupt)
        return loop.found


def prepare_search(
    coded: CodedComparison,
    settings: SearchSettings,
    choice: EngineChoice,
    *,
    asked_for: BoolArray | None = None,
    require: str = "any",
    alone: bool = False,
    shard: Shard | None = None,
    checkpoint: Checkpoint | None = None,
    name: str = "search",
    kind: str = Maxima.kind,
) -> PreparedSearch:
    """Codes → tuples → tiles for the engine that suits the work; ``.run()`` searches them.

    With `alone`, a second result follows: the gains of the real variables by themselves (1D), from the same codes.
    Only a part of the tuples is searched for a `shard`. A `checkpoint` keeps the state under `name`. With strata, the
    stratum is row 0 of planes and tiles, and no part of the finds. The search is into sinks of this `kind`.
    """
    if checkpoint is not None:
        coded.keep_large_planes(checkpoint.planes_file)
    comparison, n_levels = coded.comparison, coded.n_levels
    table, outcome, strata = comparison.table, comparison.outcome, comparison.strata
    n_strata = None if strata is None else strata.n_strata
    check_workspace(n_levels, outcome, settings.dimensions, n_vars=table.n_vars, n_strata=n_strata or 1)

    work = SearchWork.of(
        n_levels,
        n_vars=table.n_vars,
        n_samples=table.n_samples,
        dimensions=settings.dimensions,
        discretizations=settings.discretizations,
        asked_for=asked_for,
        require=require,
        n_strata=n_strata or 1,
    )
    worker = choose_engine(choice, work)
    dimensions = [settings.dimensions] + [1] * alone
    stratum = np.array([] if n_strata is None else [n_strata], dtype=np.int64)
    make_tiles = partial(make_tuple_tiles, n_vars=table.n_vars, stratum_levels=n_strata)
    cuts = [partial(make_tiles, n_levels, dimensions=settings.dimensions, asked_for=asked_for, require=require)]
    cuts += [partial(make_tiles, n_levels[: table.n_vars], dimensions=1)] * alone
    to_come = planes_to_come(
        np.concatenate([stratum, n_levels]),
        outcome.sizes,
        n_vars=len(stratum) + table.n_vars,
        scores=outcome.integers,
    )
    # A search that was begun on one engine goes on with another; shards with and without a GPU must cut alike.
    begun = None if checkpoint is None else checkpoint.tile_shapes(name)
    if begun is not None:
        cut = [(shape, cut_as(**vars(shape))) for shape, cut_as in zip(begun, cuts, strict=True)]
    else:
        wanted = [worker.tile_shape(k + len(stratum)) if shard is None else USUAL_TILES for k in dimensions]
        cut = [
            cut_for_processor(cut_as, to_come, settings.pseudocount)
            if shape == USUAL_TILES
            else (shape, cut_as(**vars(shape)))
            for shape, cut_as in zip(wanted, cuts, strict=True)
        ]
    shapes, searches = [shape for shape, _ in cut], [tiles for _, tiles in cut]
    nothing: list[MaxGains] = []
    if kind == Maxima.kind:
        of_searches = [to_come, _real_rows(to_come)] if alone else [to_come]
        nothing = [MaxGains.none_yet(planes, tiles) for planes, tiles in zip(of_searches, searches, strict=True)]
    loop = TileLoop(
        worker,
        searches,
        settings.discretizations,
        nothing,
        kind=kind,
        names=table.names,
        shapes=shapes,
        shard=shard,
        costs=partial(tile_costs, to_come, pseudocount=settings.pseudocount),
        checkpoint=checkpoint,
        name=name,
    )
    worker.begin(to_come, searches[0], kind=kind, pseudocount=settings.pseudocount)
    return PreparedSearch(coded, settings, searches, loop)


def cut_for_processor(
    cut: Callable[..., TupleTiles], planes: BitPlanes, pseudocount: float
) -> tuple[TileShape, TupleTiles]:
    """Cut into tiles of the usual shape, or of the first shape that suits the searchers; return the shape, too.

    Where no shape suits, the nearest is taken: blocks become larger than asked for where tiles would be too many. A
    plain search is cut like shards, checkpoints and clusters. `cut` takes the sizes of blocks; planes need no words.
    """
    nearest: tuple[tuple[bool, float], TileShape, TupleTiles] | None = None
    for shape in (USUAL_TILES, *_SMALLER):
        tiles = cut(**vars(shape))
        wants_smaller, nanoseconds = tiles_too_large(planes, tiles, pseudocount)
        misses = wants_smaller, max(1e-9 * nanoseconds, _MAX_TILE_SECONDS)
        if nearest is None or misses < nearest[0]:
            nearest = misses, shape, tiles
        if misses == (False, _MAX_TILE_SECONDS):
            break
    assert nearest is not None
    return nearest[1:]


def _real_rows(planes: BitPlanes) -> BitPlanes:
    """Leave the contrast variables out."""
    return replace(
        planes,
        words=planes.words[: planes.plane_start[planes.n_vars]],
        plane_start=planes.plane_start[: planes.n_vars + 1],
        n_levels=planes.n_levels[: planes.n_vars],
    )
