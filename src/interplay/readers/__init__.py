"""Files of other programs → tables, read by blocks of columns where the format allows.

::

    data_file.py      any file, by its ending   → table and outcome
    file_formats.py   the formats there are, in FORMATS
    target_column.py  table                     → variables and outcome
    missing_target.py table and outcome         → samples whose outcome is known, of classes that are not rare
    joined.py         table + file of outcomes  → table with outcomes, joined by the names of the samples
    sample_names.py   names of samples          → their places in another file; FID_IID of PLINK
    array_files.py    npy, npz                  → table and outcome
    text_file.py      text, also gzipped        → lines
    header.py         first line                → names of columns
    csv_table.py      csv, tsv, txt             → pandas DataFrame
    rqtl.py           csv of R/qtl              → Table of a cross, with positions and phenotypes
    transposed.py     the same, samples in columns → pandas DataFrame
    spreadsheet.py    xlsx, xls, ods            → pandas DataFrame
    statistical.py    sav, dta, sas7bdat        → pandas DataFrame
    written_numbers.py  text columns of a file  → numbers, dates or labels, with warnings
    text_column.py    texts of one column       → numbers, dates or labels, by a format that fits all values
    written_dates.py  texts                     → days
    na_values.py      texts and numbers that stand for missing values, as the user says
    parquet.py        parquet                   → Table        (public as `interplay.parquet`); feather → pyarrow table
    genotypes/        PLINK bed and pgen        → Table        (public as `interplay.genetics`)
    h5ad.py           AnnData                   → Table        (public as `interplay.singlecell`)
    h5mu.py           MuData                    → Table        (the same)
    tenx_h5.py        h5 of 10x Genomics        → Table        (the same)
    gct.py            GCT                       → Table
"""
