"""Files of our own: written whole or not at all, and never trusted when they are read.

::

    whole_file.py    bytes          → a file that appears complete or not at all
    zip_content.py   a zip file     → its entries, within bounds
    archive.py       numbers and arrays ↔ a zip file that tells when it is damaged
    types.py         what was read  → whether it is what the annotations of a dataclass say
"""
