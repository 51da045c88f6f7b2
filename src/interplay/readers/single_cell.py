"""Files of single cells → tables of cells by genes: AnnData (.h5ad), MuData (.h5mu) and 10x Genomics (.h5)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import check_file, needing, reading, shown
from interplay.data.study.anndata_table import anndata_table, is_anndata
from interplay.data.study.table import Table, as_table, sound_sparse

if TYPE_CHECKING:
    import pandas as pd


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


_WHAT_H5MU = "an .h5mu file that can be read"


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
    with reading(path, _WHAT_H5MU):
        file = h5py.File(path, "r")
        there_are = list(file["mod"])
    listed = ", ".join(repr(name) for name in there_are)
    if modality is None and len(there_are) != 1:
        raise ValueError(f"{os.fspath(path)!r} has several modalities: name one of {listed} as modality")
    chosen = there_are[0] if modality is None else modality
    if chosen not in there_are:
        raise ValueError(f"modality must be one of {listed}, not {shown(modality)}")
    with reading(path, _WHAT_H5MU):
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


_WHAT_10X = "an .h5 file of 10x Genomics that can be read"


def read_10x(path: str | os.PathLike[str], *, modality: str | None = None) -> Table:
    """Return the counts of an .h5 file of 10x Genomics' Cell Ranger (version 2 or newer) as a table for `select`.

    Parameters
    ----------
    path : path
        Such as filtered_feature_bc_matrix.h5.
    modality : str, optional
        The type of features to take, such as "Gene Expression", or, in files of version 2, the genome. Needed if the
        file has more than one.

    Returns
    -------
    Table
        Variables are the features, by their names; a name that several have is followed by the feature's ID. Samples
        are cells, named by barcodes. The file knows no outcome: give one as `y`, or in a table that is joined by
        barcodes (``--target-file``).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import h5py, numpy as np
    >>> import interplay
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cells.h5"
    >>> with h5py.File(path, "w") as file:
    ...     matrix = file.create_group("matrix")
    ...     for name, values in {"data": [3, 1, 2], "indices": [0, 1, 1], "indptr": [0, 2, 3], "shape": [2, 2]}.items():
    ...         matrix[name] = np.array(values)
    ...     matrix["barcodes"] = np.array([b"AAC-1", b"GGT-1"])
    ...     features = matrix.create_group("features")
    ...     features["id"], features["name"] = np.array([b"ENSG1", b"ENSG2"]), np.array([b"CD4", b"CD8A"])
    ...     features["feature_type"] = np.array([b"Gene Expression"] * 2)
    >>> table = interplay.singlecell.read_10x(path)
    >>> table.names, table.sample_names.tolist(), table.block(0, 2).tolist()
    (['CD4', 'CD8A'], ['AAC-1', 'GGT-1'], [[3, 0], [1, 2]])
    """
    with needing("h5py", "singlecell", "reading .h5 files needs"):
        import h5py
    check_file("path", path)
    with reading(path, _WHAT_10X):
        file = h5py.File(path, "r")
    with file:
        with reading(path, _WHAT_10X):
            genomes = [name for name in file if isinstance(file[name], h5py.Group) and "indptr" in file[name]]
        if not genomes:
            raise ValueError(f"{os.fspath(path)!r} is not {_WHAT_10X}: it has no matrix of counts")
        is_old = "matrix" not in genomes
        group = file["matrix"] if not is_old else file[_chosen(genomes, modality, path, "genomes")]
        with reading(path, _WHAT_10X):
            names, ids, kinds = _features(group, is_old)
            matrix = _cells_by_genes(group, len(ids))
            barcodes = _texts(group["barcodes"])
            if len(barcodes) != matrix.shape[0]:
                raise ValueError("its number of barcodes is not that of its cells")
    if kinds is not None:
        kind = _chosen(list(dict.fromkeys(kinds)), modality, path, "types of features")
        is_wanted = np.array(kinds) == kind
        matrix = matrix.tocsc()[:, is_wanted]
        names, ids = ([text for text, good in zip(part, is_wanted, strict=True) if good] for part in (names, ids))
    count = Counter(names)
    table = as_table(
        matrix, names=[name if count[name] == 1 else f"{name} {of}" for name, of in zip(names, ids, strict=True)]
    )
    table.sample_names = np.array(barcodes, dtype=object)
    return table


def _chosen(there_are: list[str], modality: str | None, path: Any, what: str) -> str:
    if modality is None and len(there_are) == 1:
        return there_are[0]
    listed = ", ".join(repr(name) for name in there_are)
    if modality is None:
        raise ValueError(f"{os.fspath(path)!r} has several {what}: name one of {listed} as modality")
    if modality not in there_are:
        raise ValueError(f"modality must be one of {listed}, not {shown(modality)}")
    return modality


def _features(group: Any, is_old: bool) -> tuple[list[str], list[str], list[str] | None]:
    """Return names, IDs and types of the features; files of version 2 have no types."""
    if is_old:
        return _texts(group["gene_names"]), _texts(group["genes"]), None
    features = group["features"]
    kinds = _texts(features["feature_type"]) if "feature_type" in features else None
    names, ids = _texts(features["name"]), _texts(features["id"])
    if len(names) != len(ids) or (kinds is not None and len(kinds) != len(ids)):
        raise ValueError("its features have different numbers of names, IDs and types")
    return names, ids, kinds


def _cells_by_genes(group: Any, n_features: int) -> Any:
    """Return cells by features; the file has features by cells, column by column."""
    import scipy.sparse as sp

    data, indices, indptr = (np.asarray(group[name]) for name in ("data", "indices", "indptr"))
    n_rows, n_cells = (int(n) for n in group["shape"])
    if n_rows != n_features or n_cells < 0:
        raise ValueError("its shape is not that of its features")
    return sound_sparse(sp.csr_matrix((data, indices, indptr), shape=(n_cells, n_features)))


def _texts(values: Any) -> list[str]:
    return [text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text) for text in values[()].tolist()]
