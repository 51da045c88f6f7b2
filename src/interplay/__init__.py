"""MultiDimensional Feature Selection: find the variables that are informative about an outcome, alone or together."""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from interplay import datasets, genetics, parquet, singlecell
from interplay.arrays import MaxGains
from interplay.engines.base import SearchInterrupted
from interplay.pipeline import select
from interplay.results.saved import load
from interplay.results.selection import Selection
from interplay.search.checkpoint import Checkpoint
from interplay.search.gains import max_information_gain
from interplay.shards import Part, merge_parts, search_shard
from interplay.statistics.few_samples import FewSamplesWarning
from interplay.statistics.null_fit import NullFit, fit_null
from interplay.steps.contrast import contrast_variables
from interplay.steps.discrete_codes import discretize, suggest_range
from interplay.tuples.interesting import interesting_tuples
from interplay.tuples.table import TuplesInterrupted, TupleTable

if _TYPE_CHECKING:
    from interplay.selector.selector import MDFSSelector

__version__ = _version("interplay")

__all__ = [
    "Checkpoint",
    "FewSamplesWarning",
    "MDFSSelector",
    "MaxGains",
    "NullFit",
    "Part",
    "SearchInterrupted",
    "Selection",
    "TupleTable",
    "TuplesInterrupted",
    "contrast_variables",
    "datasets",
    "discretize",
    "fit_null",
    "genetics",
    "interesting_tuples",
    "load",
    "max_information_gain",
    "merge_parts",
    "parquet",
    "search_shard",
    "select",
    "singlecell",
    "suggest_range",
]


def __getattr__(name: str) -> _Any:
    """Import MDFSSelector when it is first asked for: scikit-learn takes about a second."""
    if name == "MDFSSelector":
        from interplay.selector.selector import MDFSSelector

        globals()[name] = MDFSSelector
        return MDFSSelector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
