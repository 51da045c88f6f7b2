"""Files of MuData, written by anndata."""

import h5py

try:
    from anndata.io import write_elem
except ImportError:  # before anndata 0.11
    from anndata.experimental import write_elem


def write_h5mu(path, modalities, obs=None):
    """As mudata writes it: each modality is an AnnData, beside what is known of all cells."""
    with h5py.File(path, "w") as file:
        file.attrs["axis"] = 0
        for name, modality in modalities.items():
            write_elem(file, f"mod/{name}", modality)
        if obs is not None:
            write_elem(file, "obs", obs)
    return path
