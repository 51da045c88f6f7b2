"""Files of other programs → tables, read by blocks of columns where the format allows.

::

    data_file.py      any file, by its ending   → table and outcome
    file_formats.py   the formats there are, in FORMATS
    target_column.py  names of columns, the outcome among them, columns to drop, samples without an outcome
    sample_names.py   names of samples          → their places in another file; FID_IID of PLINK
    csv_table.py      text, also gzipped        → lines; csv, tsv, txt → pandas DataFrame
    geo.py            series matrices of GEO  → Table of samples × probes; files with labels of columns
    rqtl.py           csv of R/qtl              → Table of a cross, with positions and phenotypes
    transposed.py     text files with a variable in each row, GCT files → samples by variables
    spreadsheet.py    xlsx, xls, ods            → pandas DataFrame
    statistical.py    sav, dta, sas7bdat        → pandas DataFrame
    written_numbers.py  text columns of a file  → numbers, dates or labels, with warnings; the argument `na_values`
    text_column.py    texts of one column       → numbers, dates or labels, by a format that fits all values
    parquet.py        parquet                   → Table        (public as `interplay.parquet`); feather → pyarrow table
    genotypes/        PLINK bed and pgen        → Table        (public as `interplay.genetics`)
    single_cell.py    AnnData, MuData and 10x Genomics → tables of cells by genes
"""
