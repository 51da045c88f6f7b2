"""All targets by name, in the twelve kinds of things that they try."""

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

KINDS = {
    "options, engines and orders of work": (differential.every_option, differential.every_way),
    "plain loops, lists": (searches.against_plain_loops, same_search.lists_of_interactions),
    "interrupted searches": (same_search.interrupted_searches, archives.resume),
    "flipped and forged files of results": (archives.load, archives.merge),
    "tables of other programs": (
        data_files.read_text, data_files.read_binary, data_files.read_two, genotype_files.read_genotypes,
    ),
    "flipped HDF5, sparse indices": (data_files.read_cells, data_files.sparse_indices),
    "flipped and forged files of sites": (
        site_files.plan_of_sites, site_files.list_of_site, site_files.counts_of_site, site_files.flips_of_site,
    ),
    "odd arguments, tiny and extreme tables": (
        searches.select, searches.interesting_tuples, searches.fit_null, searches.older_package, commands.command_line,
    ),
    "saved = loaded": (same_numbers.saved_selections, same_numbers.saved_interactions),
    "merged shards = one call": (same_numbers.shards_of_any_outcome, same_search.shards_of_interactions),
    "rules in SQL = values": (rules.rules_in_sql,),
    "units, orders, recoded alleles": (same_numbers.units_of_numbers, same_numbers.order_and_names),
}  # fmt: skip

TARGETS = {target.__name__: target for some in KINDS.values() for target in some}
