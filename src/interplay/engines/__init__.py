"""Where tuples are counted and scored.

::

    tile_chunks.py   tiles            → chunks         what is searched in one go where a search is kept or spread
    base.py          the Engine protocol; get_engine()
    routing.py       tiles            → searchers      and costs, as core/ decides them
    cpu.py           planes + tiles   → MaxGains       threads and SIMD, in core/cpu
    dask.py          planes + tiles   → MaxGains       chunks sent to the workers of a cluster; dask_tasks.py runs there

Whatever searches in parts brings the parts together with ``MaxGains.merge``.
"""
