"""Cells by genes in files of AnnData, MuData and 10x Genomics; see `interplay.readers`."""

from interplay.readers.h5ad import from_anndata, read_h5ad
from interplay.readers.h5mu import read_h5mu
from interplay.readers.tenx_h5 import read_10x

__all__ = ["from_anndata", "read_10x", "read_h5ad", "read_h5mu"]
