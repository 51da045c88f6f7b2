"""Codes of a comparison → planes + tiles → the finds of an engine, in one go, in shards, or kept in a file.

::

    settings.py     arguments              → SearchSettings, SelectionSettings: frozen and checked once
    dimensions.py   `dimensions`, `arms`   → the sizes of tuples to search in one call
    tiles.py        C(n, k) tuples         → TupleTiles       pieces that can be searched in any order
    tile_shapes.py  what tiles cost        → sizes of blocks  the same for every way to search
    plan.py         a coder + settings     → PreparedSearch   the engine, the tiles, and what planes are made from
    loop.py         planes + tiles         → MaxGains, tuples discretisation by discretisation, or one shard of all
    checkpoint.py   a search in progress   → a file from which the same call goes on
    permutations.py a search + relabelings → the maxima of each

Engines search the tiles into a sink; this package decides which tiles, in which order, and what is kept.
"""
