"""The foundation: arrays, checks, threads, progress. Every layer uses it, and it uses none.

::

    arguments.py         descriptions of arguments that several functions share → their docstrings
    arrays.py            data classes of the path: DecisionClasses, codes, BitPlanes, TupleTiles, MaxGains, TupleRows
    calls.py             arguments of a call → the arguments of its check, by name
    checks.py            checks of arguments, and how values are shown in messages
    install_hint.py      a package that is missing → the command that installs it
    problems.py          problems of the data → one error, with the arguments that accept them
    chi_squared.py       tails of χ², on the scale of logarithms
    beta_tail.py         tails of beta, F and t, on the scale of logarithms
    ranks.py             values → mid-ranks, normal scores; the exact Kolmogorov–Smirnov tail
    seeds.py             a seed → streams of random numbers, one per purpose and variable
    mersenne_twister.py  first draws of many streams at once
    jobs.py              `n_jobs` → threads; functions over many blocks
    interrupts.py        Ctrl-C during calls that must not be cut short
    progress.py          a share of work done → a bar, or a user's function
    user_warnings.py     a warning → the user's line
    text.py              names of tuples, names that can be printed
"""
