"""Tuples themselves, not only the best one of each variable: `interesting_tuples`.

::

    call.py           `interesting_tuples`: its arguments, in and out
    source.py         planes + tiles → rows of tuples, batch by batch → a table, a matrix, the best rows, or a file
    table.py          rows of tuples → TupleTable, the best rows of a list, or a Parquet file
"""

from interplay.ask.tuples.call import interesting_tuples

__all__ = ["interesting_tuples"]
