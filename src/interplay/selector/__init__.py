"""`select` as a scikit-learn transformer.

::

    selector.py    MDFSSelector
    input.py       arguments of fit() → arguments of select()
    kept.py        Selection → variables that are kept, and the reasons for leaving out the others
    callbacks.py   scikit-learn's callbacks, where the installed version has them
"""

from interplay.selector.selector import MDFSSelector

__all__ = ["MDFSSelector"]
