"""Cells by genes in files of AnnData, MuData and 10x Genomics; see `interplay.readers`."""

from interplay.readers.single_cell import from_anndata, read_10x, read_h5ad, read_h5mu

__all__ = ["from_anndata", "read_10x", "read_h5ad", "read_h5mu"]
