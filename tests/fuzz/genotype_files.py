"""Files of genotypes of every format, more or less broken, with the files that lie beside them."""

import functools
import gzip
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import interplay
from fuzz.archives import changed_bytes
from fuzz.outcomes import refused_or
from genotype_study import ENDINGS, Study
from interplay.io import read_data

#: Files without checksums, so that changes reach what lies inside.
UNPACKED = ("unpacked .bcf", "unpacked .bgen")


@functools.cache
def whole(ending):
    """The good files of a format, by name; "" is the file itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.bgen")
        if ending == "unpacked .bgen":
            Study().write_bgen(path, 8, compression=None)
        else:
            path = Study().write(Path(folder), ending.removeprefix("unpacked "))
        if ending == "unpacked .bcf":
            path.write_bytes(gzip.decompress(path.read_bytes()))
        Study().write_psam(Path(folder, "people.psam"))
        return {other.name: other.read_bytes() for other in Path(folder).iterdir()} | {"": path.name.encode()}


def searched(path, people, sex_chromosomes):
    more = {"sample_file": people} if path.suffix not in (".bed", ".bgen", ".pgen") else {}
    multi = {} if path.suffix == ".bed" else {"multiallelic": "drop"}
    X, y = read_data(path, sex_chromosomes=sex_chromosomes, max_missing=0.9, **multi, **more)
    assert set(np.unique(np.nan_to_num(X.block(0, X.n_vars), nan=3)).tolist()) <= {0, 1, 2, 3}
    interplay.max_information_gain(X, y, dimensions=1, missing="level")


@given(st.sampled_from(ENDINGS + UNPACKED), st.data(), st.sampled_from(["drop", "keep"]))
def read_genotypes(ending, data, sex_chromosomes):
    good = whole(ending)
    name = good[""].decode()
    beside = [other for other in good if other not in ("", name)]
    broken = data.draw(st.sampled_from([name] * 4 + beside))
    with tempfile.TemporaryDirectory() as folder:
        for other, content in good.items():
            if other:
                Path(folder, other).write_bytes(changed_bytes(data.draw, content) if other == broken else content)
        refused_or(lambda: searched(Path(folder, name), Path(folder, "people.psam"), sex_chromosomes))
