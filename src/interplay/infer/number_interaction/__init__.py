"""Numbers of samples in the cells of tuples → is the tuple's effect more than its parts'? F, p-values, effect sizes.

H0 of a tuple T of k members: the mean of a cell is a sum of functions of proper subsets of the members, in each stratum
its own. RSS(T) are the squares within cells, RSS(H0) those left by H0.

::

    cell_moments.py            cells of samples → CellMoments: samples, sums and squares of each cell
    interaction_contrasts.py   levels           → contrasts of cells that are 0 under H0; columns of H0
    departure.py               means, weights   → weighted squares beyond H0 and their degrees of freedom
    f_test.py                  moments          → F test                                `f_test`
    robust_test.py             moments          → Wald's test with HC3 variances        `robust_test`
    dosage_test.py             moments, dosages → the test of one product of dosages    `dosage_test`
    effect.py                  moments          → difference of differences with its interval; residuals
    scale_words.py             p-values         → does an interaction hold on ranks, on values, or on both?
    scored_numbers.py          NumberOutcome    → ScoredNumbers: scores, values, scores on the other scale
    number_tests.py            cells, numbers   → all of the above, as `TupleTests`  `number_tests`
    product_tables.py          counts and sums  → curvatures of variables, tests of products, for a search
    search_bars.py             max_p            → gains that engines ask of every member of a tuple

Everything is a function of one tuple, made for many tuples of one shape at a time.
"""
