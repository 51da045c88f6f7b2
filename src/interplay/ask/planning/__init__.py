"""How many samples does an interaction need? `power`, before a study.

::

    call.py             `power`: its arguments, in and out
    design.py           arguments → Design: levels, effects of cells, number of tuples
    design_power.py     Design and samples → the power of the test of its tuple
    samples_needed.py   power, as a function of samples → the fewest samples that reach it

Statistics are in ``interplay.infer.power``.
"""
