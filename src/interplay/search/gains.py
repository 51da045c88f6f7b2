"""The search itself: a table and a decision → the maximum information gain of every variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from interplay.arrays import BitPlanes, BoolArray, CodeBlocks, DecisionClasses, IntArray, MaxGains
from interplay.engines.base import AsEngine, SearchWork, get_engine, tile_shape_for
from interplay.engines.tile_chunks import SMALL_TILES, StreamingEngine, tile_costs
from interplay.jobs import resolve_n_jobs
from interplay.progress import Progress, check_progress, show_progress
from interplay.search.checkpoint import AsCheckpoint, Checkpoint, as_checkpoint
from interplay.search.provenance import data_fingerprint
from interplay.search.settings import (
    Discrete,
    SearchSettings,
    asked_for_mask,
    check_contrast,
    check_search_settings,
    check_workspace,
    naming_contrast,
)
from interplay.search.tile_loop import Shard, TileLoop
from interplay.search.tuple_tiles import make_tuple_tiles
from interplay.steps.bit_planes import make_bit_planes
from interplay.steps.decision import decision_classes
from interplay.steps.discrete_codes import make_coder
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
    """Return the maximum information gain of every variable over all tuples that hold it.

    Every `dimensions`-tuple of variables is looked at. A variable's gain in a tuple is what it tells about the
    decision beyond the other members: the conditional mutual information, in bits times the number of samples.

    Parameters
    ----------
    X : table-like, (n_samples, n_vars)
        numpy, lists, pandas, polars, pyarrow, scipy sparse or AnnData; or what `interplay.genetics`,
        `interplay.singlecell` and `interplay.parquet` read from files.
    y : (n_samples,) array-like, or str
        The decision: labels of any kind, or numbers (see `decision`). A text is the name of a column of X, which is
        then no variable, or of an AnnData's ``.obs``.
    dimensions : int
        Members of a tuple. 1 looks at each variable alone, 2 at all pairs, and so on.
    divisions : int
        Each variable is cut at this many thresholds, into ``divisions + 1`` levels.
    discretizations : int
        How many random sets of thresholds to try; the maximum over all of them counts.
    range_ : float, optional
        How far thresholds may stray, 0 (equal shares) to 1. Default: 0 with one discretisation, `suggest_range`
        with several.
    pseudocount : float
        Added to each cell for the rarest class, and in proportion for the others.
    contrast : table-like, (n_samples, n_contrast), optional
        Contrast variables, such as `contrast_variables` makes. Each is met with every tuple of real variables, and
        the gain counts for the contrast variable alone.
    contrast_sources : (n_contrast,) int, optional
        The column of `X` each contrast variable is made from, as `contrast_variables` returns them: it is then taken
        as it is, or cut by rank, like that column. Without them, `discrete` decides anew.
    variables : iterable of names or numbers, optional
        Look only at tuples that hold one of these (``require="any"``) or nothing but these (``require="all"``).
        Variables in no such tuple have a gain of −inf.
    require : {"any", "all"}
        See `variables`.
    strata : (n_samples,) array-like, table-like, or str, optional
        Groups of samples, such as batch, sex or population; of several columns, each combination of values is one. The
        stratum is one more member of every tuple: a gain is what a variable tells beyond the other members *and* the
        stratum. Contrast variables should be permuted within strata, see `contrast_variables`. A text is a name, as
        for `y`.
    decision : {"auto", "classes", "continuous"}
        What `y` is. A continuous decision is cut by rank into ``decision_divisions + 1`` classes.
    decision_divisions : int
        Thresholds for a continuous decision.
    discrete : {"auto", "none", "all"} or list of columns
        Columns to take as they are, level by level. "auto": bool, categorical and text columns, and numbers with
        few distinct values.
    missing : {"error", "level", "impute"}
        Missing values are refused, a level of their own, or drawn from the column's other values.
    random_state : int, None, RandomState or Generator
        The same number gives the same thresholds as the R package MDFS.
    engine : {"auto", "cpu", "cuda", "dask"}, Engine or distributed.Client
        Where to compute. All engines give the same bits. "auto" takes a GPU where there is one and it pays, "dask" the
        current Dask client.
    n_jobs : int, optional
        Threads, as in scikit-learn: None for one, −1 for all.
    progress : bool, optional
        Show a progress bar; default: on a terminal, if the search takes a while.
    checkpoint : path-like or Checkpoint, optional
        A file in which the search is kept, at least once a minute and on Ctrl-C. The same call goes on from there, also
        after a crash, and with another engine or number of threads. A file of another search is refused. It stays when
        the search is done, so that the same call then returns at once.

    Returns
    -------
    MaxGains
        ``.gain``, ``.tuples``, ``.discretization``, ``.df`` per variable, ``.contrast_gain`` per contrast variable.

    Examples
    --------
    Two variables that say nothing alone, and everything together:

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
    if kept is not None:
        get_engine(engine, n_jobs=resolve_n_jobs(n_jobs))  # one that is not there is refused before a file is written
        kept.begin(
            about_search(table, classes, settings, fingerprint=data_fingerprint(table, classes, within))
            | {
                "contrast fingerprint": None if contrast_table is None else data_fingerprint(contrast_table, classes),
                "contrast_sources": None if contrast_sources is None else np.asarray(contrast_sources).tolist(),
                "variables": None if asked_for is None else np.flatnonzero(asked_for).tolist(),
                "require": require,
            }
        )
    (gains,) = search(
        table,
        classes,
        settings,
        contrast=contrast_table,
        contrast_sources=contrast_sources,
        asked_for=asked_for,
        require=require,
        strata=within,
        engine=engine,
        n_jobs=n_jobs,
        progress=progress,
        checkpoint=kept,
    )
    if kept is not None:
        kept.finish()
    return gains


