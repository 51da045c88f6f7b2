"""Coded comparison → tiles → a loop over them on an engine, into a sink; in shards, or kept in a checkpoint.

::

    settings.py      arguments               → SearchSettings: frozen and checked once
    tiles.py         C(n, k) tuples          → TupleTiles: pieces to search in any order; usual sizes of blocks
    plan.py          codes + settings        → PreparedSearch: engine, shapes of tiles and planes of one search
    loop.py          tiles                   → the loop, discretisation by discretisation, or one shard of all
    checkpoint.py    a search in progress    → a file from which the same call goes on
    engines/         planes + tiles          → finds, in a sink; its own map is in engines/__init__.py

Engines search the tiles into a sink; this package decides which tiles, in which order, and which finds are kept.
"""
