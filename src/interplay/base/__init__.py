"""The foundation: arrays, checks, threads, progress. Every layer uses it, and it uses none.

::

    arguments.py         arguments that several functions share, described once; arguments of a call → those of the
                         function that checks them
    arrays.py            types of arrays, limits; mid-ranks, the exact Kolmogorov–Smirnov tail
    planes.py            codes of variables, BitPlanes
    tuples.py            TupleTiles, TupleRows, MaxGains
    checks.py            checks of arguments, problems of data that a call may accept, warnings at the user's line,
                         packages that are missing
    tails.py             tails of χ², beta, F and t on the scale of logarithms
    seeds.py             random_state → seed, streams of random numbers; first draws of many generators at once
    jobs.py              `n_jobs` → threads, blocks in threads; Ctrl-C, noticed and delayed
    progress.py          a share of work done → a bar, or a user's function
    text.py              names of tuples, names that can be printed
"""
