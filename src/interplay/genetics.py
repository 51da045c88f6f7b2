"""Genotypes in PLINK files; see `interplay.readers.bed`."""

from interplay.readers.bed import BedTable, read_bed

__all__ = ["BedTable", "read_bed"]
