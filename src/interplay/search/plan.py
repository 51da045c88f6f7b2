"""The search itself: a table and a decision → the maximum information gain of every variable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from interplay.base.arrays import BitPlanes, BoolArray, CodeBlocks, DecisionClasses, IntArray, MaxGains, TupleTiles
from interplay.base.progress import Progress, show_progress
from interplay.codes.coded import coder_for, contrast_coder
from interplay.codes.coder import Coder
from interplay.codes.planes import make_bit_planes, planes_to_come
from interplay.engines.base import USUAL_TILES, Engine
from interplay.engines.choice import EngineChoice, SearchWork, choose_engine
from interplay.engines.routing import tile_costs
from interplay.engines.sinks import Maxima
from interplay.search.checkpoint import Checkpoint
from interplay.search.loop import KeptTuples, Shard, TileLoop
from interplay.search.settings import (
    SearchSettings,
    check_workspace,
)
from interplay.search.tile_shapes import cut_for_processor
from interplay.search.tiles import make_tuple_tiles
from interplay.study.comparisons import Comparison
from interplay.study.strata import Strata
from interplay.study.study import Study
from interplay.study.table import Table


def about_search(study: Study, settings: SearchSettings, *, n_threads: int) -> dict[str, Any]:
    """Return the entries that decide the gains: shards and checkpoints of one search agree in them."""
    return {
        "n_samples": study.n_samples,
        "n_vars": study.table.n_vars,
        "n_classes": study.classes.n_classes,
        "data fingerprint": study.fingerprint(n_threads=n_threads),
        **{field.name: getattr(settings, field.name) for field in fields(SearchSettings)},
    }


def least_work(table: Table, settings: SearchSettings) -> SearchWork:
    """Return how much there is to do at least: of two levels, before anybody looks at the columns."""
    return SearchWork.of(
        np.full(table.n_vars, 2),
        n_vars=table.n_vars,
        n_samples=table.n_samples,
        dimensions=settings.dimensions,
        discretizations=settings.discretizations,
    )


def search(
    comparison: Comparison,
    settings: SearchSettings,
    choice: EngineChoice,
    *,
    contrast: Table | None = None,
    contrast_sources: IntArray | Sequence[int] | None = None,
    progress: Progress = None,
    **options: Any,
) -> tuple[MaxGains, ...]:
    """Table → codes → bit planes → maximum gains, merged over the discretisations; `options` as in `prepare_search`."""
    table = comparison.table
    coder = coder_for(table, settings, n_threads=choice.reading_threads(least_work(table, settings)))
    coded = None if contrast is None else contrast_coder(coder, contrast, settings, sources=contrast_sources)
    options |= {"contrast": coded, "contrast_sources": contrast_sources, "strata": comparison.strata}
    return prepare_search(coder, comparison.classes, settings, choice, **options).run(progress)


@dataclass(frozen=True, eq=False)
class PreparedSearch:
    """A search that is ready to run: on which engine, in which tiles, and from what the planes are made.

    Attributes
    ----------
    searches : list of TupleTiles
        The tuples, and the real variables by themselves where these are asked for too.
    loop : TileLoop
        What of the tiles is to be done here, by which engine; what was found.
    contrast_sources : (n_contrast,) int, optional
        The variable that each contrast variable is made from, where that is known.
    """

    searches: list[TupleTiles]
    loop: TileLoop
    contrast_sources: IntArray | Sequence[int] | None
    _settings: SearchSettings
    _classes: DecisionClasses
    _fixed: list[CodeBlocks]
    _coders: list[Coder]

    @property
    def engine(self) -> Engine:
        return self.loop.engine

    @property
    def n_samples(self) -> int:
        return len(self._classes.codes)

    @property
    def n_jobs(self) -> int:
        """Threads that make codes and planes."""
        return self._coders[0].n_jobs

    def parts(self, d: int) -> list[CodeBlocks]:
        """Return the codes of one discretisation: the stratum, if there is one, variables, contrast variables."""
        return [*self._fixed, *(coder.code_blocks(d) for coder in self._coders)]

    def planes(
        self, d: int, *, classes: DecisionClasses | None = None, parts: list[CodeBlocks] | None = None
    ) -> BitPlanes:
        """Make the bit planes of one discretisation; of other `classes`, or from its `parts` where these are kept."""
        variables = self._coders[0]
        return make_bit_planes(
            self.parts(d) if parts is None else parts,
            self._classes if classes is None else classes,
            n_vars=len(self._fixed) + variables.table.n_vars,
            n_jobs=variables.n_jobs,
        )

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
        what = f"{self._settings.dimensions}D, {loop.n_tuples:.4g} tuples"
        try:
            with show_progress(progress, n_tuples=loop.n_tuples, what=what) as show:
                for d in range(self._settings.discretizations):
                    if not loop.has_work(d) and see_planes is None:
                        continue
                    planes = self.planes(d)
                    if see_planes is not None:
                        see_planes(planes)
                    for i in range(len(self.searches)):
                        rows_searched = planes if i == 0 else _real_rows(planes)
                        loop.search(rows_searched, d, i, pseudocount=self._settings.pseudocount, show=show, keep=keep)
            loop.finish()
        except KeyboardInterrupt as interrupt:
            loop.stop(interrupt)
        return loop.found


def prepare_search(
    coder: Coder,
    classes: DecisionClasses,
    settings: SearchSettings,
    choice: EngineChoice,
    *,
    contrast: Coder | None = None,
    contrast_sources: IntArray | Sequence[int] | None = None,
    asked_for: BoolArray | None = None,
    require: str = "any",
    strata: Strata | None = None,
    alone: bool = False,
    shard: Shard | None = None,
    checkpoint: Checkpoint | None = None,
    name: str = "search",
    kind: str = Maxima.kind,
) -> PreparedSearch:
    """Codes → tuples → tiles for the engine that suits the work; ``.run()`` searches them.

    With `alone`, a second result follows: the gains of the real variables by themselves (1D), from the same codes.
    Only a part of the tuples is searched for a `shard`. A `checkpoint` keeps the state under `name`. With `strata`, the
    stratum is row 0 of planes and tiles, and no part of what is found. The search is into sinks of this `kind`.
    """
    table, coders = coder.table, [coder] if contrast is None else [coder, contrast]
    # A column with one value counts as two levels, one of them empty: no special case anywhere after this.
    n_levels = np.maximum(np.concatenate([coder.n_levels for coder in coders]), 2)
    fixed: list[CodeBlocks] = [] if strata is None else [strata.as_codes()]
    n_strata = None if strata is None else strata.n_strata
    check_workspace(n_levels, classes, settings.dimensions, n_strata=n_strata or 1)

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
    n_rows = [len(n_levels)] + [table.n_vars] * alone
    levels_of_rows = [np.concatenate([*(part.n_levels for part in fixed), n_levels[:n]]) for n in n_rows]
    make_tiles = partial(make_tuple_tiles, n_vars=table.n_vars, stratum_levels=n_strata)
    cuts = [partial(make_tiles, n_levels, dimensions=settings.dimensions, asked_for=asked_for, require=require)]
    cuts += [partial(make_tiles, n_levels[: table.n_vars], dimensions=1)] * alone
    rows: dict[str, Any] = {
        "n_levels": levels_of_rows[0],
        "n_vars": len(fixed) + table.n_vars,
        "class_sizes": classes.sizes,
        "pseudocount": settings.pseudocount,
    }
    # What was begun on one engine goes on with another; shards with and without a GPU must cut alike.
    begun = None if checkpoint is None else checkpoint.tile_shapes(name)
    if begun is not None:
        cut = [(shape, cut_as(**vars(shape))) for shape, cut_as in zip(begun, cuts, strict=True)]
    else:
        wanted = [worker.tile_shape(k + len(fixed)) if shard is None else USUAL_TILES for k in dimensions]
        cut = [
            cut_for_processor(cut_as, **rows) if shape == USUAL_TILES else (shape, cut_as(**vars(shape)))
            for shape, cut_as in zip(wanted, cuts, strict=True)
        ]
    shapes, searches = [shape for shape, _ in cut], [tiles for _, tiles in cut]
    nothing = [
        MaxGains.empty(levels, tiles, n_vars=len(fixed) + table.n_vars, n_classes=classes.n_classes)
        for levels, tiles in zip(levels_of_rows, searches, strict=True)
    ]
    loop = TileLoop(
        worker,
        searches,
        settings.discretizations,
        nothing,
        kind=kind,
        names=table.names,
        shapes=shapes,
        shard=shard,
        costs=partial(tile_costs, **rows),
        checkpoint=checkpoint,
        name=name,
    )
    to_come = planes_to_come(levels_of_rows[0], classes, n_vars=rows["n_vars"])
    worker.begin(to_come, searches[0], kind=kind, pseudocount=settings.pseudocount)
    return PreparedSearch(searches, loop, contrast_sources, settings, classes, fixed, coders)


def _real_rows(planes: BitPlanes) -> BitPlanes:
    """Leave the contrast variables out."""
    n_planes = planes.plane_start[planes.n_vars]
    return BitPlanes(
        words=planes.words[:n_planes],
        plane_start=planes.plane_start[: planes.n_vars + 1],
        n_levels=planes.n_levels[: planes.n_vars],
        class_word_start=planes.class_word_start,
        class_sizes=planes.class_sizes,
        n_vars=planes.n_vars,
    )
