"""Files → a table and its outcome; a table of results → a file; see `interplay.readers.data_file`."""

from interplay.readers.data_file import read_data, write_table

__all__ = ["read_data", "write_table"]
