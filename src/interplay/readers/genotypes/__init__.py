"""Files of genotypes → `GenotypeTable`, read a block of variants at a time (public as `interplay.genetics`).

::

    genotype_file.py   what every format gives: variants, people, codes of some variants
    genotype_table.py  GenotypeFile → GenotypeTable: chosen people and variants
    variants.py        chromosome, position, ID and alleles of each variant; names
    choice.py          region, sex chromosomes, multi-allelic sites, IDs    → the variants that are kept
    chromosomes.py     names of chromosomes; regions
    people.py          psam, fam, sample            → IDs, phenotypes, sex, families
    hard_calls.py      dosages                      → 0, 1, 2 or missing
    packed.py          codes as two bits in a temporary file
    bed.py             PLINK bed, bim, fam          → GenotypeFile; positions of a .bim file
    pgen.py            PLINK 2 pgen, pvar, psam     → GenotypeFile
    words.py           text tables of words         → pandas DataFrame
    vcf.py             VCF, BCF                     → GenotypeFile, decoded into packed.py
    vcf_text.py        lines of a VCF file          → VcfRecord
    bcf.py             records of a BCF file        → VcfRecord
    vcf_record.py      VcfRecord: a variant whose genotypes are read when asked for
    bgen.py            BGEN, sample                 → GenotypeFile
    loco.py            REGENIE's .loco              → predictions without each chromosome, for `offset`
"""
