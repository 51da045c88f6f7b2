"""Files of genotypes → `GenotypeTable`, read a block of variants at a time (public as `interplay.genetics`).

::

    genotype_file.py   a file of genotypes as every format gives it: variants, people, codes, hard calls, two bits a
                       genotype
    genotype_table.py  GenotypeFile → GenotypeTable: chosen people and variants
    filters.py         lists, places, IDs, missing genotypes, equilibrium, frequency → people and variants that are kept
    people.py          .psam, .fam and .sample: text tables of the people of a file
    bed.py             PLINK bed, bim, fam          → GenotypeFile; positions of a .bim file
    pgen.py            PLINK 2 pgen, pvar, psam     → GenotypeFile
    vcf.py             VCF, BCF                     → GenotypeFile, kept as two bits each
    vcf_text.py        lines of a VCF file          → VcfRecord
    bcf.py             records of a BCF file        → VcfRecord
    bgen.py            BGEN, sample                 → GenotypeFile
    loco.py            REGENIE's .loco              → predictions without each chromosome, for `offset`
"""
