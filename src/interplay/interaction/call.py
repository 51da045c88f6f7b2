"""interactions(): table → codes → screened tuples → tests → adjusted p-values → Interactions."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature
from typing import Any

from interplay.base.progress import Progress, check_progress
from interplay.codes.coder import Discrete
from interplay.engines.choice import AsEngine, check_engine
from interplay.interaction.find import find_interactions
from interplay.interaction.in_groups import find_in_groups
from interplay.interaction.task import InteractionTask, check_interactions
from interplay.results.interactions import Interactions
from interplay.results.replication import replicate_in
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint


def interactions(
    X: Any,
    y: Any,
    *,
    dimensions: int = 2,
    divisions: int = 1,
    discretizations: int = 1,
    range_: float | None = None,
    variables: Iterable[Any] | None = None,
    require: str = "any",
    partners: Iterable[Any] | None = None,
    min_distance: float | None = None,
    positions: Any = None,
    p_adjust: str = "holm",
    level: float = 0.05,
    max_p: float | None = None,
    top: int | None = None,
    holdout: float | int | None = None,
    shard: str | tuple[int, int] | None = None,
    strata: Any = None,
    groups: Any = None,
    n_permutations: int = 199,
    covariates: Any = None,
    decision: str = "auto",
    decision_divisions: int = 1,
    discrete: Discrete = "auto",
    missing: str = "error",
    random_state: Any = 0,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: AsCheckpoint = None,
) -> Interactions:
    """Find the tuples that interact: their effect on the outcome is more than the sum of the effects of their parts.

    The null hypothesis of each `dimensions`-tuple of variables is that the log odds of the classes are a sum of effects
    of proper subsets of its members: for a pair, an effect of each variable. The search is exhaustive. Tuples that a
    bound excludes are not examined further; all others are counted and tested, and p-values are adjusted for all tuples
    of the search.

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

        A tuple must have at least two variables. The interaction of a triple is its effect beyond those of its pairs.
    divisions : int
        Number of thresholds at which each numeric variable is cut, which gives ``divisions + 1`` levels.
    discretizations : int
        Number of random sets of thresholds to try. The gain of a variable is its maximum over all of them.

        A tuple is tested in the discretisation in which χ² gives it the smallest p-value, which is multiplied by the
        number of discretisations.
    range_ : float, optional
        How much the thresholds vary between discretisations, from 0 (levels of equal size, nothing random) to 1. By
        default 0 with one discretisation, and `suggest_range` with several.
    variables : iterable of names or numbers, optional
        Look only at tuples that contain at least one of these variables (``require="any"``), or only at tuples that
        consist of these variables (``require="all"``).

        p-values are adjusted for these tuples only.
    require : {"any", "all"}
        Whether a tuple must contain at least one of `variables`, or must consist of them.
    partners : iterable of names or numbers, optional
        With `variables`: search only tuples that consist of one of `variables` and otherwise of these partners. The two
        sets may overlap.
    min_distance : float, optional
        Leave out tuples with two members on one chromosome that are closer to each other than this, in the unit of
        their positions (base pairs in a .bim file). Correlated neighbours can both tag one effect, which looks like an
        interaction.
    positions : array-like, dict or table, optional
        For `min_distance`: one number, or one pair (chromosome, position), per variable; a dict of these by name; or a
        table with columns variable, position and, if there are several, chromosome. A .bed file has its own. Variables
        that a dict or table does not name are far from all others; PLINK's chromosome 0 is one like any other.
    p_adjust : str
        How p-values are adjusted for the number of tuples: "holm" (default), "hochberg", "bonferroni", "BH", "BY" or
        "none".
    level : float
        A tuple is significant if its adjusted p-value is below this significance level.
    max_p : float, optional
        List all tuples with a p-value, not adjusted, up to this one; 1 lists all tuples. By default those that are
        significant are listed. The search goes up to the largest p-value that could be significant after adjustment.
        With "holm" it finds all significant tuples. "hochberg", "BH" and "BY" also depend on larger p-values: the
        search continues while these could change the result, and never declares more tuples significant than if all
        p-values were known.
    top : int, optional
        Number of tuples with the smallest p-values to list, significant or not (among those that `max_p` allows).
    holdout : float or int, optional
        Share or number of samples that are kept out of the search, drawn at random within each class. The tuples that
        the search lists are then tested once each in these samples, as `Interactions.replicate` does. The result
        contains these tests, and those of the search beside them.
    shard : str or (int, int), optional
        Which part of the search to do: ``"3/64"`` or ``(3, 64)`` is the third of 64 parts.

        The result is then a part; `merge_interactions` merges all parts.
    strata : (n_samples,) array-like, table-like, or str, optional
        Groups of samples, such as batch, sex or population, within which the outcome is analysed. The stratum is one
        more member of every tuple: a gain is the information of a variable about the outcome beyond the other members
        and beyond the stratum. With several columns, each combination of values is a stratum. A string names a column,
        as for `y`.

        All effects may differ between strata, and an interaction may be in any of them.
    groups : (n_samples,) array-like, table-like, or str, optional
        Samples that belong together and are not independent of each other: the donor of each cell, the family or
        patient of each sample. p-values then come from permutations of the labels of whole groups, where each group has
        one class; where classes vary within groups, labels are permuted between groups of the same size and within
        groups. A string names a column, as for `y`.

        χ² then only ranks tuples. Adjusted p-values are Westfall and Young's, for all tuples of the search; there are
        no confidence intervals of log odds ratios.
    n_permutations : int
        Number of permutations. If fewer are possible, each is done once. No p-value is below
        ``1 / (n_permutations + 1)``.

        With `groups` only. The search is repeated for each.
    covariates : table-like, (n_samples,) array-like, str or list of str, optional
        Covariates of each sample (age, sex, principal components), as values or as names of columns, which are then not
        variables. The search does not use them: what it finds is tested again by the likelihood ratio of logistic
        models with covariates. The columns ``p_covariates`` and ``holds_with_covariates`` of the table give the result.

        Significant tuples are tested, by models with and without the interaction.
    decision : {"auto", "classes", "continuous"}
        Whether the values of `y` are classes or a continuous outcome, which is cut by rank into ``decision_divisions +
        1`` classes. "auto": numbers with fractional parts, and whole numbers with more than 20 distinct values, are
        continuous, unless there are only two distinct values.

        More than two classes are compared jointly.
    decision_divisions : int
        Number of thresholds at which a continuous outcome is cut. Classes are left as they are.
    discrete : {"auto", "none", "all"} or list of columns
        Columns whose values are used as levels instead of being cut by rank. "auto": bool, categorical and text
        columns, and numeric columns with at most max(3, ``divisions + 1``) distinct values.
    missing : {"error", "level", "impute", "omit"}
        Missing values are refused ("error"), become a level of their own ("level"), or are drawn at random from the
        observed values of the column ("impute").

        With "level", missingness can be part of an interaction. "omit" leaves a sample out of the tests of all tuples
        in which it has a missing value, as PLINK does.
    random_state : int, None, RandomState or Generator
        Seed of all random draws. The same integer gives the same thresholds as in the R package MDFS.

        None draws a new seed, which the result records.
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
    Interactions
        ``.table``, ``.significant``, ``.plot``, ``.to_html()``, ``.replicate()``, ``.save()`` and more.

    Notes
    -----
    With two levels and two classes, p-values are exact (Zelen's test). Otherwise a p-value is the larger of two: that
    of χ² at the effective degrees of freedom, and that of a bootstrap (Bartlett's correction, 200 tables). The
    bootstrap is made if the p-value of χ² is at most 0.001 or could be significant, and up to 0.05 if fewer than 5
    samples are expected in an entry of the table. Tuples with fewer than 8 samples per parameter of the hypothesis are
    not tested: p = 1.

    Numbers are cut into levels first. With more than about 12,000 samples, cutting can create an interaction of the
    levels from effects that add up in the numbers; the result then says so.

    Examples
    --------
    Two variables that have an effect each, and two that matter together only:

    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 20))
    >>> logit = 2 * (X[:, 0] > 0) + 2 * (X[:, 1] > 0) + 3 * ((X[:, 4] > 0) ^ (X[:, 7] > 0)) - 3.5
    >>> y = rng.random(600) < 1 / (1 + np.exp(-logit))
    >>> found = interplay.interactions(X, y)
    >>> found.significant
    [('x4', 'x7')]
    """
    kept = as_checkpoint(checkpoint)
    task = check_interactions(
        X,
        y,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=range_,
        variables=variables,
        require=require,
        partners=partners,
        min_distance=min_distance,
        positions=positions,
        p_adjust=p_adjust,
        level=level,
        max_p=max_p,
        top=top,
        holdout=holdout,
        shard=shard,
        strata=strata,
        groups=groups,
        n_permutations=n_permutations,
        covariates=covariates,
        decision=decision,
        decision_divisions=decision_divisions,
        discrete=discrete,
        missing=missing,
        random_state=kept.seed if random_state is None and kept is not None else random_state,
        checkpoint=checkpoint,
    )
    check_progress(progress)
    # An engine that is not there is refused before a file is written.
    choice = check_engine(engine, n_jobs=n_jobs, to_screen=True)
    if task.data.groups is not None:
        return find_in_groups(
            task.data,
            task.settings,
            task.caps,
            choice,
            n_permutations=task.n_permutations,
            asked=task.asked,
            progress=progress,
            covariates=task.covariates,
        )
    found = find_interactions(
        task.searched,
        task.settings,
        task.caps,
        choice,
        asked=task.asked,
        checkpoint=kept,
        progress=progress,
        covariates=task.covariates,
    )
    if task.split is None:
        return found
    rest = task.held_out
    return replicate_in(found, rest.table, rest.y, rest.strata)


_DEFAULTS = {
    name: argument.default for name, argument in signature(interactions).parameters.items() if name not in ("X", "y")
}

#: Arguments of `interactions` that do not decide its result.
_HOW = ("engine", "n_jobs", "progress")


def task_of(X: Any, y: Any, **arguments: Any) -> InteractionTask:
    """Check arguments of `interactions`, with its defaults for those that are not given."""
    given = _DEFAULTS | arguments
    return check_interactions(X, y, **{name: value for name, value in given.items() if name not in _HOW})
