"""Files of genotypes: every format gives the same table, and what has to be guessed is refused or left out by name."""

import gzip
import io
import struct
import threading

import numpy as np
import pandas as pd
import pytest

import interplay
from genotype_study import ENDINGS, N_SAMPLES, N_VARIANTS, NAMES, PEOPLE, Study
from interplay.genetics import read_bed, read_bgen, read_pgen, read_vcf
from interplay.io import read_data

READERS = {
    ".bed": read_bed,
    ".pgen": read_pgen,
    ".bgen": read_bgen,
    ".vcf": read_vcf,
    ".gz": read_vcf,
    ".bcf": read_vcf,
}
STUDY = Study()


def read(path, **options):
    return READERS.get(path.suffix, read_vcf)(path, **options)


@pytest.fixture(params=ENDINGS)
def path(request, tmp_path):
    return STUDY.write(tmp_path, request.param)


def test_every_format_gives_the_table(path):
    table = read(path)
    assert table.names == NAMES
    assert table.sample_names.tolist() == PEOPLE
    assert table.positions[:1] + table.positions[-1:] == [("1", 1000.0), ("2", 24000.0)]
    np.testing.assert_array_equal(table.block(0, N_VARIANTS), STUDY.values)
    np.testing.assert_array_equal(table.columns(np.array([7, 3, 3])), STUDY.values[[7, 3, 3]])


def test_some_people_and_some_variants(path):
    rows = np.array([9, 4, 200])
    table = read(path, samples=[PEOPLE[i] for i in rows], variants=["rs3", "rs20"])
    assert (table.names, table.samples_left_out) == (["rs3", "rs20"], N_SAMPLES - 3)
    np.testing.assert_array_equal(table.block(0, 2), STUDY.values[[3, 20]][:, rows])
    in_order = read(path, samples=np.arange(N_SAMPLES) % 2 == 0)
    np.testing.assert_array_equal(in_order.block(2, 9), STUDY.values[2:9, ::2])


@pytest.mark.parametrize(
    ("region", "kept"),
    [("2", range(16, 24)), ("chr1:3000-5,000", range(2, 5)), (["1:1000", "2:24000-99999999"], [0, 23])],
)
def test_a_region(path, region, kept):
    assert read(path, region=region).names == [NAMES[v] for v in kept]


def test_limits_of_frequency_and_missing_genotypes(path):
    rows = np.arange(0, N_SAMPLES, 3)
    values = STUDY.values[:, rows]
    frequency = np.nanmean(values, axis=1) / 2
    frequency = np.minimum(frequency, 1 - frequency)
    limit = float(np.median(frequency))
    missing = np.isnan(values).mean(axis=1)
    found = read(path, samples=rows, min_maf=limit)
    assert found.names == [NAMES[v] for v in np.flatnonzero(frequency >= limit)]
    found = read(path, samples=rows, max_missing=0.02)
    assert found.names == [NAMES[v] for v in np.flatnonzero(missing <= 0.02)]
    with pytest.raises(ValueError, match=r"has no variant within min_maf=0.5, max_missing=0: 24 were looked at"):
        read(path, min_maf=0.5, max_missing=0)


def test_one_result_from_all_on_the_command_line(path, tmp_path, command):
    if path.suffix in (".vcf", ".gz", ".bcf"):
        STUDY.write_psam(tmp_path / "people.psam")
        how = ["--sample-file", tmp_path / "people.psam"]
    else:
        how = []
    out = tmp_path / "pairs.csv"
    done = command(
        "interactions", path, *how, "--missing", "omit", "--min-distance", 5000, "--out", out, "-q", "--seed", 0
    )
    assert done.code == 0, done.err
    expected = interplay.interactions(
        STUDY.values.T, STUDY.is_ill, missing="omit", min_distance=5000, random_state=0,
        positions=list(zip(STUDY.chromosomes, STUDY.positions, strict=True)),
    )  # fmt: skip
    found = pd.read_csv(out)
    assert found["chi2"].to_numpy() == pytest.approx(expected.table["chi2"].to_numpy(), rel=1e-9)
    assert found.iloc[0].astype(str).str.contains("rs13").any()


