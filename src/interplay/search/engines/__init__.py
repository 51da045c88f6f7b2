"""Where tuples are counted and scored.

A caller makes a sink, which states the question, and hands it to an engine with planes and tiles. The engine puts its
finds into the sink: all at once (`Engine.search`), or chunk by chunk (`Engine.stream`)::

    choice.py           a name, client or object → Engine   is it there? and which one is "auto" for this much work?
    sinks.py            Maxima, Screen, Listing             the question of a search, and the place of its finds
    base.py             Engine                              the protocol; cuts chunks for engines that do not stream
    tile_chunks.py      tiles            → chunks           the parts of a search that is kept or spread over machines
    routing.py          tiles            → searchers        and costs, as core/ decides them
    searcher_counts.py  searchers        → tiles, tuples    that each of them took
    tuple_formula.py    a statistic      → TupleFormula     which a Listing may list instead of gains

    cpu.py              planes + tiles   → sink             threads and SIMD, in core/cpu
    cuda/               planes + tiles   → sink             NVIDIA GPUs; its own map is in cuda/__init__.py
    dask.py             planes + tiles   → sink             the workers of a cluster
    dask_chunks.py      tiles            → tasks, results   also when workers are lost
    dask_tasks.py       a chunk          → TaskResult       runs on a worker: a sink of its own, into an engine there
    dask_cluster.py     the workers there are, and the data that all of them need
    dask_connection.py  the client, asked so that no answer is waited for without end

    tables.py           planes + tuples  → samples per cell, stratum and class

Maxima that were found in parts are combined by ``MaxGains.merge``.
"""
