"""Files of genotypes beside .bed: damaged files, files that do not belong together, and arguments of their readers."""

from pathlib import Path

import interplay
from genotype_study import Study
from hostile.case import Area, refused, same
from hostile.data import gains
from interplay.genetics import read_bed, read_bgen, read_pgen, read_vcf
from interplay.io import read_data

STUDY = Study()
READERS = {".bed": read_bed, ".pgen": read_pgen, ".bgen": read_bgen}


def written(ending):
    """Write the files of a format into the folder, with a file of people."""
    STUDY.write_psam(Path("people.psam"))
    path = STUDY.write(Path(), ending, "s")
    return path


def read(ending, **options):
    path = written(ending)
    return READERS.get(path.suffix, read_vcf)(path, **options)


def cut(ending, length, beside=None):
    """Cut a file, or the one beside it, read it and search it."""
    path = written(ending)
    file = path if beside is None else path.with_suffix(beside)
    file.write_bytes(file.read_bytes()[:length])
    return searched(path)


def replaced(ending, old, new):
    path = written(ending)
    path.write_bytes(path.read_bytes().replace(old, new))
    return searched(path)


def text(ending):
    path = written(ending)
    path.write_text("a,b\n1,2\n")
    return searched(path)


def searched(path):
    more = {} if path.suffix in READERS else {"sample_file": "people.psam"}
    return gains(*read_data(path, **more), missing="level")


def other_ids():
    path = written(".8.bgen")
    people = path.with_suffix(".sample")
    people.write_text(people.read_text().replace(" p", " q").replace("f q", "g q"))
    return searched(path)


def bed():
    return searched(written(".bed"))


