"""Samples of two files are matched by FID_IID, IID or both; a name of two people is refused."""

import pytest

from interplay.io import read_data
from interplay.readers.sample_names import SampleNames, matched_places


@pytest.mark.parametrize(
    ("wanted", "known", "places"),
    [
        (SampleNames(["a", "b"]), SampleNames(["b", "c"]), [-1, 0]),
        (SampleNames(["f1_a", "f2_a"]), SampleNames(["a", "a"], ["f2", "f1"]), [1, 0]),
        (SampleNames(["a", "a"], ["f2", "f1"]), SampleNames(["f1_a", "f2_a"]), [1, 0]),
        (SampleNames(["a", "a"], ["f2", "f1"]), SampleNames(["a", "a"], ["f1", "f2"]), [1, 0]),
        (SampleNames(["f_1_p_1", "f_1_p_2"]), SampleNames(["p_2", "p_1"]), [1, 0]),
        (SampleNames(["f_1 p_1", "f_1 p_2"]), SampleNames(["p_2", "p_1"], ["f_1", "f_1"]), [1, 0]),
        (SampleNames(["x", "y"]), SampleNames(["a", "b"]), [-1, -1]),
    ],
)
def test_ways_to_match(wanted, known, places):
    assert matched_places(wanted, known, "other.fam").tolist() == places


def test_a_name_of_two_people():
    with pytest.raises(ValueError, match="'a' is the name of more than one person: name people by family"):
        matched_places(SampleNames(["a", "b"]), SampleNames(["f1_a", "f2_a", "f2_b"]), "other.fam")


@pytest.mark.parametrize("other", ["fam", "psam", "sample", "txt", "csv"])
def test_outcomes_beside_a_vcf_file_of_plink(tmp_path, other):
    names = "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT F_1_P_1 F_1_P_2 F_2_P_3 F_3_P_4"
    row = "1 10 rs1 A G . . . GT 0/0 0/1 1/1 0/1"
    lines = ["##fileformat=VCFv4.3", names.replace(" ", "\t"), row.replace(" ", "\t"), ""]
    (tmp_path / "s.vcf").write_text("\n".join(lines))
    people = [("F_3", "P_4", 2), ("F_2", "P_3", 1), ("F_1", "P_2", 2), ("F_1", "P_1", 1)]
    written = {
        "fam": [f"{f} {p} 0 0 1 {y}" for f, p, y in people],
        "psam": ["#FID\tIID\tSEX\tPHENO1", *(f"{f}\t{p}\t1\t{y}" for f, p, y in people)],
        "sample": ["ID_1 ID_2 missing PHENO1", "0 0 0 B", *(f"{f} {p} 0 {y - 1}" for f, p, y in people)],
        "txt": ["FID\tIID\tphenotype", *(f"{f}\t{p}\t{'case' if y == 2 else 'control'}" for f, p, y in people)],
        "csv": ["IID,phenotype", *(f"{p},{'case' if y == 2 else 'control'}" for f, p, y in people)],
    }
    file = tmp_path / f"people.{other}"
    file.write_text("\n".join(written[other]) + "\n")
    X, y = read_data(tmp_path / "s.vcf", target_file=file, target="phenotype")
    assert X.n_samples == 4
    assert list(y) == ["control", "case", "control", "case"]