def test_options_of_the_command_line(tmp_path, command):
    vcf_file = STUDY.write(tmp_path, ".vcf.gz")
    STUDY.write_psam(tmp_path / "people.psam")
    assert "or --sample-file" in command("run", vcf_file).error_line
    how = ["--sample-file", tmp_path / "people.psam", "--missing", "impute", "-k", 2, "--seed", 0, "--format", "csv"]
    done = command("run", vcf_file, *how, "--region", "1:1000-8000", "--region", "1:14000", "--max-missing", 0.5)
    assert done.code == 0, done.err
    rows = pd.read_csv(io.StringIO(done.out))
    assert rows["variable"].tolist() == [*NAMES[:8], "rs13"]
    assert set(rows["variable"][rows["relevant"]]) == {"rs5", "rs13"}
    assert "no variant within --min-maf 0.5" in command("run", vcf_file, *how, "--min-maf", 0.5).error_line


def test_outcomes_of_another_file_are_matched_by_id(path, tmp_path):
    STUDY.write_psam(tmp_path / "people.psam")
    lines = (tmp_path / "people.psam").read_text().splitlines()
    (tmp_path / "people.psam").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    X, y = read_data(path, target_file=tmp_path / "people.psam", target="PHENO1")
    assert list(y) == ["case" if ill else "control" for ill in STUDY.is_ill]
    assert list(X.sample_columns["age"])[:3] == [20, 21, 22]
    np.testing.assert_array_equal(X.block(0, N_VARIANTS), STUDY.values)


