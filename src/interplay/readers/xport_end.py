"""A SAS transport file (.xpt) that ends early: its format has no number of rows, but shows where they must end.

Everything is in records of 80 bytes. After the header record OBS come the rows, one after the other, and blanks up to
the end of a record, or the header of another table. A part of a row that is not blank is what a lost end leaves.
"""

from __future__ import annotations

import mmap
import os
import re

_RECORD = 80
_NAMES = re.compile(rb"HEADER RECORD\*{7}(?:NAMESTR|NAMSTV8) HEADER RECORD!{7}\d{5}(?P<number>\d{5})")
_ROWS = re.compile(rb"HEADER RECORD\*{7}OBS(?:     |V8   )HEADER RECORD!{7}(?P<number>[ \d]{15})")
_NEXT = re.compile(rb"HEADER RECORD\*{7}MEMB(?:ER|V8)  HEADER RECORD!{7}")


def ends_early(path: str | os.PathLike[str], n_rows: int) -> bool:
    """Say whether a file, of which a reader got `n_rows`, lacks its end."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if len(content) % _RECORD:
            return True
        names, rows = _NAMES.search(content), _ROWS.search(content)
        if names is None or rows is None:
            return False  # of a kind that is not known here
        if n_rows < int(rows["number"].strip() or 0):  # version 8 has the number; 0 in version 5
            return True
        start = rows.start() + _RECORD
        following = _NEXT.search(content, start)
        end = len(content) if following is None else following.start()
        return content[start + n_rows * _row_bytes(content, names) : end].strip(b" ") != b""


def _row_bytes(content: mmap.mmap, names: re.Match[bytes]) -> int:
    """Add up the lengths of the variables: one description of 140 bytes (136 on VAX) for each."""
    member = content[names.start() - 4 * _RECORD : names.start()]
    size = 136 if member[74:78] == b"0136" else 140
    first = names.start() + _RECORD + 4  # where the length of the first variable is, of 2 bytes
    places = range(first, first + int(names["number"]) * size, size)
    return sum(int.from_bytes(content[place : place + 2], "big") for place in places)
