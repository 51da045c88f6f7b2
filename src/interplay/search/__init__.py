"""Table and outcome → the maximum information gain of every variable, anywhere.

::

    settings.py      arguments               → SearchSettings, SelectionSettings: frozen and checked once
    coders.py        settings + tables       → Coder           a table is surveyed once for all that reads its codes
    tuple_tiles.py   C(n, k) tuples          → TupleTiles      pieces that can be searched in any order
    tile_shapes.py   what tiles cost         → sizes of blocks  the same for every way to search
    gains.py         codes → planes + tiles  → MaxGains        `max_information_gain`
    runs.py          a selection's arguments → SearchedRun     one search for each comparison of classes
    tuple_family.py  variables, partners, distance   → TupleFamily   which tuples, and how many
    p_value_caps.py  adjustment, max_p, top  → up to which p-value tuples have to be found
    tuple_tests.py   tuples                  → TestedTuples    tests of their interactions
    selected_tuple_tests.py   the same for the tuples of a selection
    tile_loop.py     tiles                   → MaxGains        discretisation by discretisation, or one shard of all
    tuple_screen.py  a comparison            → ScreenedTuples  those of all tuples that may interact: `screen_tuples`
    screen_loop.py   tiles                   → tuples          the same for a search that lists
    checkpoint.py    a search in progress    → a file from which the same call goes on
    provenance.py    table and outcome       → a fingerprint   by which checkpoints and shards know each other

Engines search the tiles; this package decides which tiles, in which order, and what is kept.
"""
