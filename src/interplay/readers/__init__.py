"""Files of other programs → tables, read by blocks of columns where the format allows.

::

    data_file.py   any file, by its ending   → table and outcome; a table of results → a file
    csv_table.py   csv, tsv, txt             → pandas DataFrame
    parquet.py     parquet                   → Table        (public as `interplay.parquet`)
    bed.py         PLINK bed, bim, fam       → Table        (public as `interplay.genetics`)
    h5ad.py        AnnData                   → Table        (public as `interplay.singlecell`)
"""