def test_threads_read_at_once(path):
    table = read(path)
    found: dict[int, np.ndarray] = {}
    threads = [
        threading.Thread(target=lambda v=v: found.update({v: table.block(v, v + 2)})) for v in range(N_VARIANTS - 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for v, values in found.items():
        np.testing.assert_array_equal(values, STUDY.values[v : v + 2])


@pytest.mark.parametrize("ending", [".bed", ".pgen", ".8.bgen", ".vcf", ".bcf"])
def test_sex_chromosomes_are_named(ending, tmp_path):
    study = Study()
    study.chromosomes = ["1"] * 20 + ["X"] * 4
    path = study.write(tmp_path, ending)
    with pytest.raises(ValueError, match=r"has 4 variants on chromosomes that not everyone has twice \(X: 4\), "):
        read(path)
    with pytest.warns(UserWarning, match="the first 'rs20'; they are left out, and 20 variants are kept"):
        assert read(path, sex_chromosomes="drop").names == NAMES[:20]
    assert read(path, sex_chromosomes="keep").n_vars == N_VARIANTS
    assert read(path, region="1").n_vars == 20
    with pytest.raises(ValueError, match="and no others: nothing is left"):
        read(path, region="X", sex_chromosomes="drop")


@pytest.mark.parametrize("ending", [".pgen", ".vcf", ".bcf"])
def test_variants_with_three_alleles_are_named(ending, tmp_path):
    study = Study()
    study.others = ["G", "G,T", *["G"] * (N_VARIANTS - 2)]
    path = study.write(tmp_path, ending)
    with pytest.raises(ValueError, match="has 1 variant with more than two alleles, the first 'rs1': use multiallelic"):
        read(path)
    with pytest.warns(UserWarning, match="it is left out, and 23 variants are kept"):
        found = read(path, multiallelic="drop")
    assert found.names == ["rs0", *NAMES[2:]]
    np.testing.assert_array_equal(found.block(0, 23), np.delete(study.values, 1, axis=0))


def test_a_bgen_file_with_three_alleles(tmp_path):
    import bgen

    with bgen.BgenWriter(str(tmp_path / "s.bgen"), 2, samples=["a", "b"]) as writer:
        writer.add_variant("v1", "v1", "1", 10, ["A", "C", "G"], np.eye(6)[:2])
        writer.add_variant("v2", "v2", "1", 20, ["A", "C"], np.eye(3)[:2])
    with pytest.raises(ValueError, match="1 variant with more than two alleles, the first 'v1'"):
        read_bgen(tmp_path / "s.bgen")
    with pytest.warns(UserWarning, match="it is left out"):
        found = read_bgen(tmp_path / "s.bgen", multiallelic="drop")
    assert found.block(0, 1).tolist() == [[0, 1]]


def test_names_of_variants_without_ids(tmp_path):
    text = "\n".join(STUDY.vcf_lines()).replace("\trs3\t", "\t.\t").replace("\trs4\t", "\trs5\t")
    (tmp_path / "s.vcf").write_text(text + "\n")
    assert read_vcf(tmp_path / "s.vcf").names[3:6] == ["1:4000:A:G", "1:5000:A:G", "1:6000:A:G"]
    (tmp_path / "s.vcf").write_text(text.replace("\t5000\t", "\t6000\t") + "\n")
    with pytest.raises(ValueError, match="more than one variant '1:6000:A:G'"):
        read_vcf(tmp_path / "s.vcf")


# --- BGEN


@pytest.mark.parametrize("bits", [1, 3, 8, 12, 16, 25, 32])
@pytest.mark.parametrize("compression", [None, "zlib", "zstd"])
def test_any_number_of_bits(tmp_path, bits, compression):
    STUDY.write_bgen(tmp_path / "s.bgen", bits, compression=compression)
    np.testing.assert_array_equal(read_bgen(tmp_path / "s.bgen").block(0, N_VARIANTS), STUDY.values)


@pytest.mark.parametrize("layout", [1, 2])
@pytest.mark.parametrize("bits", [8, 16])
def test_dosages_as_the_package_bgen_gives_them(tmp_path, layout, bits):
    import bgen

    rng = np.random.default_rng(3)
    certain = np.linspace(0.3, 0.9, 5)[:, None, None]
    probabilities = certain * rng.dirichlet([0.1, 0.1, 0.1], size=(5, 400)) + (1 - certain) * [0.25, 0.5, 0.25]
    probabilities[:, :50] = [0, 0.98, 0.02]
    path = tmp_path / "s.bgen"
    with bgen.BgenWriter(str(path), 400, layout=layout, compression="zlib") as writer:
        for v, entry in enumerate(probabilities):
            writer.add_variant(f"v{v}", f"v{v}", "1", v + 1, ["A", "C"], entry, bit_depth=bits)
    found = read_bgen(path, hard_call_threshold=0.2)
    theirs = np.array([variant.alt_dosage for variant in bgen.BgenReader(str(path))])
    distance = np.abs(theirs - np.rint(theirs))
    is_clear = np.abs(distance - 0.2) > 1e-4
    expected = np.where(distance <= 0.2, np.rint(theirs), np.nan)
    np.testing.assert_array_equal(found.block(0, 5)[is_clear], expected[is_clear])
    r2 = theirs.var(axis=1) / (theirs.mean(axis=1) * (1 - theirs.mean(axis=1) / 2))
    limit = float(np.sort(r2)[2])
    assert read_bgen(path, min_info=limit - 1e-4).names == [f"v{v}" for v in np.flatnonzero(r2 >= limit)]


def test_phased_and_single_copies(tmp_path):
    import bgen

    with bgen.BgenWriter(str(tmp_path / "s.bgen"), 3) as writer:
        phased = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0]], dtype=float)
        writer.add_variant("v", "v", "1", 1, ["A", "C"], phased, phased=True)
        single = np.array([[1, 0, 0], [0, 1, np.nan], [0, 1, np.nan]], dtype=float)
        writer.add_variant("w", "w", "X", 2, ["A", "C"], single, ploidy=np.array([2, 1, 1], dtype=np.uint8))
    found = read_bgen(tmp_path / "s.bgen", sex_chromosomes="keep")
    assert found.sample_names is None
    assert found.block(0, 2).tolist() == [[1, 2, 0], [0, 2, 2]]


