"""Samples per cell and class of tuples → is the tuple's effect more than its parts'? With a p-value and an effect size.

H0 of a tuple T of k members: ln μ(x, y) = a(x) + Σᵢ bᵢ(x₋ᵢ, y), every term of fewer than k members and none of all k.

::

    null_model.py        H0: which entries of a table it concerns, its columns, degrees of freedom
    null_model_fit.py    tables → fitted counts μ, G², smallest expected count
    proportional_fit.py  the first part of it, many tables at a time
    quick_fit.py         tables → G² in compiled code, for decisions
    two_level_fit.py     the same in closed form, for two levels and two classes
    bound.py             upper bounds of G², for a search
    survivors.py         tables → which may be significant, by these bounds      `may_be_significant`
    site_shares.py       thresholds of the whole → those of one of several sites  `site_shares`
    prospects.py         tables → the smallest p-values that they can have       `least_log_p`, `rough_log_p`
    exact_p_value.py     two levels and two classes: Zelen's exact test
    bootstrap.py         other sparse tables: by how much χ² is to be corrected
    effect.py            log odds ratio with its interval; adjusted residuals
    cell_effect.py       the cell with the largest residual → its log odds ratio beside separate effects
    interaction_test.py  tables → `InteractionTests`, all of the above      `interaction_test`
    table_tests.py       tables → `TupleTests`: tests, corrected where tables are sparse, effects, gains
    tuple_tests.py       TupleTests: tests about every kind of outcome, one row per tuple, as results keep them
    additive_effect.py   counts → RERI with its interval: the interaction on the additive scale
    beside_test.py       levels + columns → the interaction beside other columns of a model
    smooth_test.py       the same beside smooth effects of numbers that were cut
    corrected_p_values.py  statistics of second tests → p-values, corrected as those of the search were
    model_test.py        a tuple in a model of covariates, offset, times → likelihood ratio, effect
    tested_in_model.py   the same of many tuples → tests that take the place of those without covariates
    listed_p_values.py   p-values of some tuples, adjusted for all that were searched      `adjust_listed`

How a search over all m = C(p, k) tuples uses it
------------------------------------------------
Only tuples with p ≤ `max_p` are wanted: α/m for Bonferroni and the first step of Holm's method, more if more are to be
listed. ``thresholds = g2_thresholds(max_p, nominal df)`` is the G² that a tuple needs, by its degrees of freedom;
compiled code and GPUs need these numbers and nothing else of this package. For each tuple, from counts *without
pseudocounts* (1 bit of gain, times samples, is 2 ln 2 on the scale of G²):

1. The smallest gain of a member, 2N·(I(T; Y) − max I(T without i; Y)), is an upper bound of G² (`gain_bound`). Engines
   list the tuples of which every member gains enough (`Screen`), bounded by ``thresholds[1]`` at first,
   then by the nominal df where no entry is empty, and at last by `fewest_degrees_of_freedom`. Of 1.3 million triples of
   genotypes with rare alleles some 100 are left at max_p = 0.05/m; by ``thresholds[1]`` alone it would be 7000.
2. The tuples left are counted, and get Kirkwood's bound: I of all parts and E ln Z, one logarithm and a few products
   per cell (`quick_fit` with no sweeps, `may_be_significant`).
3. The survivors come back as tuples (`interplay.ask.interaction.screen.screen_tuples`). Python calls `interaction_test`
   with ``bootstrap_below=max_p``, drops p > `max_p`, and adjusts the rest by ``adjust_listed(…, n_tests=m)``.
   Adjusted for the listed tuples only, a false interaction is found in nearly every table of additive effects.

Every number that users see comes from step 3, a function of the counts of one tuple and the seed. So thresholds are
lowered by more than a gain loses by rounding, and by the smallest pseudocount that engines work with.

With strata the stratum belongs to every part, and counts have an axis more; G², bounds and df of the strata add up.
"""
