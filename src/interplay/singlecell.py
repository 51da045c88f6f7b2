"""Cells by genes in AnnData; see `interplay.readers.h5ad`."""

from interplay.readers.h5ad import from_anndata, read_h5ad

__all__ = ["from_anndata", "read_h5ad"]
