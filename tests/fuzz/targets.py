"""All targets by name."""

from __future__ import annotations

from fuzz import (
    archives,
    commands,
    data_files,
    differential,
    genotype_files,
    rules,
    same_numbers,
    same_search,
    searches,
    site_files,
)

TARGETS = {
    target.__name__: target
    for target in (
        archives.load,
        archives.merge,
        archives.resume,
        data_files.read_text,
        data_files.read_binary,
        data_files.read_two,
        data_files.read_cells,
        data_files.sparse_indices,
        genotype_files.read_genotypes,
        differential.every_option,
        differential.every_way,
        same_numbers.saved_selections,
        same_numbers.shards_of_any_outcome,
        same_numbers.units_of_numbers,
        same_numbers.order_and_names,
        same_search.shards_of_interactions,
        same_search.lists_of_interactions,
        same_search.interrupted_searches,
        rules.rules_in_sql,
        searches.against_plain_loops,
        searches.select,
        searches.interesting_tuples,
        searches.fit_null,
        searches.older_package,
        commands.command_line,
        site_files.plan_of_sites,
        site_files.list_of_site,
        site_files.counts_of_site,
    )
}
