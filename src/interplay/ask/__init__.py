"""The ways in: calls, estimators and commands. Each question has a room; no room imports another.

::

    selection/      which variables carry information?         `select`, `search_shard`, `merge_parts`
    interaction/    which tuples act together?                 `interactions`, `merge_interactions`
    gains/          the largest gain of each variable          `max_information_gain`
    tuples/         lists of tuples above a threshold          `interesting_tuples`
    tuple_tests/    tests of tuples, which two rooms make
    new_samples/    a result and new samples: are its claims true there?
    planning/       how many samples does an interaction need? `power`
    coding.py       levels, dosages or products, where the outcome and the variables allow for them
    answer.py       a question and its arguments → its result: several outcomes, held-out samples, chromosomes;
                    parts of shards, or their files → those of one search
    chromosome_offsets.py  predictions without one chromosome each → offsets without any set of chromosomes
    traits.py       an outcome of several columns → a search for each, with one survey
    variants.py     genotypes and an outcome → what a GWAS gives of each variant
    relabelings.py  a search + relabelings of samples → maxima of each relabeling
    estimators/     the same as transformers of scikit-learn
    cli/            the same as commands

A room asks the floors below: data (a study), search (an engine, a sink), infer (p-values), show (a result).
"""