def test_ids_in_the_file_and_in_the_sample_file(tmp_path):
    path = tmp_path / "s.bgen"
    STUDY.write_bgen(path, 8)
    lines = path.with_suffix(".sample").read_text().splitlines()
    people = tmp_path / "other.sample"
    people.write_text("\n".join([*lines[:2], *lines[:101:-1]]) + "\n")
    with pytest.warns(UserWarning, match="100 of 240 people of .* are not in .* .'p0'.: nothing is known of them"):
        found = read_bgen(path, sample_file=people, samples="phenotyped")
    assert found.n_samples == 140
    assert (found.phenotype == np.where(STUDY.is_ill[100:], "case", "control")).all()
    STUDY.write_bgen(path, 8, samples=[])
    assert read_bgen(path).sample_names[3] == "p3"
    with pytest.raises(ValueError, match=r"has 240 samples without IDs, and .* has 140"):
        read_bgen(path, sample_file=people)


# --- VCF


def vcf(tmp_path, *records, end="\n", header="a\tb\tc"):
    lines = [
        "##fileformat=VCFv4.2",
        "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", header]),
    ]
    path = tmp_path / "s.vcf"
    path.write_text("\n".join([*lines, *(record.replace(" ", "\t") for record in records)]) + end)
    return path


def test_genotypes_in_all_their_forms(tmp_path):
    path = vcf(
        tmp_path,
        "1 1 a A C . . . GT 0/0 0|1 1/1",
        "1 2 b A C . . . GT:DP 0/1:7 .:. 1|1:20",
        "1 3 c A C . . . GT ./1 . ./.",
        "1 4 d A C . . . DP 1 2 3",
        "1 5 e A C . . . GT:DS 0/0:0.05 0/1:0.8 ./.:1.95",
        "1 6 f A . . . . GT 0/0 0/0 0/0",
    )
    nan = np.nan
    expected = [[0, 1, 2], [1, nan, 2], [nan, nan, nan], [nan, nan, nan], [0, 1, nan], [0, 0, 0]]
    np.testing.assert_array_equal(read_vcf(path).block(0, 6), expected)
    path = vcf(tmp_path, "1 5 e A C . . R2=0.9 GT:DS 0/0:0.05 0/1:0.8 ./.:1.95", "1 6 f A C . . DR2=.2 DS 2 . 1")
    np.testing.assert_array_equal(read_vcf(path, hard_call_threshold=0.1).block(0, 2), [[0, nan, 2], [2, nan, 1]])
    assert read_vcf(path, min_info=0.5).names == ["e"]
    path = vcf(tmp_path, "X 1 a A C . . . GT 0 1 0/1")
    assert read_vcf(path, sex_chromosomes="keep").block(0, 1).tolist() == [[0, 2, 1]]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (["1 1 a A C . . . GT 0/0 0/1"], "line 3 has 2 samples, and the header has 3"),
        (["1 1 a A C . . . GT 0/0 0/1 0/0 0/0"], "line 3 has 4 samples, and the header has 3"),
        (["1 1 a A C . . ."], "line 3 has 8 fields, fewer than the header"),
        (["1 x a A C . . . GT 0/0 0/1 0/0"], "line 3: the position 'x' is not a number"),
        (["1 1 a A C . . . GT 0/0 0/1 0/2"], "line 3: sample 3 has an allele that the record does not have"),
        (["1 1 a A C . . . GT 0/0 0/1 0/0/1"], r"line 3: '0/0/1' \(sample 3\) is not a genotype of one or two"),
        (["1 1 a A C . . . GT 0/0 0/1 zzz"], r"line 3: 'zzz' \(sample 3\) is not a genotype"),
        (["1 1 a A C . . . DS 0 1 much"], r"line 3: the dosage 'much' \(sample 3\) is not a number"),
        ([], "has no variants"),
    ],
)
def test_damaged_lines_are_named(tmp_path, records, message):
    with pytest.raises(ValueError, match=message):
        read_vcf(vcf(tmp_path, *records))


def test_a_vcf_file_that_is_cut_short(tmp_path):
    with pytest.raises(ValueError, match="line 3: the file ends within a line, so it was cut short"):
        read_vcf(vcf(tmp_path, "1 1 a A C . . . GT 0/0 0/1 0/0", end=""))
    for ending in (".vcf.gz", ".bcf"):
        path = STUDY.write(tmp_path, ending)
        whole = path.read_bytes()
        path.write_bytes(whole[:-28])
        with pytest.raises(ValueError, match="its end is missing, so it was cut short"):
            read_vcf(path)
        path.write_bytes(gzip.compress(gzip.decompress(whole))[:-100])
        with pytest.raises(ValueError, match="is damaged"):
            read_vcf(path)


