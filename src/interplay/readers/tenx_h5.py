"""Files .h5 of 10x Genomics' Cell Ranger: tables of cells by genes, which stay sparse in memory."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np

from interplay.base.checks import check_file, needing, reading, shown
from interplay.data.study.table import Table, as_table, sound_sparse

_WHAT = "an .h5 file of 10x Genomics that can be read"


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
    with reading(path, _WHAT):
        file = h5py.File(path, "r")
    with file:
        with reading(path, _WHAT):
            genomes = [name for name in file if isinstance(file[name], h5py.Group) and "indptr" in file[name]]
        if not genomes:
            raise ValueError(f"{os.fspath(path)!r} is not {_WHAT}: it has no matrix of counts")
        is_old = "matrix" not in genomes
        group = file["matrix"] if not is_old else file[_chosen(genomes, modality, path, "genomes")]
        with reading(path, _WHAT):
            names, ids, kinds = _features(group, is_old)
            matrix = _matrix(group, len(ids))
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


def _matrix(group: Any, n_features: int) -> Any:
    """Return cells by features; the file has features by cells, column by column."""
    import scipy.sparse as sp

    data, indices, indptr = (np.asarray(group[name]) for name in ("data", "indices", "indptr"))
    n_rows, n_cells = (int(n) for n in group["shape"])
    if n_rows != n_features or n_cells < 0:
        raise ValueError("its shape is not that of its features")
    return sound_sparse(sp.csr_matrix((data, indices, indptr), shape=(n_cells, n_features)))


def _texts(values: Any) -> list[str]:
    return [text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text) for text in values[()].tolist()]
