"""PLINK 1.9's BOOST on genotypes made up here: all pairs, one thread, as a user would call it."""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

#: The two bits of a genotype in a .bed file, by the number of second alleles.
_BED_BITS = np.array([0b00, 0b10, 0b11], dtype=np.uint8)


def program() -> str | None:
    """Return the path of PLINK 1.9 (Debian: ``apt-get install plink1.9``), if there is one."""
    return shutil.which("plink1.9") or shutil.which("plink")


def write_bed(stem: Path, codes: np.ndarray, y: np.ndarray) -> None:
    """Write genotypes 0, 1, 2, (n_samples, n_vars), and an outcome 0, 1 as .bed, .bim and .fam."""
    n_samples, n_vars = codes.shape
    bits = np.zeros((n_vars, -(-n_samples // 4) * 4), dtype=np.uint8)
    bits[:, :n_samples] = _BED_BITS[codes.T]
    packed = bits[:, 0::4] | bits[:, 1::4] << 2 | bits[:, 2::4] << 4 | bits[:, 3::4] << 6
    stem.with_suffix(".bed").write_bytes(bytes([0x6C, 0x1B, 0x01]) + packed.tobytes())
    stem.with_suffix(".bim").write_text("".join(f"1\tsnp{v}\t0\t{1000 * v + 1}\tA\tC\n" for v in range(n_vars)))
    stem.with_suffix(".fam").write_text("".join(f"f{i}\ts{i}\t0\t0\t1\t{1 + int(c)}\n" for i, c in enumerate(y)))


def time_boost(codes: np.ndarray, y: np.ndarray, *, threads: int = 1) -> float:
    """Return the seconds of processor time that ``--fast-epistasis boost`` takes, reading the file included."""
    path = program()
    if path is None:
        raise FileNotFoundError("there is no plink1.9 on this machine")
    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder) / "genotypes"
        write_bed(stem, codes, y)
        command = [path, "--bfile", str(stem), "--fast-epistasis", "boost", "--threads", str(threads)]
        command += ["--epi1", "1e-12", "--out", str(stem) + "_out"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