# --- PLINK 2


def test_psam_columns_are_known_of_the_people(tmp_path):
    study = read_pgen(STUDY.write(tmp_path, ".pgen"))
    assert list(study.sample_columns) == ["phenotype", "family", "sex", "PHENO1", "age"]
    assert study.sample_columns["age"][:2].tolist() == [20, 21]
    assert study.sample_columns["sex"][:2].tolist() == ["male", "female"]
    found = interplay.select(study, "phenotype", dimensions=2, missing="impute", strata="sex", random_state=0)
    assert set(found.relevant) == {"rs5", "rs13"}


def test_files_beside_a_pgen_file(tmp_path):
    import zstandard

    path = STUDY.write(tmp_path, ".pgen")
    packed = zstandard.ZstdCompressor().compress(path.with_suffix(".pvar").read_bytes())
    (tmp_path / "study.pvar.zst").write_bytes(packed)
    path.with_suffix(".pvar").unlink()
    assert read_pgen(path).positions[1] == ("1", 2000.0)
    (tmp_path / "study.pvar.zst").write_bytes(packed[:60])
    with pytest.raises(ValueError, match=r"study.pvar.zst' is not a .pvar file"):
        read_pgen(path)
    (tmp_path / "study.pvar.zst").unlink()
    with pytest.raises(FileNotFoundError, match=r"study.pvar"):
        read_pgen(path)
    bed = STUDY.write(tmp_path, ".bed")  # with .bim and .fam
    path.with_suffix(".psam").unlink()
    found = read_pgen(path)
    np.testing.assert_array_equal(found.block(0, N_VARIANTS), STUDY.values)
    assert found.phenotype.tolist() == read_bed(bed).phenotype.tolist()
    fam = path.with_suffix(".fam")
    fam.write_text("\n".join(fam.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(ValueError, match=r"has 240 people, and 'study.fam' has 239: the files do not belong together"):
        read_pgen(path)


def test_a_pgen_file_with_dosages(tmp_path):
    import pgenlib

    dosages = np.random.default_rng(0).choice([0, 0.05, 0.3, 1, 1.08, 1.3, 1.4, 1.6], size=(N_VARIANTS, N_SAMPLES))
    path = tmp_path / "s.pgen"
    writer = pgenlib.PgenWriter(
        str(path).encode(), N_SAMPLES, variant_ct=N_VARIANTS, nonref_flags=False, dosage_present=True
    )
    with writer:
        for entry in dosages.astype(np.float32):
            writer.append_dosages(entry)
    STUDY.write_pvar(path.with_suffix(".pvar"))
    STUDY.write_psam(path.with_suffix(".psam"))
    for threshold in (0.06, 0.1, 0.45):
        expected = np.where(np.abs(dosages - np.rint(dosages)) <= threshold, np.rint(dosages), np.nan)
        found = read_pgen(path, hard_call_threshold=threshold)
        np.testing.assert_array_equal(found.block(0, N_VARIANTS), expected)
    r2 = dosages.var(axis=1) / (dosages.mean(axis=1) * (1 - dosages.mean(axis=1) / 2))
    limit = float(np.median(r2))
    assert read_pgen(path, min_info=limit).names == [NAMES[v] for v in np.flatnonzero(r2 >= limit)]


def test_a_bed_file_that_is_called_pgen(tmp_path):
    STUDY.write(tmp_path, ".pgen")
    (tmp_path / "study.pgen").write_bytes(STUDY.write(tmp_path, ".bed").read_bytes())
    with pytest.raises(ValueError, match=r"is a .bed file: name it so"):
        read_pgen(tmp_path / "study.pgen")


# --- BCF, written here: numbers of more than one byte, and single copies


def bcf_record(*, values, dtype, code):
    shared = struct.pack("<iiifII", 0, 9, 1, 0.0, 2 << 16, 1 << 24 | len(values))
    shared += b"\x27v1" + b"\x17A" + b"\x17C" + b"\x00"
    indiv = b"\x11\x01" + bytes([len(values[0]) << 4 | code]) + np.array(values, dtype=dtype).tobytes()
    return struct.pack("<II", len(shared), len(indiv)) + shared + indiv


@pytest.mark.parametrize(("dtype", "code", "end"), [("<i1", 1, -127), ("<i2", 2, -32767), ("<i4", 3, -2147483647)])
def test_numbers_of_bcf_files(tmp_path, dtype, code, end):
    columns = "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", "a", "b", "c", "d"])
    header = f"##contig=<ID=7>\n##FORMAT=<ID=GT,Number=1>\n{columns}\n\0".encode()
    values = [[2, 4], [4, 5], [0, 4], [4, end]]
    begin = b"BCF\x02\x02" + struct.pack("<I", len(header)) + header
    content = begin + bcf_record(values=values, dtype=dtype, code=code)
    path = tmp_path / "s.bcf"
    path.write_bytes(content)  # as bcftools view -Ou writes it
    found = read_vcf(path)
    assert (found.names, found.positions) == (["v1"], [("7", 10.0)])
    np.testing.assert_array_equal(found.block(0, 1), [[1, 2, np.nan, 2]])
    path.write_bytes(content[:-1])
    with pytest.raises(ValueError, match="record 1: the file is damaged or cut short"):
        read_vcf(path)
    bad = bcf_record(values=[[2, 4], [4, 8], [0, 4], [4, end]], dtype=dtype, code=code)
    path.write_bytes(begin + bad)
    with pytest.raises(ValueError, match="record 1: a genotype has an allele that the record does not have"):
        read_vcf(path)


