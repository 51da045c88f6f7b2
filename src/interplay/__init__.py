"""MultiDimensional Feature Selection: which variables tell about a decision, alone or only together."""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from interplay import datasets
from interplay.arrays import MaxGains
from interplay.engines.base import SearchInterrupted
from interplay.pipeline import select
from interplay.result import Selection
from interplay.saved import load
from interplay.search import max_information_gain
from interplay.steps.contrast import contrast_variables
from interplay.steps.discrete_codes import discretize, suggest_range
from interplay.steps.null_fit import NullFit, fit_null

if _TYPE_CHECKING:
    from interplay.selector import MDFSSelector
    from interplay.tuple_table import TuplesInterrupted, TupleTable
    from interplay.tuples import interesting_tuples

__version__ = _version("interplay")

__all__ = [
    "MDFSSelector",
    "MaxGains",
    "NullFit",
    "SearchInterrupted",
    "Selection",
    "TupleTable",
    "TuplesInterrupted",
    "contrast_variables",
    "datasets",
    "discretize",
    "fit_null",
    "interesting_tuples",
    "load",
    "max_information_gain",
    "select",
    "suggest_range",
]


#: Imported when they are first asked for: scikit-learn takes about a second, and many scripts list no tuples.
_LATE = {
    "MDFSSelector": "interplay.selector",
    "TupleTable": "interplay.tuple_table",
    "TuplesInterrupted": "interplay.tuple_table",
    "interesting_tuples": "interplay.tuples",
}


def __getattr__(name: str) -> _Any:
    """Import what is seldom needed when it is first asked for."""
    if name in _LATE:
        globals()[name] = getattr(_import_module(_LATE[name]), name)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
