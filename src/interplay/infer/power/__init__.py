"""The power of the tests of `interactions`: effects of cells, samples, threshold → the chance of a p-value below it.

::

    cell_counts.py    shares of levels → how many samples the cells of a tuple may have
    number_power.py   means of cells → power of the F test, on ranks or on values
    class_power.py    chances of classes in cells → power of G², corrected as in the search
    exact_power.py    two levels, two classes → power of the exact test
    second_test.py    cut numbers → what the second test, beside smooth effects, costs
    time_power.py     log hazards of cells → power of a likelihood ratio of Cox's model

Cells are as large as chance makes them, so that each power is a mean over drawn sizes of cells. Given the sizes it is a
tail of noncentral F or χ², or a sum over all tables that the exact test compares.
"""
