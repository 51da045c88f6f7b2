"""Table and outcome → the maximum information gain of every variable, anywhere.

::

    settings.py      arguments               → SearchSettings, frozen and checked once
    tuple_tiles.py   C(n, k) tuples          → TupleTiles      pieces that can be searched in any order
    tile_shapes.py   what tiles cost         → sizes of blocks  the same for every way to search
    gains.py         table → codes → planes  → MaxGains        `max_information_gain`
    tile_loop.py     tiles                   → MaxGains        discretisation by discretisation, or one shard of all
    checkpoint.py    a search in progress    → a file from which the same call goes on
    provenance.py    table and outcome       → a fingerprint   by which checkpoints and shards know each other

Engines search the tiles; this package decides which tiles, in which order, and what is kept.
"""
