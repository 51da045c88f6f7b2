"""interactions() beside PLINK 1.9's BOOST and regression, where it is installed (Debian: apt-get install plink1.9)."""

import numpy as np
import pytest

import compare_plink
import interplay
import plink_epistasis

PROGRAM = compare_plink.find_plink()


@pytest.mark.skipif(PROGRAM is None, reason="PLINK 1.9 is not installed")
def test_statistics_are_those_of_plink(tmp_path):
    pytest.importorskip("bed_reader")
    bed = tmp_path / "study.bed"
    compare_plink.write_study(bed, 1500, 120, seed=1)
    theirs = compare_plink.run_plink(PROGRAM, bed, "--epi1", "1")
    ours = interplay.interactions(
        interplay.genetics.read_bed(bed), "phenotype", missing="omit", max_p=1, p_adjust="none", coding="levels"
    ).table
    ours[["SNP1", "SNP2"]] = ours["members"].to_list()
    both = ours.merge(theirs, on=["SNP1", "SNP2"])
    assert len(both) == len(theirs) == len(ours) == 120 * 119 // 2
    printed = np.isclose(both["chi2"], both["STAT"], rtol=compare_plink.PRINTED, atol=1e-6)
    # IPF ends early where the fit of H0 has zeros: their G² is then a little too large.
    rest = both[~printed]
    assert len(rest) <= 5
    assert (rest["min_expected"] < 1e-6).all()
    assert ((rest["chi2"] < rest["STAT"]) & (rest["STAT"] - rest["chi2"] < 0.2)).all()
    # Empty combinations of genotypes: theirs do not count.
    assert (both["df"] <= both["DF"]).all()
    assert (both["df"] < both["DF"]).any()
    assert (both["df"] == both["DF"]).any()


@pytest.mark.skipif(PROGRAM is None, reason="PLINK 1.9 is not installed")
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_products_of_dosages_are_those_of_plink(tmp_path, missing):
    pytest.importorskip("bed_reader")
    bed = tmp_path / "trait.bed"
    plink_epistasis.write_trait(bed, 800, 60, seed=2, missing=missing)
    both = plink_epistasis.both_tests(PROGRAM, bed)
    assert (both["_merge"] == "both").all()
    assert len(both) == 60 * 59 // 2
    same = plink_epistasis.same_digits(both)
    assert same.all(axis=None), both[~same.all(axis=1)]
    # χ² forgets that the variance is estimated.
    assert (both["p_value"] > both["P"] * (1 - plink_epistasis.PRINTED_P) - 1e-4).all()
