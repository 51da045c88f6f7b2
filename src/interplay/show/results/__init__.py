"""Results of the calls: they hold and show. New samples are tested by `interplay.ask.new_samples`.

::

    result.py                  Result: the common part of Selection and Interactions; Traits: several outcomes
    selection.py               Selection: table, summary, plots, report
    run.py                     Run: one search of a selection, its null fit, and the tuples that explain its variables
    selection_table.py         Selection → tables of variables and tuples; one size of tuples; the n best
    selection_summary.py       Selection → a few lines of text, and the first answer: size, how sure, works with
    interactions.py            Interactions: tuples that interact; table, summary, plots, report
    interaction_table.py       tested tuples → columns with names, a graph, rules that people read, SQL
    leads.py                   leads, the tuples that join each, as a table; Tagging: verdicts on leads
    interaction_summary.py     Interactions → a few lines of text
    variants.py                Variants: places, alleles, frequencies and effects per allele; summary statistics
    combined.py                Combined: tests of several studies as one
    replicated.py              Replication: relevant variables in new samples, beside the first ones
    provenance.py              when, by which engine and versions a result was made; of shards, summed
    summary_words.py           parts of a summary that both share: samples, classes, strata, cuts, table
    saved.py                   Selection, Interactions or Combined ↔ one file, with checks that it is consistent
"""
