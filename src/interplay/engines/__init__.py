"""Where tuples are counted and scored.

::

    tile_chunks.py   tiles            → chunks         what is searched in one go where a search is kept or spread
    base.py          the Engine protocol
    choice.py        a name, client or object → Engine   is it there? and which one is "auto" for this much work?
    routing.py       tiles            → searchers      and costs, as core/ decides them
    cpu.py           planes + tiles   → MaxGains       threads and SIMD, in core/cpu
    dask.py          planes + tiles   → MaxGains       chunks sent to the workers of a cluster
    dask_chunks.py   tiles            → tasks, results  of whatever is done with chunks on a cluster
    dask_tasks.py    a chunk          → Improvement    runs on a worker
    dask_cluster.py  the workers there are, and the data that all of them need
    dask_connection.py  the client, asked so that no answer is waited for without end

    tuple_tables.py  planes + tuples  → samples per cell and class

Whatever searches in parts brings the parts together with ``MaxGains.merge``. Engines also list tuples: those in which
a member gains (`interesting_tuples`), or those in which every member does (`screen_tiles`).
"""
