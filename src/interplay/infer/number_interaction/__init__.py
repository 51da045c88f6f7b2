"""Numbers of samples in the cells of tuples → is the tuple's effect more than its parts'? F, p-values, effect sizes.

H0 of a tuple T of k members: the mean of a cell is a sum of functions of proper subsets of the members, in each stratum
its own. RSS(T) are the squares within cells, RSS(H0) those left by H0.

::

    cell_moments.py            cells of samples + numbers → samples, sums and squares of each cell; scores, values and
                               the other scale
    f_test.py                  moments of cells → Fisher's F test of what departs from H0; contrasts of means
    effect.py                  moments of cells → how strong an interaction is, and where; tests and intervals by HC3
    number_tests.py            cells, numbers   → all of the above, as `TupleTests`  `number_tests`
    product_tables.py          counts and sums  → bars and bounds of a screen; curvatures of variables, products

Everything is a function of one tuple, made for many tuples of one shape at a time.
"""
