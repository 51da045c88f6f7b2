"""The power of the tests of `interactions`: effects of cells, samples, threshold → the chance of a p-value below it.

::

    number_power.py   means or log hazards of cells → power; what a second test beside smooth effects costs
    class_power.py    chances of classes in cells → power of the test of a tuple, exact or G²; samples in the cells of
                      a tuple

Cells are as large as chance makes them, so that each power is a mean over drawn sizes of cells. Given the sizes it is a
tail of noncentral F or χ², or a sum over all tables that the exact test compares.
"""
