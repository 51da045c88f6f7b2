"""The search itself: a table and a decision → the maximum information gain of every variable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any

import numpy as np

from interplay.arrays import BitPlanes, BoolArray, DecisionClasses, IntArray, MaxGains
from interplay.checks import check_choice, check_int, check_real
from interplay.engines.base import Engine, SearchInterrupted, SearchWork, get_engine, tile_shape_for
from interplay.engines.tuple_tiles import make_tuple_tiles
from interplay.jobs import resolve_n_jobs
from interplay.progress import ShowDone, show_progress
from interplay.steps.bit_planes import make_bit_planes
from interplay.steps.decision import decision_classes
from interplay.steps.discrete_codes import make_coder, resolve_range
from interplay.steps.seeds import resolve_seed
from interplay.steps.table import Table, as_table

#: Working memory of one thread, which holds the cells of a tuple and of its prefixes.
_MAX_WORKSPACE_BYTES = 1 << 30

Discrete = str | Sequence[Any] | BoolArray


@dataclass(frozen=True)
class SearchSettings:
    """What decides the gains, checked, with the seed and the range made definite."""

    dimensions: int
    divisions: int
    discretizations: int
    range_: float
    pseudocount: float
    discrete: Discrete
    missing: str
    seed: int


def check_search_settings(
    table: Table,
    *,
    dimensions: int,
    divisions: int,
    discretizations: int,
    range_: float | None,
    pseudocount: float,
    discrete: Discrete,
    missing: str,
    random_state: Any,
) -> SearchSettings:
    """Check the settings of a search against each other and the table's shape."""
    dimensions = check_int("dimensions", dimensions, low=1)
    if dimensions > table.n_vars:
        raise ValueError(
            f"dimensions={dimensions} needs at least {dimensions} variables, and X has {table.n_vars}: lower dimensions"
        )
    divisions = check_int("divisions", divisions, low=1, high=255)
    discretizations = check_int("discretizations", discretizations, low=1)
    return SearchSettings(
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=resolve_range(
            range_,
            n_samples=table.n_samples,
            dimensions=dimensions,
            divisions=divisions,
            discretizations=discretizations,
        ),
        pseudocount=check_real("pseudocount", pseudocount, low=0.0, high=1e6),
        discrete=discrete if isinstance(discrete, str) else _listed("discrete", discrete),
        missing=check_choice("missing", missing, ("error", "level", "impute")),
        seed=resolve_seed(random_state),
    )


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
    decision: str = "auto",
    decision_divisions: int = 1,
    discrete: Discrete = "auto",
    missing: str = "error",
    random_state: Any = 0,
    engine: str | Engine = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> MaxGains:
    """Return the maximum information gain of every variable over all tuples that hold it.

    Every `dimensions`-tuple of variables is looked at. A variable's gain in a tuple is what it tells about the
    decision beyond the other members: the conditional mutual information, in bits times the number of samples.

    Parameters
    ----------
    X : table-like, (n_samples, n_vars)
        numpy, lists, pandas, polars, pyarrow or scipy sparse.
    y : (n_samples,) array-like
        The decision: labels of any kind, or numbers (see `decision`).
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
    engine : {"auto", "cpu", "cuda"} or Engine
        Where to compute. All engines give the same bits. "auto" takes a GPU where there is one and it pays.
    n_jobs : int, optional
        Threads, as in scikit-learn: None for one, −1 for all.
    progress : bool, optional
        Show a progress bar; default: on a terminal, if the search takes a while.

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
    table = as_table(X)
    classes = decision_classes(y, n_samples=table.n_samples, decision=decision, decision_divisions=decision_divisions)
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
    contrast_table = None if contrast is None else _check_contrast(contrast, contrast_sources, table)
    (gains,) = search(
        table,
        classes,
        settings,
        contrast=contrast_table,
        contrast_sources=contrast_sources,
        asked_for=asked_for_mask(table, variables, require, settings.dimensions),
        require=require,
        engine=engine,
        n_jobs=n_jobs,
        progress=progress,
    )
    return gains


def search(
    table: Table,
    classes: DecisionClasses,
    settings: SearchSettings,
    *,
    contrast: Table | None = None,
    contrast_sources: IntArray | Sequence[int] | None = None,
    asked_for: BoolArray | None = None,
    require: str = "any",
    alone: bool = False,
    engine: str | Engine = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> tuple[MaxGains, ...]:
    """Table → codes → bit planes → tuples → maximum gains, merged over the discretisations.

    With `alone`, a second result follows: the gains of the real variables by themselves (1D), from the same codes.
    """
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
        with _naming_contrast():
            coders.append(code(contrast, discrete=discrete, first_variable=table.n_vars))
    # A column with one value counts as two levels, one of them empty: no special case anywhere after this.
    n_levels = np.maximum(np.concatenate([coder.n_levels for coder in coders]), 2)
    check_workspace(n_levels, classes, settings.dimensions)

    worker = get_engine(engine, n_jobs=n_threads, work=_work(n_levels, table, settings))
    shape = tile_shape_for(worker, settings.dimensions)
    searches = [
        make_tuple_tiles(
            n_levels, n_vars=table.n_vars, dimensions=settings.dimensions, asked_for=asked_for, require=require, **shape
        )
    ]
    if alone:
        shape = tile_shape_for(worker, 1)
        searches.append(make_tuple_tiles(n_levels[: table.n_vars], n_vars=table.n_vars, dimensions=1, **shape))
    found: list[MaxGains | None] = [None] * len(searches)
    n_tuples = settings.discretizations * sum(tiles.n_tuples.sum() for tiles in searches)
    done = 0.0
    try:
        with show_progress(progress, n_tuples=n_tuples, what=f"{settings.dimensions}D, {n_tuples:.4g} tuples") as show:
            for d in range(settings.discretizations):
                planes = make_bit_planes([coder.codes(d) for coder in coders], classes, n_jobs=n_threads)
                for i, tiles in enumerate(searches):
                    found[i] = worker.max_gains(
                        planes if i == 0 else _real_rows(planes),
                        tiles,
                        pseudocount=settings.pseudocount,
                        discretization=d,
                        known=found[i],
                        on_progress=None if show is None else partial(_show_after, show, done),
                    )
                    done += tiles.n_tuples.sum()
    except KeyboardInterrupt as interrupt:
        # Wherever it struck, what was found until then is handed over, counted against the whole search.
        if isinstance(interrupt, SearchInterrupted):
            done += interrupt.done * tiles.n_tuples.sum()
            found[i] = interrupt.partial
        if found[0] is None:
            raise
        raise SearchInterrupted(found[0], float(done / n_tuples)) from None
    return tuple(gains for gains in found if gains is not None)


def _work(n_levels: IntArray, table: Table, settings: SearchSettings) -> SearchWork:
    """Say how much there is to do, roughly: all tuples of real variables and those with a contrast variable."""
    k, n_contrast = settings.dimensions, len(n_levels) - table.n_vars
    n_tuples = float(comb(table.n_vars, k)) + n_contrast * float(comb(table.n_vars, k - 1))
    return SearchWork(
        n_tuples=settings.discretizations * n_tuples,
        n_samples=table.n_samples,
        n_cells=float(n_levels.mean()) ** k,
    )


def _show_after(show: ShowDone, before: float, done: int) -> None:
    show(before + done)


@contextmanager
def _naming_contrast() -> Iterator[None]:
    """Say in errors about contrast variables that it is these which are meant."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise type(error)(f"contrast: {error}") from None


