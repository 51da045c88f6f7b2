"""Files of our own: written whole or not at all, and never trusted when they are read.

::

    archive.py       a dataclass ↔ one file, a zip of JSON and .npy, read within bounds; tells when it is damaged;
                     never a pickle
    types.py         content read   → does it fit the annotations of its dataclass?
    whole_file.py    files that appear complete or not at all; a file for one search at a time
"""
