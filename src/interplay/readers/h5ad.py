"""AnnData, in memory or in .h5ad files: tables of cells by genes."""

from __future__ import annotations

import os
from typing import Any

from interplay.base.checks import check_file, needing, reading
from interplay.data.study.anndata_table import anndata_table, is_anndata
from interplay.data.study.table import Table


def from_anndata(adata: Any, *, layer: str | None = None) -> Table:
    """Return the matrix of an AnnData, or one of its layers, as a table for `select`.

    Parameters
    ----------
    adata : AnnData
        ``select(adata, ...)`` does the same for its ``.X``.
    layer : str, optional
        Name of the layer to take instead of ``.X``.

    Returns
    -------
    Table
        ``y`` and ``strata`` of `select` may name columns of ``.obs``.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(2, size=(200, 30))
    >>> obs = pd.DataFrame({"ill": counts[:, 7] + rng.poisson(2, size=200) > 4}, index=[f"cell{i}" for i in range(200)])
    >>> adata = anndata.AnnData(np.log1p(counts), obs=obs, layers={"counts": counts})
    >>> result = interplay.select(interplay.singlecell.from_anndata(adata, layer="counts"), "ill", dimensions=1)
    >>> result.relevant
    ['7']
    >>> result.annotate(adata)
    >>> adata.var["interplay_relevant"].sum()
    np.int64(1)
    """
    if not is_anndata(adata):
        raise TypeError(f"adata must be an AnnData, not {type(adata).__name__}")
    return anndata_table(adata, layer=layer)


def read_h5ad(path: str | os.PathLike[str], *, layer: str | None = None) -> Table:
    """Return the matrix of an .h5ad file, or one of its layers, as a table for `select`.

    A dense matrix stays in the file and is read by blocks of columns. A sparse one is read into memory, where it stays
    sparse.

    Parameters
    ----------
    path : path
    layer : str, optional
        Name of the layer to take instead of ``.X``.

    Returns
    -------
    Table
        ``y`` and ``strata`` of `select` may name columns of ``.obs``.
    """
    with needing("anndata", "singlecell", "reading .h5ad files needs"):
        import anndata
    check_file("path", path)
    with reading(path, "an .h5ad file that anndata can read"):
        adata = anndata.read_h5ad(path, backed="r")
    return anndata_table(adata, layer=layer)
