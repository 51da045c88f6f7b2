"""All areas, in the order of the page."""

from __future__ import annotations

from hostile import decisions, nulls, results, saved_files, settings, tables

ALL = [tables.AREA, decisions.AREA, settings.AREA, nulls.AREA, results.AREA, saved_files.AREA]
