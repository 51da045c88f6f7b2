"""max_information_gain(): table and outcome → the maximum information gain of every variable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray, MaxGains
from interplay.base.progress import Progress, check_progress
from interplay.codes.coder import Discrete
from interplay.engines.choice import AsEngine, check_engine
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint, keeping
from interplay.search.plan import about_search, search
from interplay.search.settings import asked_for_mask, check_contrast, check_search_settings
from interplay.study.fingerprint import data_fingerprint
from interplay.study.named_columns import take_columns
from interplay.study.outcome import decision_classes
from interplay.study.strata import check_strata, make_strata


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

    def about() -> dict[str, Any]:
        fingerprint = partial(data_fingerprint, n_threads=choice.n_threads)
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
