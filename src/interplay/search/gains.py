"""The search itself: a table and a decision → the maximum information gain of every variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from interplay.arrays import BitPlanes, BoolArray, CodeBlocks, DecisionClasses, IntArray, MaxGains, TupleTiles
from interplay.engines.base import USUAL_TILES, Engine
from interplay.engines.choice import AsEngine, EngineChoice, SearchWork, check_engine, choose_engine
from interplay.engines.routing import tile_costs
from interplay.progress import Progress, check_progress, show_progress
from interplay.search.checkpoint import AsCheckpoint, Checkpoint, as_checkpoint, keeping
from interplay.search.coders import coder_for, contrast_coder
from interplay.search.fingerprint import data_fingerprint
from interplay.search.settings import (
    Discrete,
    SearchSettings,
    asked_for_mask,
    check_contrast,
    check_search_settings,
    check_workspace,
)
from interplay.search.tile_loop import Shard, TileLoop
from interplay.search.tile_shapes import cut_for_processor
from interplay.search.tuple_tiles import make_tuple_tiles
from interplay.steps.bit_planes import make_bit_planes, planes_to_come
from interplay.steps.decision import decision_classes
from interplay.steps.discrete_codes import Coder
from interplay.steps.named_columns import take_columns
from interplay.steps.strata import Strata, check_strata, make_strata
from interplay.steps.table import Table


def max_information_gain(
    X: Any,
    y: Any,
    *,
    dimensions: int = 2,
    divisions: int = 1,
    discretizations: int = 1,
    range_: float | None = None,
    pseudocount: float = 0.25,
    contrast: Any = None,
    contrast_sources: IntArray | Sequence[int] | None = None,
    variables: Iterable[Any] | None = None,
    require: str = "any",
    strata: Any = None,
    decision: str = "auto",
    decision_divisions: int = 1,
    discrete: Discrete = "auto",
    missing: str = "error",
    random_state: Any = 0,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: AsCheckpoint = None,
) -> MaxGains:
    """Return the maximum information gain of every variable over all tuples that contain it.

    The search is exhaustive: it looks at every `dimensions`-tuple of variables. The gain of a variable in a tuple is
    its information about the outcome beyond that of the other members: the conditional mutual information, in bits
    times the number of samples.

    Parameters
    ----------
    X : table-like, (n_samples, n_vars)
        The table: one row per sample, one column per variable. A numpy array, a list of rows, a pandas, polars or
        pyarrow table, a scipy sparse matrix, an AnnData, or what `interplay.genetics`, `interplay.singlecell` and
        `interplay.parquet` read from files.
    y : (n_samples,) array-like, or str
        The outcome to explain, which the papers on the method call the *decision*: labels of any kind, or numbers (see
        `decision`). A string names a column of `X`, which is then not a variable, or a column of an AnnData's ``.obs``.
    dimensions : int
        Number of variables in a tuple: 1 looks at each variable alone, 2 at all pairs, 3 at all triples, and so on.
    divisions : int
        Number of thresholds at which each numeric variable is cut, which gives ``divisions + 1`` levels.
    discretizations : int
        Number of random sets of thresholds to try. The gain of a variable is its maximum over all of them.
    range_ : float, optional
        How much the thresholds vary between discretisations, from 0 (levels of equal size, nothing random) to 1. By
        default 0 with one discretisation, and `suggest_range` with several.
    pseudocount : float
        Added to the count of the rarest class in each cell of a tuple's table, and in proportion to the class sizes for
        the other classes.
    contrast : table-like, (n_samples, n_contrast), optional
        Contrast variables, such as `contrast_variables` makes. Each is combined with every tuple of real variables, and
        the gain is recorded for the contrast variable only.
    contrast_sources : (n_contrast,) int, optional
        The column of `X` from which each contrast variable was made, as `contrast_variables` returns them. A contrast
        variable is then taken as it is, or cut by rank, like its source. Without them, `discrete` decides for each
        contrast variable.
    variables : iterable of names or numbers, optional
        Look only at tuples that contain at least one of these variables (``require="any"``), or only at tuples that
        consist of these variables (``require="all"``).

        A variable that is in no such tuple has a gain of −inf.
    require : {"any", "all"}
        Whether a tuple must contain at least one of `variables`, or must consist of them.
    strata : (n_samples,) array-like, table-like, or str, optional
        Groups of samples, such as batch, sex or population, within which the outcome is analysed. The stratum is one
        more member of every tuple: a gain is the information of a variable about the outcome beyond the other members
        and beyond the stratum. With several columns, each combination of values is a stratum. A string names a column,
        as for `y`.

        Contrast variables should be permuted within the strata as well; see `contrast_variables`.
    decision : {"auto", "classes", "continuous"}
        Whether the values of `y` are classes or a continuous outcome, which is cut by rank into ``decision_divisions +
        1`` classes. "auto": numbers with fractional parts, and whole numbers with more than 20 distinct values, are
        continuous, unless there are only two distinct values.
    decision_divisions : int
        Number of thresholds at which a continuous outcome is cut. Classes are left as they are.
    discrete : {"auto", "none", "all"} or list of columns
        Columns whose values are used as levels instead of being cut by rank. "auto": bool, categorical and text
        columns, and numeric columns with at most max(3, ``divisions + 1``) distinct values.
    missing : {"error", "level", "impute"}
        Missing values are refused ("error"), become a level of their own ("level"), or are drawn at random from the
        observed values of the column ("impute").
    random_state : int, None, RandomState or Generator
        Seed of all random draws. The same integer gives the same thresholds as in the R package MDFS.

        None draws a new seed.
    engine : {"auto", "cpu", "cuda", "dask"}, Engine or distributed.Client
        Where to compute. All engines give exactly the same numbers. "auto" uses a GPU if there is one and the search is
        long enough to profit from it.

        "dask" uses the current Dask client.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None for one, −1 for all cores.
    progress : bool or callable, optional
        Whether to show progress. By default a bar is shown on a terminal if the search takes a while. A function is
        called with the share that is done, from 0 to 1.
    checkpoint : path-like or Checkpoint, optional
        File that keeps the state of the search. It is written at least once a minute and on Ctrl-C. The same call
        resumes from it, also after a crash, and also with another engine or number of threads. A checkpoint of another
        search is refused. The file stays when the search is done, and the same call then returns at once.

    Returns
    -------
    MaxGains
        ``.gain``, ``.tuples``, ``.discretization`` and ``.df`` of each variable, ``.contrast_gain`` of each contrast
        variable.

    Examples
    --------
    Two variables that are informative only together:

    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 6))
    >>> y = (X[:, 1] > 0) ^ (X[:, 4] > 0)
    >>> alone = interplay.max_information_gain(X, y, dimensions=1)
    >>> pairs = interplay.max_information_gain(X, y, dimensions=2)
    >>> bool(alone.gain.max() < 6)
    True
    >>> np.flatnonzero(pairs.gain > 100)
    array([1, 4])
    >>> pairs.tuples[1]
    array([1, 4])
    """
    table, y, strata = take_columns(X, y, strata)
    classes = decision_classes(y, n_samples=table.n_samples, decision=decision, decision_divisions=decision_divisions)
    within = make_strata(strata, n_samples=table.n_samples)
    if within is not None:
        check_strata(within, classes)
    kept = as_checkpoint(checkpoint)
    if kept is not None and random_state is None:
        random_state = kept.seed
    settings = check_search_settings(
        table,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=range_,
        pseudocount=pseudocount,
        discrete=discrete,
        missing=missing,
        random_state=random_state,
    )
    contrast_table = None if contrast is None else check_contrast(contrast, contrast_sources, table)
    asked_for = asked_for_mask(table, variables, require, settings.dimensions)
    check_progress(progress)
    choice = check_engine(engine, n_jobs=n_jobs)  # one that is not there is refused before a file is written

    def about(like: str | None) -> dict[str, Any]:
        fingerprint = partial(data_fingerprint, like=like, n_threads=choice.n_threads)
        return about_search(table, classes, settings, fingerprint=fingerprint(table, classes, within)) | {
            "contrast fingerprint": None if contrast_table is None else fingerprint(contrast_table, classes),
            "contrast_sources": None if contrast_sources is None else np.asarray(contrast_sources).tolist(),
            "variables": None if asked_for is None else np.flatnonzero(asked_for).tolist(),
            "require": require,
        }

    with keeping(kept, about):
        (gains,) = search(
            table,
            classes,
            settings,
            choice,
            contrast=contrast_table,
            contrast_sources=contrast_sources,
            asked_for=asked_for,
            require=require,
            strata=within,
            checkpoint=kept,
            progress=progress,
        )
    return gains


def about_search(
    table: Table, classes: DecisionClasses, settings: SearchSettings, *, fingerprint: str
) -> dict[str, Any]:
    """Return what decides the gains: parts and checkpoints of one search agree in it."""
    return {
        "n_samples": table.n_samples,
        "n_vars": table.n_vars,
        "n_classes": classes.n_classes,
        "data fingerprint": fingerprint,
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
    table: Table,
    classes: DecisionClasses,
    settings: SearchSettings,
    choice: EngineChoice,
    *,
    contrast: Table | None = None,
    contrast_sources: IntArray | Sequence[int] | None = None,
    progress: Progress = None,
    **options: Any,
) -> tuple[MaxGains, ...]:
    """Table → codes → bit planes → maximum gains, merged over the discretisations; `options` as in `prepare_search`."""
    coder = coder_for(table, settings, n_threads=choice.reading_threads(least_work(table, settings)))
    coded = None if contrast is None else contrast_coder(coder, contrast, settings, sources=contrast_sources)
    options |= {"contrast": coded, "contrast_sources": contrast_sources}
    return prepare_search(coder, classes, settings, choice, **options).run(progress)


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
        self, progress: Progress = None, *, see_planes: Callable[[BitPlanes], None] | None = None
    ) -> tuple[MaxGains, ...]:
        """Search, discretisation by discretisation; return what was found for each list of tiles.

        `see_planes` is called with the bit planes of each discretisation, also of those that a checkpoint has done.
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
                        loop.search(rows_searched, d, i, pseudocount=self._settings.pseudocount, show=show)
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
    make_loop: Callable[..., TileLoop] = TileLoop,
) -> PreparedSearch:
    """Codes → tuples → tiles for the engine that suits the work; ``.run()`` gives the maxima over the discretisations.

    With `alone`, a second result follows: the gains of the real variables by themselves (1D), from the same codes.
    Only a part of the tuples is searched for a `shard`. A `checkpoint` keeps the state under `name`. With `strata`, the
    stratum is row 0 of planes and tiles, and no part of what is found. `make_loop` makes a TileLoop that does something
    else with the tiles.
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
    loop = make_loop(
        worker,
        searches,
        settings.discretizations,
        nothing,
        names=table.names,
        shapes=shapes,
        shard=shard,
        costs=partial(tile_costs, **rows),
        checkpoint=checkpoint,
        name=name,
    )
    if make_loop is TileLoop:
        to_come = planes_to_come(levels_of_rows[0], classes, n_vars=rows["n_vars"])
        worker.begin(to_come, searches[0], pseudocount=settings.pseudocount)
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
