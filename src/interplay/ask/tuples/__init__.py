"""Tuples themselves, not only the best one of each variable: `interesting_tuples`.

::

    call.py           `interesting_tuples`: its arguments, in and out
    source.py         planes + tiles    → rows of tuples, batch by batch
    listing.py        batches           → a table, a matrix, the best rows, or a file
    best_rows.py      batches           → the best n rows of each variable, or of all
    parquet_rows.py   batches           → a Parquet file
    table.py          rows              → TupleTable, which users hold
"""

from interplay.ask.tuples.call import interesting_tuples

__all__ = ["interesting_tuples"]
