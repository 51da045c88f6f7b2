"""Tuples themselves, not only the best one of each variable: `interesting_tuples`.

::

    call.py           `interesting_tuples`: its arguments, in and out
    source.py         planes + tiles → rows of tuples, batch by batch → a table, a matrix, the best rows, or a file
    parquet_rows.py   batches           → a Parquet file
    table.py          rows of tuples → TupleTable; the best rows of a list
"""

from interplay.ask.tuples.call import interesting_tuples

__all__ = ["interesting_tuples"]
