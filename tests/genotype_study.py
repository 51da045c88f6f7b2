"""One table of genotypes in every format, written by the packages of other people where there are any."""

import numpy as np
from bed_reader import to_bed

N_SAMPLES, N_VARIANTS = 240, 24
ENDINGS = (".bed", ".pgen", ".8.bgen", ".16.bgen", ".vcf", ".vcf.gz", ".bcf")

NAMES = [f"rs{v}" for v in range(N_VARIANTS)]
PEOPLE = [f"p{i}" for i in range(N_SAMPLES)]


class Study:
    """Genotypes (n_samples, n_variants), -1 where missing; variants 5 and 13 decide together who is ill."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.genotypes = rng.binomial(2, rng.uniform(0.3, 0.5, N_VARIANTS), (N_SAMPLES, N_VARIANTS)).astype(np.int8)
        self.is_ill = (self.genotypes[:, 5] == 1) ^ (self.genotypes[:, 13] == 1)
        self.genotypes[rng.random(self.genotypes.shape) < 0.02] = -1
        self.chromosomes = ["1" if v < 16 else "2" for v in range(N_VARIANTS)]
        self.positions = [1000 * (v + 1) for v in range(N_VARIANTS)]
        self.others = ["G"] * N_VARIANTS

    @property
    def values(self):
        """As tables show them, (n_variants, n_samples)."""
        values = self.genotypes.T.astype(np.float32)
        values[values < 0] = np.nan
        return values

    def write(self, folder, ending, name="study"):
        path = folder / f"{name}{ending}"
        if ending == ".bed":
            self._write_bed(path)
        elif ending == ".pgen":
            self._write_pgen(path)
        elif ending.endswith(".bgen"):
            self.write_bgen(path, int(ending.split(".")[1]))
        else:
            self._write_vcf(path)
        return path

    def _write_bed(self, path):
        properties = {
            "iid": PEOPLE, "fid": ["f"] * N_SAMPLES, "pheno": np.where(self.is_ill, "2", "1"),
            "sex": np.arange(N_SAMPLES) % 2 + 1, "sid": NAMES, "chromosome": self.chromosomes,
            "bp_position": self.positions, "allele_1": self.others, "allele_2": ["A"] * N_VARIANTS,
        }  # fmt: skip
        to_bed(path, np.where(self.genotypes < 0, -127, self.genotypes).astype(np.int8), properties=properties)

    def _write_pgen(self, path):
        import pgenlib

        codes = np.ascontiguousarray(np.where(self.genotypes < 0, -9, self.genotypes).T.astype(np.int8))
        with pgenlib.PgenWriter(str(path).encode(), N_SAMPLES, variant_ct=N_VARIANTS, nonref_flags=False) as writer:
            writer.append_biallelic_batch(codes)
        self.write_pvar(path.with_suffix(".pvar"))
        self.write_psam(path.with_suffix(".psam"))

    def write_pvar(self, path):
        rows = zip(self.chromosomes, self.positions, NAMES, ["A"] * N_VARIANTS, self.others, strict=True)
        lines = ["##source=test", "#CHROM\tPOS\tID\tREF\tALT", *("\t".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n")

    def write_psam(self, path):
        lines = ["#FID\tIID\tSEX\tPHENO1\tage"]
        lines += [f"f\t{p}\t{i % 2 + 1}\t{1 + self.is_ill[i]}\t{20 + i % 50}" for i, p in enumerate(PEOPLE)]
        path.write_text("\n".join(lines) + "\n")

    def write_sample(self, path):
        lines = ["ID_1 ID_2 missing sex PHENO1 age", "0 0 0 D B C"]
        lines += [f"f {p} 0 {i % 2 + 1} {int(self.is_ill[i])} {20 + i % 50}" for i, p in enumerate(PEOPLE)]
        path.write_text("\n".join(lines) + "\n")

    def write_bgen(self, path, bits, **options):
        import bgen

        options = {"compression": "zlib", "samples": PEOPLE} | options
        with bgen.BgenWriter(str(path), N_SAMPLES, **options) as writer:
            for v in range(N_VARIANTS):
                probabilities = np.stack([self.genotypes[:, v] == level for level in range(3)], axis=1).astype(float)
                probabilities[self.genotypes[:, v] < 0] = np.nan
                alleles = ["A", *self.others[v].split(",")]
                place = (NAMES[v], NAMES[v], self.chromosomes[v], self.positions[v])
                writer.add_variant(*place, alleles, probabilities, bit_depth=bits)
        self.write_sample(path.with_suffix(".sample"))

    def vcf_lines(self):
        columns = ["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
        lines = ["##fileformat=VCFv4.2", "##contig=<ID=1>", "##contig=<ID=2>", "##contig=<ID=X>"]
        lines += ['##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">', "\t".join([*columns, *PEOPLE])]
        written = np.array(["0/0", "0/1", "1|1", "./."])
        for v in range(N_VARIANTS):
            begin = [self.chromosomes[v], str(self.positions[v]), NAMES[v], "A", self.others[v], ".", ".", ".", "GT"]
            lines.append("\t".join([*begin, *written[self.genotypes[:, v]]]))
        return lines

    def _write_vcf(self, path):
        text = path.with_name(path.name.split(".")[0] + ".vcf")
        text.write_text("\n".join(self.vcf_lines()) + "\n")
        if path.suffix == ".vcf":
            return
        from cyvcf2 import VCF, Writer

        source = VCF(str(text))
        writer = Writer(str(path), source, mode="wb" if path.suffix == ".bcf" else "wz")
        for record in source:
            writer.write_record(record)
        writer.close()
        source.close()
        text.unlink()
