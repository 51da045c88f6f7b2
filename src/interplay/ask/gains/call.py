"""max_information_gain(): table and outcome → the maximum information gain of every variable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from interplay.base.arguments import ARGUMENTS, described_by, taken_by
from interplay.base.arrays import IntArray
from interplay.base.progress import Progress, check_progress
from interplay.base.tuples import MaxGains
from interplay.data.codes.coded import code_comparison
from interplay.data.codes.coder import Discrete
from interplay.data.study.fingerprint import data_fingerprint
from interplay.data.study.study import make_study
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint, keeping
from interplay.search.engines.choice import AsEngine, check_engine
from interplay.search.plan import about_search, least_work, prepare_search
from interplay.search.settings import asked_for_mask, check_contrast, check_search_settings


@described_by(ARGUMENTS)
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
    decision_divisions: int | None = None,
    scale: str = "ranks",
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
    contrast : table-like, (n_samples, n_contrast), optional
        Contrast variables, such as `contrast_variables` makes. Each is combined with every tuple of real variables, and
        the gain is recorded for the contrast variable only.
    contrast_sources : (n_contrast,) int, optional
        The column of `X` from which each contrast variable was made, as `contrast_variables` returns them. A contrast
        variable is then taken as it is, or cut by rank, like its source. Without them, `discrete` decides for each
        contrast variable.
    variables
        ...

        A variable that is in no such tuple has a gain of −inf.
    strata
        ...

        Contrast variables should be permuted within the strata as well; see `contrast_variables`.
    random_state
        ...

        None draws a new seed.
    engine
        ...

        "dask" uses the current Dask client.
    ...

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
    arguments = dict(locals())  # first, while it holds nothing else: see interplay.base.arguments
    study = make_study(X, y, strata=strata, decision=decision, decision_divisions=decision_divisions, scale=scale)
    (comparison,) = study.comparisons()
    kept = as_checkpoint(checkpoint)
    if random_state is None and kept is not None:
        arguments["random_state"] = kept.seed
    settings = check_search_settings(study.table, **taken_by(check_search_settings, arguments))
    contrast_table = None if contrast is None else check_contrast(contrast, contrast_sources, study.table)
    asked_for = asked_for_mask(study.table, variables, require, settings.dimensions)
    check_progress(progress)
    choice = check_engine(engine, n_jobs=n_jobs)  # an engine that is not there is refused before a file is written

    def about() -> dict[str, Any]:
        hashed = partial(data_fingerprint, n_threads=choice.n_threads)
        return about_search(study, settings, n_threads=choice.n_threads) | {
            "contrast fingerprint": None if contrast_table is None else hashed(contrast_table, study.compared),
            "contrast_sources": None if contrast_sources is None else np.asarray(contrast_sources).tolist(),
            "variables": None if asked_for is None else np.flatnonzero(asked_for).tolist(),
            "require": require,
        }

    with keeping(kept, about):
        coded = code_comparison(
            comparison, settings, n_threads=choice.reading_threads(least_work(study.table, settings))
        )
        if contrast_table is not None:
            coded.add_contrast(contrast_table, settings, sources=contrast_sources)
        search = prepare_search(coded, settings, choice, asked_for=asked_for, require=require, checkpoint=kept)
        (gains,) = search.run(progress)
    return gains
