"""Genotypes: files of PLINK, Oxford and sequencing (`interplay.readers.genotypes`), relatives, populations, and a
polygenic background (`interplay.populations`).
"""

from interplay.populations.components import principal_components
from interplay.populations.kinship import Relatives, relatives
from interplay.populations.polygenic import polygenic_offsets
from interplay.readers.genotypes.bed import read_bed
from interplay.readers.genotypes.bgen import read_bgen
from interplay.readers.genotypes.genotype_table import GenotypeTable
from interplay.readers.genotypes.loco import read_loco
from interplay.readers.genotypes.pgen import read_pgen
from interplay.readers.genotypes.vcf import read_vcf

#: The name of `GenotypeTable` up to version 0.2.
BedTable = GenotypeTable

__all__ = [
    "BedTable",
    "GenotypeTable",
    "Relatives",
    "polygenic_offsets",
    "principal_components",
    "read_bed",
    "read_bgen",
    "read_loco",
    "read_pgen",
    "read_vcf",
    "relatives",
]
