"""All areas, in the order of the page."""

from __future__ import annotations

from hostile import decisions, settings, tables

ALL = [tables.AREA, decisions.AREA, settings.AREA]
