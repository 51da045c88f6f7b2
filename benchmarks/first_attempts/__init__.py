"""First attempts: what `interplay run` answers to a file and the name of its outcome, and nothing else.

::

    sources.py    a Debian package of R data and a name → a data frame, without R
    tables.py     the tables, and what is known of each
    attempt.py    a table → the command, its answer and its messages
    __main__.py   all of it → benchmarks/results/first_attempts.json and docs/first_attempts.md
"""
