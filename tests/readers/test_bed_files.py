"""Files in PLINK's .bed format, and genotypes as numbers of one byte: codes, planes, hashes and parts of tables."""

import numpy as np
import pandas as pd
import pytest
from bed_reader import open_bed, to_bed

from genotype_study import N_VARIANTS, NAMES, Study
from interplay.data.codes.coder import make_coder
from interplay.data.codes.cuts import variable_cuts
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.fingerprint import data_fingerprint
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.subsets import ColumnSubset, RowSubset
from interplay.data.study.table import MISSING_WHOLE, as_table
from interplay.genetics import read_bed
from interplay.readers.genotypes import genotype_table

STUDY = Study()


@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize("kept_bytes", [0, 2**25])
def test_genotypes_are_coded_as_those_of_an_array(tmp_path, monkeypatch, has_gaps, kept_bytes):
    """A file gives whole numbers of one byte; codes, planes and fingerprint are those of floats."""
    monkeypatch.setattr(genotype_table, "_MAX_READ_BYTES", kept_bytes)
    genotypes = np.tile(STUDY.values, 2)[:, :300]
    if not has_gaps:
        genotypes = np.nan_to_num(genotypes)
    genotypes[2] = np.minimum(genotypes[2], 1)
    path = tmp_path / "study.bed"
    to_bed(path, np.ascontiguousarray(genotypes.T), properties={"sid": NAMES})
    classes = DecisionClasses(np.arange(300) % 2, [0, 1])
    of_file, of_array = read_bed(path), as_table(pd.DataFrame(genotypes.T, columns=NAMES))
    assert data_fingerprint(of_file, classes) == data_fingerprint(of_array, classes)
    for missing in ("level", "impute"):
        for discrete in ("auto", "none"):
            ours, plain = (
                make_coder(
                    table, divisions=2, discretizations=2, range_=0.5, seed=1, discrete=discrete, missing=missing
                )
                for table in (of_file, of_array)
            )
            np.testing.assert_array_equal(ours.last_levels, plain.last_levels)
            assert [variable_cuts(ours, v).dosages().tolist() for v in range(N_VARIANTS)] == [
                variable_cuts(plain, v).dosages().tolist() for v in range(N_VARIANTS)
            ]
            for d in (0, 1):
                np.testing.assert_array_equal(ours.codes(d).codes, plain.codes(d).codes)
                packed = [make_bit_planes([coder.code_blocks(d)], classes).words for coder in (ours, plain)]
                np.testing.assert_array_equal(*packed)


@pytest.mark.parametrize("n_samples", [1, 2, 3, 4, 5, 127])
def test_a_bed_file_is_read_as_bed_reader_reads_it(tmp_path, n_samples):
    """Also some variants in any order, of some people."""
    rng = np.random.default_rng(n_samples)
    genotypes = rng.choice([0.0, 1.0, 2.0, np.nan], size=(n_samples, 30))
    to_bed(tmp_path / "s.bed", genotypes)
    np.testing.assert_array_equal(open_bed(tmp_path / "s.bed").read(dtype="float64"), genotypes)
    table = read_bed(tmp_path / "s.bed")
    np.testing.assert_array_equal(table.block(0, 30), genotypes.T)
    chosen, people = rng.permutation(30)[:11], np.sort(rng.choice(n_samples, -(-n_samples // 2), replace=False))
    np.testing.assert_array_equal(table.columns(chosen), genotypes.T[chosen])
    some = read_bed(tmp_path / "s.bed", samples=people, variants=np.sort(chosen))
    np.testing.assert_array_equal(some.block(0, 11), genotypes[people].T[np.sort(chosen)])


def test_bed_files_of_another_form(tmp_path):
    path = tmp_path / "s.bed"
    to_bed(path, np.zeros((5, 3)))
    content = path.read_bytes()
    for changed, message in (
        (content[:-1], "it has 8 bytes, but 3 variants of 5 people take 9: it is cut short, or .bim and .fam belong"),
        (content + b"\0", "it has 10 bytes, but 3 variants of 5 people take 9"),
        (b"\x6c\x1b\0" + content[3:], "the variants of one person after another: write it anew with plink2 --make-bed"),
        (b"PK\3" + content[3:], "its first bytes are those of another format"),
    ):
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=message):
            read_bed(path)
    path.write_bytes(content)
    table = read_bed(path)
    path.write_bytes(content[:-1])
    with pytest.raises(ValueError, match=r"s.bed' has become shorter while it was read"):
        table.block(0, 3)


def test_parts_of_genotypes_are_whole_numbers_too(tmp_path):
    """Else the samples of known phenotype would be read as floats, four times the bytes."""
    table = read_bed(STUDY.write(tmp_path, ".bed"))
    columns, rows = np.array([1, 2, 7]), np.array([0, 3, 4, 40])
    of_columns, of_rows = ColumnSubset(table, columns), RowSubset(table, rows)
    for part, values in ((of_columns, STUDY.values[columns]), (of_rows, STUDY.values[:, rows])):
        assert part.has_whole_numbers
        for which in (slice(1, 3), np.array([2, 0])):
            found = part.whole_numbers(which)
            assert found is not None
            assert found.dtype == np.int8
            assert found.flags.c_contiguous
            np.testing.assert_array_equal(np.where(found == MISSING_WHOLE, np.nan, found), values[which])
    assert as_table(np.zeros((3, 2))).whole_numbers(slice(0, 2)) is None
    assert not RowSubset(as_table(np.zeros((3, 2))), np.array([0])).has_whole_numbers
    # Else predictions of people would be matched by position.
    assert of_rows.sample_names.tolist() == table.sample_names[rows].tolist()


def test_genotypes_of_many_people_come_in_wide_blocks(tmp_path):
    """Threads wait for each other between two blocks: 8 variants at a time take seven times as long as 64."""
    to_bed(tmp_path / "s.bed", np.zeros((200_000, 2)))
    settings = {"divisions": 1, "discretizations": 1, "range_": 0.0, "seed": 0}
    assert make_coder(read_bed(tmp_path / "s.bed"), **settings).block_columns == 64
    assert make_coder(as_table(np.zeros((200_000, 2))), **settings).block_columns == 8
