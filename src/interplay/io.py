"""Files → a table and its outcome; a table of results → a file."""

from interplay.readers.data_file import read_data
from interplay.show.results.result import write_table

__all__ = ["read_data", "write_table"]
