"""MuData in .h5mu files: one of its modalities as a table of cells by features."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interplay.base.checks import check_file, needing, reading, shown
from interplay.data.study.anndata_table import anndata_table
from interplay.data.study.table import Table

if TYPE_CHECKING:
    import pandas as pd

_WHAT = "an .h5mu file that can be read"


@dataclass(frozen=True, eq=False)
class _Modality:
    """The parts of an AnnData that a table needs."""

    filename: str | os.PathLike[str]
    X: Any
    layers: Mapping[str, Any]
    obs: pd.DataFrame
    var_names: Any

    @property
    def obs_names(self) -> Any:
        return self.obs.index


def read_h5mu(path: str | os.PathLike[str], *, modality: str | None = None, layer: str | None = None) -> Table:
    """Return a modality of an .h5mu file (MuData) as a table for `select`.

    A dense matrix stays in the file and is read by blocks of columns. A sparse one is read into memory, where it stays
    sparse.

    Parameters
    ----------
    path : path
    modality : str, optional
        Name of the modality, such as "rna". Needed if the file has more than one.
    layer : str, optional
        Name of the layer to take instead of ``.X``.

    Returns
    -------
    Table
        ``y`` and ``strata`` of `select` may name columns of ``.obs``, of the modality or of all cells.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import anndata, h5py, numpy as np, pandas as pd
    >>> import interplay
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cells.h5mu"
    >>> obs = pd.DataFrame({"ill": [True, False]}, index=["a", "b"])
    >>> adata = anndata.AnnData(np.array([[1.0, 2], [3, 4]]), obs=obs, var=pd.DataFrame(index=["CD4", "CD8A"]))
    >>> with h5py.File(path, "w") as file:  # mudata.write does the same
    ...     anndata.io.write_elem(file, "mod/rna", adata)
    >>> table = interplay.singlecell.read_h5mu(path)
    >>> table.names, list(table.sample_columns["ill"])
    (['CD4', 'CD8A'], [True, False])
    """
    with needing("anndata", "singlecell", "reading .h5mu files needs"):
        import h5py

        try:
            from anndata.io import read_elem
        except ImportError:  # before anndata 0.11
            from anndata.experimental import read_elem
    check_file("path", path)
    with reading(path, _WHAT):
        file = h5py.File(path, "r")
        there_are = list(file["mod"])
    listed = ", ".join(repr(name) for name in there_are)
    if modality is None and len(there_are) != 1:
        raise ValueError(f"{os.fspath(path)!r} has several modalities: name one of {listed} as modality")
    chosen = there_are[0] if modality is None else modality
    if chosen not in there_are:
        raise ValueError(f"modality must be one of {listed}, not {shown(modality)}")
    with reading(path, _WHAT):
        group = file["mod"][chosen]
        obs, var = read_elem(group["obs"]), read_elem(group["var"])
        if "obs" in file and int(file.attrs.get("axis", 0)) == 0:
            of_all = read_elem(file["obs"])
            known = [name for name in of_all.columns if name not in obs.columns]
            obs = obs.join(of_all[known]) if of_all.index.is_unique else obs
        names = list(group["layers"]) if "layers" in group else []
        layers = {name: _matrix(group["layers"][name], read_elem) for name in names if name == layer}
        layers |= {name: None for name in names if name != layer}
        X = _matrix(group["X"], read_elem) if "X" in group and layer is None else None
    return anndata_table(_Modality(path, X, layers, obs, var.index), layer=layer)


def _matrix(element: Any, read_elem: Any) -> Any:
    """Return a dense matrix as it lies in the file, a sparse one in memory."""
    return element if hasattr(element, "dtype") else read_elem(element)