def test_directions_name_the_counted_allele(path, tmp_path):
    """A trait that rises with G, the allele that all these files count, and that .bim calls A1."""
    trait = np.nan_to_num(STUDY.values[3]) + np.random.default_rng(1).normal(0, 0.5, N_SAMPLES)
    found = interplay.select(read(path), trait, dimensions=1, missing="impute", random_state=0)
    row = found.table.set_index("variable").loc["rs3"]
    assert row["direction"] == "the outcome rises with each A1 = G"
    found = interplay.select(read(path), trait < 0.8, dimensions=1, missing="impute", random_state=0)
    assert found.table.set_index("variable").loc["rs3", "direction"] == "y = True less likely with each A1 = G"


def test_equilibrium_by_enumeration():
    """Against all ways to pair the alleles, counted by factorials."""
    from fractions import Fraction
    from math import factorial

    from interplay.readers.genotypes.filters import equilibrium_p

    counts = [(8, 2, 3), (0, 7, 6), (5, 5, 0), (1, 11, 1), (13, 0, 0)]
    for none, one, two in counts:
        n, copies = none + one + two, 2 * two + one

        def ways(het, n=n, copies=copies):
            two = (copies - het) // 2
            return Fraction(2**het * factorial(n), factorial(het) * factorial(two) * factorial(n - het - two))

        all_ways = [ways(het) for het in range(copies % 2, min(copies, 2 * n - copies) + 1, 2)]
        expected = sum(way for way in all_ways if way <= ways(one)) / sum(all_ways)
        assert equilibrium_p(np.array([[none, one, two]]))[0] == pytest.approx(float(expected), rel=1e-9)


def test_lists_of_people_and_variants(path, tmp_path):
    (tmp_path / "people.txt").write_text("#IID\n" + "".join(f"{name}\n" for name in PEOPLE[:50]))
    table = read(path, keep=tmp_path / "people.txt", remove=PEOPLE[:10], extract=NAMES[:12], exclude=["rs3"])
    assert table.sample_names.tolist() == PEOPLE[10:50]
    assert table.names == [name for name in NAMES[:12] if name != "rs3"]
    assert dict(table.filters) == {
        "people by keep": N_SAMPLES - 50, "people by remove": 10, "variants by extract": 12, "variants by exclude": 1,
    }  # fmt: skip
    with pytest.raises(ValueError, match="keep leaves nothing of"):
        read(path, keep=["nobody"])
    with pytest.raises(TypeError, match="has no argument 'keeps'"):
        read(path, keeps=["nobody"])
