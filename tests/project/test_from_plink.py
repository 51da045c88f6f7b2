"""The page From PLINK: each command on it runs, on files that PLINK 2 writes; filters leave out what PLINK does."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from bed_reader import to_bed

PAGE = Path(__file__).parents[2] / "docs" / "from_plink.md"
PROGRAM = shutil.which("plink2")
N_PEOPLE, N_VARIANTS = 240, 30
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PLINK 2 is not installed")

COMMANDS = re.findall(r"^```\n(plink.*)\n(interplay .*)\n```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def plink2(*arguments):
    done = subprocess.run([str(PROGRAM), *map(str, arguments), "--threads", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study in families, with a trait that falls with rs4 and cases that are more common with rs9."""
    made = tmp_path_factory.mktemp("lab")
    rng = np.random.default_rng(1)
    frequency = rng.uniform(0.03, 0.5, N_VARIANTS)
    frequency[[4, 9]] = 0.4
    genotypes = rng.binomial(2, frequency, (N_PEOPLE, N_VARIANTS)).astype(np.int8)
    trait = rng.normal(size=N_PEOPLE) - 0.8 * genotypes[:, 4]
    is_ill = rng.random(N_PEOPLE) < 1 / (1 + np.exp(2.5 - 2.5 * genotypes[:, 9]))
    genotypes[rng.random(genotypes.shape) < rng.uniform(0, 0.15, N_VARIANTS)] = -127
    names = [(f"F{i // 3}", f"P{i}") for i in range(N_PEOPLE)]
    properties = {
        "fid": [family for family, _ in names], "iid": [person for _, person in names],
        "pheno": np.where(is_ill, "2", "1"), "sex": np.arange(N_PEOPLE) % 2 + 1,
        "sid": [f"rs{v}" for v in range(N_VARIANTS)], "chromosome": [1 + v // 10 for v in range(N_VARIANTS)],
        "bp_position": np.arange(1, N_VARIANTS + 1) * 1000, "allele_1": ["T"] * N_VARIANTS,
        "allele_2": ["C"] * N_VARIANTS,
    }  # fmt: skip
    to_bed(made / "study.bed", genotypes, properties=properties)
    for how in (["--make-pgen"], ["--export", "bgen-1.2"], ["--export", "vcf", "bgz"]):
        plink2("--bfile", made / "study", *how, "--out", made / "study")

    def write(name, header, rows):
        (made / name).write_text("\n".join([header, *rows]) + "\n")

    heights = [f"{height:.3f}" if i % 9 else "NA" for i, height in enumerate(rng.normal(size=N_PEOPLE))]
    of_people = zip(names, trait, heights, strict=True)
    write("traits.txt", "FID IID bmi height", [f"{f} {p} {y:.4f} {height}" for (f, p), y, height in of_people])
    write(
        "covariates.txt",
        "#FID\tIID\tage\tPC1",
        [f"{f}\t{p}\t{30 + i % 40}\t{rng.normal():.3f}" for i, (f, p) in enumerate(names)],
    )
    write("people.txt", "#FID IID", [f"{f} {p}" for f, p in names[:180]])
    (made / "variants.txt").write_text("".join(f"rs{v}\n" for v in range(4, 14)))
    return made


def test_there_are_twelve():
    assert len(COMMANDS) == 12


@pytest.mark.parametrize("ours", [ours for _, ours in COMMANDS])
def test_the_counterpart_runs(folder, ours, command, monkeypatch):
    monkeypatch.chdir(folder)
    done = command(*shlex.split(ours)[1:], "--seed", 0)
    assert done.code == 0, done.err
    if "bmi,height" in ours:
        assert "2 traits: " in done.out
    elif "bmi" in ours and " run " in ours:
        assert "falls with each A1 = T" in done.out
    if "extract" in ours:
        assert re.search(r"rs9 .* case more likely with each A1 = T", done.out)
    if ".bgen" in ours:  # PLINK 2 writes the other allele as the second one
        assert re.search(r"rs9 .* case less likely with each A1 = C", done.out)


def test_filters_leave_out_what_plink_leaves_out(folder, command, monkeypatch):
    monkeypatch.chdir(folder)
    filters = ["--keep", "people.txt", "--mind", "0.15", "--geno", "0.1", "--hwe", "0.2", "--maf", "0.15"]
    said = plink2("--bfile", "study", *filters, "--make-just-bim", "--out", "kept")
    done = command("run", "--bfile", "study", *filters, "-k", 1, "--seed", 0, "--format", "csv")
    assert done.code == 0, done.err
    kept = [line.split()[1] for line in Path("kept.bim").read_text().splitlines()]
    assert [line.split(",")[0] for line in done.out.splitlines()[1:]] == kept
    counted = [
        int(number) for number in re.findall(r"^(?:--geno: |--hwe: )?(\d+) (?:samples|variants) removed", said, re.M)
    ]
    summary = command("run", "--bfile", "study", *filters, "-k", 1, "--seed", 0).out
    line = next(line for line in summary.splitlines() if line.startswith("Filters left out"))
    assert [int(number) for number in re.findall(r"(\d+) (?:people|variants) by", line)] == [N_PEOPLE - 180, *counted]
    assert "variants by --min-hwe 0.2" in line


def test_what_plink_has_and_we_name_otherwise(command):
    assert "`interplay interactions` is the command" in command("run", "--bfile", "s", "--epistasis").error_line
    assert "`--max-p 1e-4` lists all pairs" in command("interactions", "s.bed", "--epi1", "1e-4").error_line
    assert "leave it out" in command("run", "s.bed", "--allow-no-sex").error_line
    assert "--pheno needs a value" in command("run", "--bfile", "s", "--pheno").error_line


def test_a_prefix_alone(folder, command, monkeypatch):
    monkeypatch.chdir(folder)
    assert "did you mean 'study.bed'?" in command("run", "study", "-k", 1).error_line
