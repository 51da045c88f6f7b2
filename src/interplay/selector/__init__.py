"""`select` as a scikit-learn transformer.

::

    selector.py    MDFSSelector
    input.py       what fit() is given → what select() takes
    kept.py        what select() found → what is kept, and why the rest is not
    callbacks.py   scikit-learn's callbacks, where the installed version has them
"""

from interplay.selector.selector import MDFSSelector

__all__ = ["MDFSSelector"]
