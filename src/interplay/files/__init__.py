"""Files of our own: written whole or not at all, and never trusted when they are read.

::

    codec.py         dataclasses and arrays ↔ a tree for JSON, and the arrays by name
    archive.py       a dataclass ↔ a zip file that tells when it is damaged
    types.py         content read   → does it fit the annotations of its dataclass?
    zip_content.py   a zip file     → its entries, within bounds
    whole_file.py    bytes          → a file that appears complete or not at all
    mapped_words.py  words of bit planes ↔ a file that is mapped into memory
    lock.py          a file         → the only search that uses it
"""
