"""Table and outcome → the maximum information gain of every variable, anywhere.

::

    settings.py      arguments               → SearchSettings, SelectionSettings: frozen and checked once
    dimensions.py    `dimensions`, `arms`    → the sizes of tuples to search in one call
    coders.py        settings + tables       → Coder           a table is surveyed once for all that reads its codes
    tuple_tiles.py   C(n, k) tuples          → TupleTiles      pieces that can be searched in any order
    tile_shapes.py   what tiles cost         → sizes of blocks  the same for every way to search
    gains.py         codes → planes + tiles  → MaxGains        `max_information_gain`
    task.py          arguments of `select`   → SelectionTask   data and settings, checked against each other
    runs.py          SelectionTask           → SearchedRun     one search per comparison of classes and size of tuples
    score_tests.py   rank scores             → ScoreTests      tests of variables alone, given others
    product_search.py  rank scores           → ProductMaxima   the strongest product of each variable with another
    tuple_family.py  variables, partners, distance   → TupleFamily   which tuples, and how many
    p_value_caps.py  adjustment, max_p, top  → up to which p-value tuples have to be found
    tuple_tests.py   tuples                  → TestedTuples    tests of their interactions
    selected_tuple_tests.py   the same for the tuples of a selection
    permuted_gains.py  a search + relabelings → maxima of each     `permuted_classes`: the classes of each relabeling
    retests.py       finds + covariates, times → Retest        each variable again, in its best tuple
    tile_loop.py     tiles                   → MaxGains        discretisation by discretisation, or one shard of all
    tuple_screen.py  a comparison            → ScreenedTuples  those of all tuples that may interact: `screen_tuples`
    screen_loop.py   tiles                   → tuples          the same for a search that lists
    checkpoint.py    a search in progress    → a file from which the same call goes on
    fingerprint.py   table and outcome       → a hash          by which checkpoints and shards know each other
    provenance.py    when and with which versions a search was made

Engines search the tiles; this package decides which tiles, in which order, and what is kept.
"""
