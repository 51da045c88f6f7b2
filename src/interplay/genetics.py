"""Genotypes in files of PLINK, Oxford and sequencing; see `interplay.readers.genotypes`."""

from interplay.readers.genotypes.bed import read_bed
from interplay.readers.genotypes.bgen import read_bgen
from interplay.readers.genotypes.genotype_table import GenotypeTable
from interplay.readers.genotypes.loco import read_loco
from interplay.readers.genotypes.pgen import read_pgen
from interplay.readers.genotypes.vcf import read_vcf

#: The name of `GenotypeTable` up to version 0.2.
BedTable = GenotypeTable

__all__ = ["BedTable", "GenotypeTable", "read_bed", "read_bgen", "read_loco", "read_pgen", "read_vcf"]
