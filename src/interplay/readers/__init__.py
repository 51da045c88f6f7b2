"""Files of other programs → tables, read by blocks of columns where the format allows.

::

    data_file.py      any file, by its ending   → table and outcome; FORMATS lists the formats
    target_column.py  table                     → variables and outcome
    array_files.py    npy, npz                  → table and outcome
    feather.py        feather, arrow            → pyarrow table
    csv_table.py      csv, tsv, txt             → pandas DataFrame
    written_numbers.py  text of a column        → numbers, by the format that all its values have
    parquet.py        parquet                   → Table        (public as `interplay.parquet`)
    position_file.py  .bim, csv                 → positions of variables
    bed.py            PLINK bed, bim, fam       → Table        (public as `interplay.genetics`)
    h5ad.py           AnnData                   → Table        (public as `interplay.singlecell`)
"""
