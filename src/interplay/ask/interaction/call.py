"""interactions(): table → codes → screened tuples → tests → adjusted p-values → Interactions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from interplay.ask.answer import How, Question, answer
from interplay.ask.interaction.find import find_interactions
from interplay.ask.interaction.in_groups import find_in_groups
from interplay.ask.interaction.merge import find_by_chromosome
from interplay.ask.interaction.task import InteractionTask, check_interactions
from interplay.ask.new_samples.tuples import replicate_in
from interplay.base.arguments import ARGUMENTS, checked, described_by
from interplay.base.progress import Progress
from interplay.data.codes.coded import SharedCodes
from interplay.data.codes.coder import Discrete
from interplay.search.checkpoint import AsCheckpoint
from interplay.search.engines.choice import AsEngine, check_engine
from interplay.show.results.interactions import Interactions


@described_by(ARGUMENTS)
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
    order: Any = None,
    n_permutations: int = 199,
    covariates: Any = None,
    offset: Any = None,
    entry: Any = None,
    decision: str = "auto",
    decision_divisions: int | None = None,
    scale: str = "ranks",
    coding: str = "auto",
    discrete: Discrete = "auto",
    missing: str = "auto",
    random_state: Any = 0,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: AsCheckpoint = None,
) -> Interactions:
    """Find the tuples that interact: their effect on the outcome is more than the sum of the effects of their parts.

    The null hypothesis of each `dimensions`-tuple of variables is that the log odds of the classes, or the mean of an
    outcome of numbers, are a sum of effects of proper subsets of its members: for a pair, an effect of each variable.
    The search is exhaustive. Tuples that a
    bound excludes are not examined further; all others are counted and tested, and p-values are adjusted for all tuples
    of the search.

    Parameters
    ----------
    y
        ...

        A dataframe of several columns, or a list of names of columns: several outcomes, each searched in the samples in
        which it is known. The result is then `Traits`.
    dimensions
        ...

        A tuple must have at least two variables. The interaction of a triple is its effect beyond those of its pairs.
    discretizations
        ...

        A tuple is tested in the discretisation in which χ² gives it the smallest p-value, which is multiplied by the
        number of discretisations.
    variables
        ...

        p-values are adjusted for these tuples only.
    partners : iterable of names or numbers, optional
        With `variables`: search only tuples that consist of one of `variables` and otherwise of these partners. The two
        sets may overlap.
    min_distance : float, optional
        Leave out tuples with two members on one chromosome that are closer to each other than this, in the unit of
        their positions (base pairs in a .bim file). Correlated neighbours can both tag one effect, which looks like an
        interaction.
    positions : array-like, dict or table, optional
        For `min_distance`: one number, or one pair (chromosome, position), per variable; a dict of these by name; or a
        table with columns variable, position and, if there are several, chromosome. Files of genotypes have their own.
        Variables that a dict or table does not name are far from all others; PLINK's chromosome 0 is one like any
        other.
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
        ...

        The result is then a part; `merge_interactions` merges all parts.
    strata
        ...

        All effects may differ between strata, and an interaction may be in any of them; a product is the same in all.
    groups
        ...

        χ² then only ranks tuples. Adjusted p-values are Westfall and Young's, for all tuples of the search; there are
        no confidence intervals of log odds ratios.
    n_permutations
        ...

        With `groups` only. The search is repeated for each.
    covariates
        ...

        p-values, effects and intervals are those of the full model, with and without the interaction.
    offset : (n_samples,) array-like, str or DataFrame, optional
        ...

        A table of predictions that leave out one chromosome each (`interplay.genetics.read_loco`) is used chromosome by
        chromosome: a tuple is tested beside the prediction without the chromosomes of its members. Samples are matched
        by name where X has names, chromosomes by `positions`, or those of the file of genotypes.
    decision
        ...

        More than two classes are compared jointly.
    coding : {"auto", "levels", "product", "dosage"}
        "auto" tests each tuple in the ways that its variables allow: by levels, by the product of scores, and
        a pair with a number by its shape. p-values are the smallest one times the number of ways, and the column found
        says which way it is of. "levels" cuts numbers, and lets every cell of a tuple have an effect of its own; with
        groups, and in searches of more than 1e15 tuples times samples or 1e9 values, "auto" is this. "product" cuts
        nothing: it tests the product of ranks (of values, where these are few, as of genotypes) beside splines of each
        member, with one degree of freedom. An effect that grows with both variables needs 2.5 times the samples by
        levels. For an outcome of numbers, "dosage" tests the product of values beside linear effects, as PLINK's
        ``--epistasis`` does; for pairs, and for larger tuples of two levels each.
    missing : {"auto", "error", "level", "impute", "omit"}
        ...

        "auto" is "omit", which leaves a sample out of the tests of all tuples in which it has a missing value, as PLINK
        does. With "level", missingness can be part of an interaction. Where two causes are correlated and one has
        missing values, their level seems to interact with the other cause: in 43 % of the tests at 5 %, for 1000
        samples and r = 0.8, and in 3 % with "omit".
    random_state
        ...

        None draws a new seed, which the result records.
    engine
        ...

        "dask" uses the current Dask client.
    ...

    Returns
    -------
    Interactions
        ``.table``, ``.significant``, ``.plot``, ``.to_html()``, ``.replicate()``, ``.save()`` and more. Of several
        outcomes `Traits`, a mapping from the name of each to its Interactions.

    Notes
    -----
    With two levels and two classes, p-values are exact (Zelen's test). Otherwise a p-value is the larger of two: that
    of χ² at the effective degrees of freedom, and that of a bootstrap (Bartlett's correction, 200 tables; where an
    expected count is below 1, a gamma distribution with the bootstrap's mean and variance). The bootstrap is made if
    the p-value of χ² is at most 0.001 or could be significant, and up to 0.05 if fewer than 5 samples are expected in
    an entry of the table. Tuples with fewer than 8 samples per parameter of the hypothesis are not tested: p = 1.

    An outcome of numbers is tested by F, of normal scores of its ranks or of its values (`scale`). Cells of fewer than
    5 samples, or of more where most samples have one value, are no part of the hypothesis. A significant tuple is
    tested again where cells may differ in their variances (HC3), and on the other scale: effects that multiply interact
    on values and add up in logarithms.

    Numbers are cut into levels first. Effects that add up in skewed or correlated numbers can interact in their levels.
    So a significant tuple of cut numbers is tested again beside natural splines of the numbers, and of proper subsets'
    products: by nested logistic, multinomial or linear models. An interaction must be significant there as well. By
    ranks it must show on the values too, and of two classes with probits (p < `level` / 10, not adjusted). A tuple that
    does not hold stays listed and is not significant; the summary says so.

    Products and shapes are tested by the full model of the outcome (linear, logistic, multinomial or Cox's). A shape
    adds the products of the distance of one member from its median (absolute normal scores) and the rank of the other,
    three degrees of freedom in all: v matters where u is extreme. A screen computes a statistic of all pairs; the
    p-value of a tuple is at least its p-value to the power of 1/0.7, so that the screen loses none. A significant one
    is tested again beside flexible effects of its members, on both scales of the outcome: effects that add up on values
    multiply in ranks. Of K significant ones, those hold whose p-value there is below `level` / (10 K); else it must be
    significant adjusted for all tuples.

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
    arguments = dict(locals())  # first, while it holds nothing else: see interplay.base.arguments
    return answer(INTERACTION, arguments)


def _search(task: InteractionTask, how: How, shared: SharedCodes | None) -> Interactions:
    """Search in the samples of a task; an engine that is not there is refused before a file is written."""
    choice = check_engine(how["engine"], n_jobs=how["n_jobs"], kind="screen")
    if task.study.groups is not None:
        return find_in_groups(task, choice, progress=how["progress"])
    return find_interactions(task, choice, checkpoint=how["checkpoint"], progress=how["progress"], shared=shared)


def _by_chromosome(task: InteractionTask, how: How) -> Interactions:
    choice = check_engine(how["engine"], n_jobs=how["n_jobs"], kind="screen")
    return find_by_chromosome(task, choice, progress=how["progress"])


#: Checks arguments of `interactions`; an argument that is not given has the default of `interactions`.
task_of = partial(checked, interactions, check_interactions)

#: Which tuples act together?
INTERACTION = Question(task_of, _search, _by_chromosome, replicate_in)