AREA = Area(
    "Files of genotypes",
    [
        # --- Damaged files
        refused("a .pgen that is text", lambda: text(".pgen"), "^'s.pgen' is not a .pgen file"),
        refused(
            "a .pgen cut short", lambda: cut(".pgen", 200), "^'s.pgen' is not a .pgen file that", theirs="damaged: "
        ),
        refused("a .pgen whose .pvar is cut short", lambda: cut(".pgen", 300, ".pvar"), "variants, and 's.pvar' has"),
        refused("a .pgen whose .psam is empty", lambda: cut(".pgen", 0, ".psam"), "^'s.psam' is not a .psam file"),
        refused("a .bgen that is text", lambda: text(".8.bgen"), "^'s.8.bgen' is not a BGEN file"),
        refused("a .bgen cut short", lambda: cut(".8.bgen", 4000), "^'s.8.bgen' is not a BGEN file, or is damaged"),
        refused(
            "a .bgen with other IDs than its .sample",
            other_ids,
            "have no ID in common",
        ),
        refused("a .sample cut short", lambda: cut(".8.bgen", 45, ".sample"), "^'s.8.sample' is not a .sample file"),
        refused("a .vcf that is text", lambda: text(".vcf"), "^'s.vcf' is not a VCF or BCF file"),
        refused("a .vcf cut short", lambda: cut(".vcf", 5000), "the file ends within a line, so it was cut short"),
        refused(
            "a .vcf with an allele too many",
            lambda: replaced(".vcf", b"0/1", b"0/2"),
            "^'s.vcf', line 7: sample .* has an allele that the record does not have",
        ),
        refused("a .vcf.gz cut short", lambda: cut(".vcf.gz", 900), "^'s.vcf.gz' is damaged: its end is missing"),
        refused("a .bcf that is text", lambda: text(".bcf"), "^'s.bcf' is not a VCF or BCF file"),
        refused("a .bcf cut short", lambda: cut(".bcf", 900), "^'s.bcf' is damaged: its end is missing"),
        # --- Arguments
        refused("`read_pgen(7)`", lambda: read_pgen(7), "^path must be"),
        refused("`read_bgen(7)`", lambda: read_bgen(7), "^path must be"),
        refused("`read_vcf(7)`", lambda: read_vcf(7), "^path must be"),
        refused(
            "`read_vcf(samples='phenotyped')` without phenotypes", lambda: read(".vcf", samples="phenotyped"), "has no"
        ),
        refused("`region=7`", lambda: read(".pgen", region=7), "^region must be a chromosome"),
        refused("`region='1:a-b'`", lambda: read(".vcf", region="1:a-b"), "^region must be a chromosome"),
        refused("`region='1:9-3'`", lambda: read(".bed", region="1:9-3"), "^region '1:9-3' ends before it begins"),
        refused(
            "`region='7'` of a file without it", lambda: read(".8.bgen", region="7"), "^region names chromosome '7'"
        ),
        refused(
            "`region='7'` of a .vcf without it", lambda: read(".vcf", region="7"), "^'s.vcf' has no variants in the"
        ),
        refused("`min_maf=0.6`", lambda: read(".bed", min_maf=0.6), "^min_maf must be a number in .0, 0.5."),
        refused("`max_missing='few'`", lambda: read(".pgen", max_missing="few"), "^max_missing must be a number"),
        refused("`max_missing=-1`", lambda: read(".vcf", max_missing=-1), "^max_missing must be a number"),
        refused("`min_info=2`", lambda: read(".8.bgen", min_info=2), "^min_info must be a number"),
        refused(
            "`min_info` of a .vcf without dosages", lambda: read(".vcf", min_info=0.5), "^min_info cannot be used with"
        ),
        refused(
            "`hard_call_threshold=0.5`", lambda: read(".8.bgen", hard_call_threshold=0.5), "^hard_call_threshold must"
        ),
        refused(
            "`hard_call_threshold` of a .vcf without dosages",
            lambda: read(".vcf", hard_call_threshold=0.1),
            "^hard_call_threshold cannot be used with",
        ),
        refused("`multiallelic='split'`", lambda: read(".vcf", multiallelic="split"), "^multiallelic must be one of"),
        refused("`sex_chromosomes='x'`", lambda: read(".bed", sex_chromosomes="x"), "^sex_chromosomes must be one of"),
        refused("`sample_file='no.psam'`", lambda: read(".vcf", sample_file="no.psam"), "no such file"),
        refused(
            "`sample_file` of another kind", lambda: read(".vcf", sample_file="s.vcf"), "does not end in .psam, .fam"
        ),
        refused(
            "`min_maf` of a .csv",
            lambda: (Path("a.csv").write_text("a,y\n1,2\n"), read_data("a.csv", target="y", min_maf=0.1)),
            "^min_maf cannot be used with .csv files",
        ),
        refused(
            "`hard_call_threshold` of a .bed",
            lambda: read_data(written(".bed"), hard_call_threshold=0.1),
            "^hard_call_threshold cannot be used with .bed files",
        ),
        refused(
            "an argument that no reader has", lambda: read_data("a.csv", maf=1), "^read_data has no argument 'maf'"
        ),
        refused(
            "`principal_components` of no genotypes",
            lambda: interplay.genetics.principal_components([["a", "b"], ["b", "a"], ["a", "a"]], 1),
            "^X must have two or more columns of genotypes",
        ),
        refused(
            "more components than samples allow",
            lambda: interplay.genetics.principal_components(STUDY.values.T, 100),
            "^n must be",
        ),
        refused(
            "`relatives` by dosages",
            lambda: interplay.genetics.relatives(STUDY.values.T * 0.9),
            "^kinship is that of genotypes",
        ),
        refused(
            "`relatives(min_kinship=1)`",
            lambda: interplay.genetics.relatives(STUDY.values.T, min_kinship=1),
            "^min_kinship must be",
        ),
        refused(
            "`polygenic_offsets` without positions",
            lambda: interplay.genetics.polygenic_offsets(STUDY.values.T, STUDY.is_ill),
            "^positions of the variables are not known",
        ),
        refused(
            "`polygenic_offsets` of one chromosome",
            lambda: interplay.genetics.polygenic_offsets(
                STUDY.values.T, STUDY.is_ill, positions=[("1", at) for at in STUDY.positions]
            ),
            "^X has variants of fewer than two chromosomes",
        ),
        *(
            same(f"a {ending.replace('.8', '')}", lambda ending=ending: searched(written(ending)), "the .bed", bed)
            for ending in (".pgen", ".8.bgen", ".vcf.gz", ".bcf")
        ),
    ],
)
