"""Where tuples are counted and scored.

A caller makes a sink, which states the question, and hands it to an engine with planes and tiles. The engine puts its
finds into the sink: all at once (`Engine.search`), or chunk by chunk (`Engine.stream`)::

    choice.py           a name, client or object → Engine   is it there? and which one is "auto" for this much work?
    sinks.py            Maxima, Screen, Listing; `TupleFormula`, a statistic that a Listing may list instead of gains
    base.py             Engine                              the protocol; cuts chunks for engines that do not stream
    routing.py          tiles → searchers, costs and chunks; how many tiles and tuples each searcher took

    cpu.py              planes + tiles   → sink             threads and SIMD, in core/cpu
    cuda/               planes + tiles   → sink             NVIDIA GPUs; its own map is in cuda/__init__.py
    dask.py             tiles → tasks on the workers of a cluster → sink, also when workers are lost
    dask_cluster.py     the workers there are, the data that all need, a task on a worker; the client, asked so that no
                        answer is waited for without end

    tables.py           planes + tuples  → samples per cell, stratum and class

Maxima that were found in parts are combined by ``MaxGains.merge``.
"""
