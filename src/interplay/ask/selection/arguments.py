"""Arguments of `select`, which `search_shard` and `MDFSSelector` have as well, and their descriptions."""

from __future__ import annotations

from interplay.base.arguments import ARGUMENTS, arguments_in, one_of
from interplay.data.study.comparisons import MULTICLASS_CHOICES
from interplay.infer.null_fit import FITS

SELECTION_ARGUMENTS = ARGUMENTS | arguments_in(
    f"""
    y
        ...

        Times that may be censored are given as ``(time, event)``, two arrays or names, or as a structured array like
        scikit-survival's. Where the event is not True or 1, say which value it is: ``(time, status == 2)``, or
        ``("days", "status=2")`` with names. The search compares martingale residuals, and Cox's model has to confirm
        the variables that are found.
    dimensions : "auto", int or sequence of int
        ...

        Several, such as ``(1, 2, 3)``, are searched in one call and give one p-value. "auto": 1, 2, 3 if there are at
        most 10⁹ triples (1818 variables), and 4 if there are at most 40 variables, unless columns of many labels give
        tuples of more than 65,536 cells, or typically of more than four cells per sample; with groups or permutations,
        whose p-values are those of one size of tuples, 2.
    n_contrast : int or "auto"
        Number of contrast variables: permuted copies of real variables, whose gains show the chance level. With 0, the
        null distribution is fitted to the variables themselves, most of which must then be irrelevant. "auto": none in
        1D with one discretisation, where p-values come from an exact test; otherwise as many as there are variables,
        but at least 300 and at most 1000.
    p_adjust : str
        How p-values are adjusted for the number of variables: "holm" (default), "hochberg", "hommel", "bonferroni",
        "BH", "BY", "none", or a name that statsmodels uses.
    level : float
        A variable is relevant if its adjusted p-value is below this significance level.
    fit : {one_of(FITS)}
        How the null distribution is fitted; `fit_null` describes the choices. In 1D nothing is fitted with "auto" or
        "union", or with one discretisation: p-values come from a conditional test of the counts, which is exact where
        these are small.
    arms : sequence of str, optional
        With several dimensions, the arms whose p-values are combined: "alone" and "given" (given other variables that
        are strong by themselves) in 1D, "pairs" in 2D, "triples" in 3D, "quadruples" in 4D. By default all of them.
    multiclass : {one_of(MULTICLASS_CHOICES)}
        With more than two classes: one gain about all classes ("joint"), one search for each pair of classes ("ovo"),
        or one search for each class against the rest ("ovr"). With several searches, the p-value of a variable is its
        smallest one times their number.
    strata
        ...

        Contrast variables are permuted within strata.
    permutations : bool, optional
        Whether p-values come from permutations of the outcome instead of contrast variables: Westfall and Young's
        step-down maxT, which adjusts p-values for all variables without fitting anything. By default with `groups`
        only, unless `n_permutations` times the number of tuples exceeds 1e12: then, and with False, whole groups are
        permuted in the contrast variables, and gains are divided by their inflation.
    covariates
        ...

        More than two classes are then compared each with the rest. The column ``p_model`` is the p-value of a relevant
        variable in the full model.
    stability : int, optional
        Number of halves of the samples, even, in which the selection is repeated, for example 100. They are
        complementary pairs: random divisions of the samples, within classes and strata, by whole groups. The column
        stability of the table is the share of halves in which a variable is relevant; ``Selection.stability`` also has
        tuples. A half has less power than all samples: compare variables, not a variable with 1. It takes about half
        as many times as long as the search.
    redundancy : float
        Relevant variables whose association is at least this are redundant: ``.redundant_groups`` has them together,
        and ``.short_list`` chooses from one of each group. The association of two numbers is their absolute rank
        correlation, that of a number and labels the correlation ratio of the ranks, and that of labels Cramér's V.
    reference : dict, optional
        For variables of several levels, the level with which the others are compared in directions and sizes:
        ``{{"arm": "placebo"}}``. By default the first of two levels or of ordered ones, and the most frequent one of
        others. Intervals of several levels cover together.
    holdout : float or int, optional
        Share or number of samples that are kept out of the search, drawn at random within each class, or along the
        numbers, and within strata; whole groups, where there are groups. Relevant variables are then tested in these
        samples, as `Selection.replicate` does: ``.replication``, and columns of ``.table``.
    random_state
        ...

        None draws a new seed, which the result records.
    engine
        ...

        "dask" uses the current Dask client.
    """,
    ARGUMENTS,
)
