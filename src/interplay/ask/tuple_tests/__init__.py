"""Tests of tuples of a comparison, whatever its outcome is, as `select` and `interactions` ask for them.

::

    target_tests.py    a comparison → TargetTests: bars, tests and words of its tuples
    class_tests.py     the same for classes, by tables of counts
    number_tests.py    the same for numbers and residuals, by sums in cells
    screen.py          a comparison → ScreenedTuples: all tuples whose interaction may be significant
    product_screen.py  pairs        → those whose product of dosages may be significant; curved variables
    product_tests.py   tuples       → tests of their products and shapes by the full model
    prospects.py       how tests are asked for; tuples → those that a list can hold; the best discretisation of each
    in_model.py        tuples       → their tests with covariates, an offset or times, by the full model
    beside_smooth.py   levels of tuples, sample by sample; tuples of cut numbers again beside smooth effects of these
"""
