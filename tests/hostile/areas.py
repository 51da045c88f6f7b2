"""All areas, in the order of the page."""

from __future__ import annotations

from hostile import (
    cell_files,
    command_line,
    data_files,
    datasets,
    decisions,
    genotype_files,
    groups,
    interactions,
    names,
    nulls,
    older_package,
    plans,
    realness,
    results,
    saved_files,
    selectors,
    settings,
    sites,
    tables,
)

ALL = [
    tables.AREA,
    decisions.AREA,
    groups.AREA,
    settings.AREA,
    names.AREA,
    nulls.AREA,
    results.AREA,
    interactions.AREA,
    sites.AREA,
    plans.AREA,
    realness.AREA,
    selectors.AREA,
    data_files.AREA,
    genotype_files.AREA,
    cell_files.AREA,
    saved_files.AREA,
    command_line.AREA,
    older_package.AREA,
    datasets.AREA,
]
