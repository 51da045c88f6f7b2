"""Tables in Parquet files; see `interplay.readers.parquet`."""

from interplay.readers.parquet import ParquetTable, scan_parquet

__all__ = ["ParquetTable", "scan_parquet"]