def _check_contrast(contrast: Any, sources: IntArray | Sequence[int] | None, table: Table) -> Table:
    with _naming_contrast():
        contrast_table = as_table(contrast)
    if contrast_table.n_samples != table.n_samples:
        raise ValueError(
            f"contrast has {contrast_table.n_samples} samples and X has {table.n_samples}: they must be the same"
        )
    if sources is not None:
        numbers = [check_int("each number in contrast_sources", v, low=0, high=table.n_vars - 1) for v in sources]
        if len(numbers) != contrast_table.n_vars:
            raise ValueError(
                f"contrast_sources must have one entry per contrast variable: {len(numbers)} entries, "
                f"{contrast_table.n_vars} contrast variables"
            )
    return contrast_table


def _listed(name: str, values: Any) -> list[Any]:
    """Return an argument that is a collection as a list of plain values, to be used and recorded more than once."""
    try:
        entries = list(values)
    except TypeError:
        raise TypeError(f"{name} must be a list of names or numbers of columns, not {values!r}") from None
    return [entry.item() if isinstance(entry, np.generic) else entry for entry in entries]


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


def asked_for_mask(table: Table, variables: Iterable[Any] | None, require: str, dimensions: int) -> BoolArray | None:
    """Turn names or numbers of variables into a mask."""
    check_choice("require", require, ("any", "all"))
    if variables is None:
        return None
    if isinstance(variables, str):
        raise TypeError(f"variables must be a list of names or numbers, not a string: write [{variables!r}]")
    mask = np.zeros(table.n_vars, dtype=bool)
    mask[table.numbers_of(_listed("variables", variables), "variables")] = True
    needed = dimensions if require == "all" else 1
    if mask.sum() < needed:
        raise ValueError(
            f"variables must name at least {needed} different variables for dimensions={dimensions} and "
            f"require={require!r}, not {int(mask.sum())}"
        )
    return mask


def check_workspace(n_levels: IntArray, classes: DecisionClasses, dimensions: int) -> None:
    """Refuse tuples with so many cells that the counts of one would not fit in memory."""
    largest = np.sort(n_levels)[::-1][:dimensions].astype(float)
    n_cells = float(np.prod(largest))
    plane_bytes = len(classes.codes) / 8 + 64 * classes.n_classes
    # Counts of the cells (three buffers of them), and the bit planes of the prefixes.
    workspace = 12 * n_cells * classes.n_classes + 2 * n_cells / largest[-1] * plane_bytes
    if workspace > _MAX_WORKSPACE_BYTES:
        raise ValueError(
            f"dimensions={dimensions} gives tuples of up to {n_cells:.4g} cells (the product of their numbers of "
            f"levels), which need {workspace / 2**30:.3g} GiB a thread: lower dimensions or divisions, or merge levels"
        )
