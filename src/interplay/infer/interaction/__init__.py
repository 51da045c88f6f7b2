"""Samples per cell and class of tuples → is the tuple's effect more than its parts'? With a p-value and an effect size.

H0 of a tuple T of k members: ln μ(x, y) = a(x) + Σᵢ bᵢ(x₋ᵢ, y), every term of fewer than k members and none of all k.

::

    null_model.py        H0: which entries of a table it concerns, its columns, degrees of freedom
    proportional_fit.py  tables → their fit under H0, by sweeps or along one line, and G²; quick G² in compiled code
    prospects.py         how small a p-value can be at best, before any exact fit; the G² that one site needs
    bootstrap.py         other sparse tables: by how much χ² is to be corrected
    effect.py            how strong an interaction is, and where: odds ratios, one cell and class, the additive scale
    interaction_test.py  tables → `InteractionTests`, all of the above      `interaction_test`
    table_tests.py       tables of one shape → tests of their interactions; upper bounds of G², by which tuples are
                         ruled out
    tuple_tests.py       TupleTests: tests about every kind of outcome, one row per tuple, as results keep them
    beside_test.py       levels + columns → the interaction beside covariates, an offset, smooth effects
    product_test.py      scores of the members of a tuple → their product beside smooth effects, not cut
    tested_in_model.py   the same of many tuples → tests that take the place of those without covariates

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
3. The survivors come back as tuples (`interplay.ask.tuple_tests.screen.screen_tuples`). Python calls `interaction_test`
   with ``bootstrap_below=max_p``, drops p > `max_p`, and adjusts the rest by ``adjust_listed(…, n_tests=m)``.
   Adjusted for the listed tuples only, a false interaction is found in nearly every table of additive effects.

Every number that users see comes from step 3, a function of the counts of one tuple and the seed. So thresholds are
lowered by more than a gain loses by rounding, and by the smallest pseudocount that engines work with.

With strata the stratum belongs to every part, and counts have an axis more; G², bounds and df of the strata add up.
"""
