"""One table, written by PLINK 2 in every format it has, gives one result (Debian: apt-get install plink2)."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import interplay
from interplay.genetics import read_bed, read_bgen, read_pgen, read_vcf

PROGRAM = shutil.which("plink2")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PLINK 2 is not installed")

#: How PLINK is asked for each file, and how it is read.
EXPORTS = {
    "s.bed": (["--make-bed"], read_bed),
    "s.8.bgen": (["--export", "bgen-1.2", "bits=8", "ref-first"], read_bgen),
    "s.16.bgen": (["--export", "bgen-1.2", "bits=16", "ref-first"], read_bgen),
    "s.zstd.bgen": (["--export", "bgen-1.3", "bits=16", "ref-first"], read_bgen),
    "s.old.bgen": (["--export", "bgen-1.1", "ref-first"], read_bgen),
    "s.vcf": (["--export", "vcf"], read_vcf),
    "s.vcf.gz": (["--export", "vcf", "bgz"], read_vcf),
    "s.bcf": (["--export", "bcf"], read_vcf),
}


def plink2(*arguments):
    subprocess.run([str(PROGRAM), *map(str, arguments), "--threads", "1"], check=True, capture_output=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study of 400 people × 60 variants with dosages, some of which are not near any genotype."""
    made = tmp_path_factory.mktemp("plink2")
    plink2("--dummy", 400, 60, 0.02, "acgt", "dosage-freq=0.2", "--seed", 3, "--make-pgen", "--out", made / "s")
    genotypes = read_pgen(made / "s.pgen").block(0, 60)
    is_ill = (np.nan_to_num(genotypes[7]) == 1) ^ (np.nan_to_num(genotypes[31]) == 1)
    lines = ["#IID\tSEX\tPHENO1", *(f"per{i}\t{i % 2 + 1}\t{1 + ill}" for i, ill in enumerate(is_ill))]
    (made / "s.psam").write_text("\n".join(lines) + "\n")
    for name, (how, _) in EXPORTS.items():
        out = made / name.removesuffix(".gz").removesuffix(Path(name.removesuffix(".gz")).suffix)
        plink2("--pfile", made / "s", *how, "--out", out)
    return made


@pytest.mark.parametrize("name", EXPORTS)
def test_one_result_from_all(folder, name):
    study = read_pgen(folder / "s.pgen")
    more = {"sample_file": folder / "s.psam"} if ".vcf" in name or ".bcf" in name else {}
    found = EXPORTS[name][1](folder / name, **more)
    assert found.names == study.names
    assert found.positions == study.positions
    assert found.sample_names.tolist() == study.sample_names.tolist()
    assert found.phenotype.tolist() == study.phenotype.tolist()
    np.testing.assert_array_equal(found.block(0, 60), study.block(0, 60))
    settings = {"missing": "omit", "max_p": 1, "p_adjust": "none"}
    ours = interplay.interactions(found, "phenotype", **settings).table
    assert ours.equals(interplay.interactions(study, "phenotype", **settings).table)
    assert set(ours["members"][0]) == {study.names[7], study.names[31]}


@pytest.mark.parametrize("limit", [("--maf", "min_maf", 0.45), ("--geno", "max_missing", 0.15)])
def test_limits_are_those_of_plink(folder, tmp_path, limit):
    option, argument, value = limit
    plink2("--bfile", folder / "s", option, value, "--make-just-bim", "--out", tmp_path / "kept")
    kept = [line.split()[1] for line in (tmp_path / "kept.bim").read_text().splitlines()]
    assert 0 < len(kept) < 60
    for name in ("s.bed", "s.8.bgen", "s.vcf.gz", "s.bcf"):
        assert EXPORTS[name][1](folder / name, **{argument: value}).names == kept, name


def test_certainty_of_imputation_is_that_of_plink(folder, tmp_path):
    plink2("--pfile", folder / "s", "--mach-r2-filter", 0.95, 2, "--make-just-pvar", "--out", tmp_path / "kept")
    lines = (tmp_path / "kept.pvar").read_text().splitlines()
    kept = [line.split("\t")[2] for line in lines if not line.startswith("#")]
    assert 0 < len(kept) < 60
    assert read_pgen(folder / "s.pgen", min_info=0.95).names == kept
    assert read_bgen(folder / "s.16.bgen", min_info=0.95).names == kept


@pytest.mark.parametrize("threshold", [0.03, 0.1, 0.3])
def test_genotypes_of_dosages_are_those_of_plink(folder, tmp_path, threshold):
    plink2("--pfile", folder / "s", "--hard-call-threshold", threshold, "--make-bed", "--out", tmp_path / "h")
    expected = read_bed(tmp_path / "h.bed").block(0, 60)
    for found in (
        read_pgen(folder / "s.pgen", hard_call_threshold=threshold),
        read_bgen(folder / "s.16.bgen", hard_call_threshold=threshold),
    ):
        np.testing.assert_array_equal(found.block(0, 60), expected)


def test_a_region_of_a_compressed_variant_file(folder, tmp_path):
    plink2("--pfile", folder / "s", "--make-pgen", "vzs", "--out", tmp_path / "z")
    assert (tmp_path / "z.pvar.zst").exists()
    assert read_pgen(tmp_path / "z.pgen", region="1:10-19").names == [f"snp{v}" for v in range(10, 20)]
