"""All areas, in the order of the page."""

from __future__ import annotations

from hostile import (
    command_line,
    data_files,
    datasets,
    decisions,
    groups,
    interactions,
    names,
    nulls,
    older_package,
    realness,
    results,
    saved_files,
    selectors,
    settings,
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
    realness.AREA,
    selectors.AREA,
    data_files.AREA,
    saved_files.AREA,
    command_line.AREA,
    older_package.AREA,
    datasets.AREA,
]
