"""How many samples does an interaction need? `power`, before a study.

::

    call.py             `power`: its arguments, in and out; arguments → Design: levels, effects of cells, number of
                        tuples

Statistics are in ``interplay.infer.power``.
"""