def about_search(
    table: Table, classes: DecisionClasses, settings: SearchSettings, *, fingerprint: str
) -> dict[str, Any]:
    """Return what decides the gains: parts and checkpoints of one search agree in it."""
    decided = asdict(settings)
    return {
        "n_samples": table.n_samples,
        "n_vars": table.n_vars,
        "n_classes": classes.n_classes,
        "data fingerprint": fingerprint,
        "random_state": decided.pop("seed"),
        **decided,
    }


def search(table: Table, classes: DecisionClasses, settings: SearchSettings, **options: Any) -> tuple[MaxGains, ...]:
    """Return what `search_tiles` finds."""
    return search_tiles(table, classes, settings, **options).found


def search_tiles(
    table: Table,
    classes: DecisionClasses,
    settings: SearchSettings,
    *,
    contrast: Table | None = None,
    contrast_sources: IntArray | Sequence[int] | None = None,
    asked_for: BoolArray | None = None,
    require: str = "any",
    strata: Strata | None = None,
    alone: bool = False,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    shard: Shard | None = None,
    checkpoint: Checkpoint | None = None,
    name: str = "search",
    see_planes: Callable[[BitPlanes], None] | None = None,
) -> TileLoop:
    """Table → codes → bit planes → tuples → maximum gains, merged over the discretisations, in the loop's ``.found``.

    With `alone`, a second result follows: the gains of the real variables by themselves (1D), from the same codes.
    Only a part of the tuples is searched for a `shard`. A `checkpoint` keeps the state under `name`. With `strata`, the
    stratum is row 0 of planes and tiles, and no part of what is found. `see_planes` is called with the bit planes of
    each discretisation, also of those that the checkpoint has done.
    """
    check_progress(progress)
    n_threads = resolve_n_jobs(n_jobs)
    get_engine(engine, n_jobs=n_threads)  # an engine that is not there is refused before any work
    code = partial(
        make_coder,
        divisions=settings.divisions,
        discretizations=settings.discretizations,
        range_=settings.range_,
        seed=settings.seed,
        missing=settings.missing,
        n_jobs=n_threads,
    )
    coders = [code(table, discrete=settings.discrete)]
    if contrast is not None:
        if contrast_sources is not None:
            discrete = coders[0].is_discrete[np.asarray(contrast_sources)]
        else:  # a list of columns of X does not speak of other columns
            discrete = settings.discrete if isinstance(settings.discrete, str) else "auto"
        with naming_contrast():
            coders.append(code(contrast, discrete=discrete, first_variable=table.n_vars))
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
        n_strata=n_strata or 1,
    )
    worker = get_engine(engine, n_jobs=n_threads, work=work)
    dimensions = [settings.dimensions] + [1] * alone
    # Shards with and without a GPU must cut alike.
    shapes = [tile_shape_for(worker, k + len(fixed)) if shard is None else {} for k in dimensions]
    is_direct = np.any(n_levels > 2) or classes.n_classes > 2 or (n_strata or 2) > 2
    if is_direct and (shard is not None or checkpoint is not None or isinstance(worker, StreamingEngine)):
        shapes = [shape or SMALL_TILES for shape in shapes]
    if checkpoint is not None:  # what was begun on one engine goes on with another
        shapes = checkpoint.tile_shapes(name) or shapes
    make_tiles = partial(make_tuple_tiles, n_vars=table.n_vars, stratum_levels=n_strata)
    searches = [make_tiles(n_levels, dimensions=settings.dimensions, asked_for=asked_for, require=require, **shapes[0])]
    levels_of_rows = [n_levels]
    if alone:
        levels_of_rows.append(n_levels[: table.n_vars])
        searches.append(make_tiles(levels_of_rows[1], dimensions=1, **shapes[1]))
    levels_of_rows = [np.concatenate([*(part.n_levels for part in fixed), levels]) for levels in levels_of_rows]
    nothing = [
        MaxGains.empty(levels, tiles, n_vars=len(fixed) + table.n_vars, n_classes=classes.n_classes)
        for levels, tiles in zip(levels_of_rows, searches, strict=True)
    ]
    loop = TileLoop(
        worker,
        searches,
        settings.discretizations,
        nothing,
        names=table.names,
        shapes=shapes,
        shard=shard,
        costs=lambda tiles: tile_costs(tiles, levels_of_rows[0], classes.n_classes),
        checkpoint=checkpoint,
        name=name,
    )
    what = f"{settings.dimensions}D, {loop.n_tuples:.4g} tuples"
    try:
        with show_progress(progress, n_tuples=loop.n_tuples, what=what) as show:
            for d in range(settings.discretizations):
                if not loop.has_work(d) and see_planes is None:
                    continue
                parts = [*fixed, *(coder.code_blocks(d) for coder in coders)]
                planes = make_bit_planes(parts, classes, n_vars=len(fixed) + table.n_vars, n_jobs=n_threads)
                if see_planes is not None:
                    see_planes(planes)
                for i in range(len(searches) if loop.has_work(d) else 0):
                    rows_searched = planes if i == 0 else _real_rows(planes)
                    loop.search(rows_searched, d, i, pseudocount=settings.pseudocount, show=show)
        loop.finish()
    except KeyboardInterrupt as interrupt:
        loop.stop(interrupt)
    return loop


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
