"""An AnnData as a table: its matrix or a layer, with the columns of `.obs` as properties of the samples.

Nothing here imports anndata: a program with an AnnData has imported it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from interplay.base.checks import reading
from interplay.data.study.table import ArrayTable, Table, Values, Which, as_table, check_names

#: What turns errors of reading the file of a table into one line.
Readable = Callable[[], AbstractContextManager[None]]


def is_anndata(X: Any) -> bool:
    """Say whether `X` is an AnnData, or as good as one."""
    return all(hasattr(X, attribute) for attribute in ("X", "obs_names", "var_names"))


def anndata_table(adata: Any, *, layer: str | None = None, names: Iterable[Any] | None = None) -> Table:
    """Return `.X` of an AnnData, or a layer, as a table.

    A dense matrix in a file (backed mode) is read by blocks of columns. A sparse one is read into memory, and stays
    sparse.
    """
    path = getattr(adata, "filename", None)
    readable: Readable = nullcontext if path is None else partial(reading, path, "a file of cells that can be read")
    if layer is None:
        with readable():
            matrix = adata.X
        if matrix is None:
            raise ValueError(f"the AnnData has no X: choose one of its layers (there are: {_listed_layers(adata)})")
    elif layer in adata.layers:
        matrix = adata.layers[layer]
    else:
        raise ValueError(
            f"layer {layer!r} is not in the AnnData: choose one of its layers (there are: {_listed_layers(adata)})"
        )
    found = check_names(adata.var_names if names is None else names, n_samples=matrix.shape[0])
    with readable():
        if hasattr(matrix, "to_memory"):  # sparse, in a file
            matrix = matrix.to_memory()
        table = _file_table(matrix, found, readable) if _is_in_file(matrix) else as_table(matrix, names=found)
    table.sample_names = adata.obs_names
    obs = getattr(adata, "obs", None)
    if obs is not None:
        table.sample_columns = {str(name): obs[name] for name in obs.columns}
    return table


def _listed_layers(adata: Any) -> str:
    # From anndata 0.13 on X is a layer too, called None.
    return ", ".join(repr(name) for name in adata.layers if name is not None) or "none"


def _is_in_file(matrix: Any) -> bool:
    """Say whether a matrix is an h5py or zarr dataset, which is read in parts."""
    return type(matrix).__module__.partition(".")[0] in ("h5py", "zarr")


def _file_table(matrix: Any, names: Iterable[Any], readable: Readable) -> Table:
    def read(which: Which) -> Values:
        if isinstance(which, slice):
            with readable():
                return np.asarray(matrix[:, which])
        # Files are read in ascending order, each column once.
        wanted, places = np.unique(which, return_inverse=True)
        with readable():
            return np.asarray(matrix[:, wanted])[:, places]

    # as_table checks shape, type and names on an array that takes no memory.
    shape = as_table(np.broadcast_to(np.zeros((), matrix.dtype), matrix.shape), names=names)
    return ArrayTable(read, shape.n_samples, shape.names, np.dtype(matrix.dtype))
