"""MultiDimensional Feature Selection: which variables tell about a decision, alone or only together."""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from interplay import datasets, genetics, parquet, singlecell
from interplay.arrays import MaxGains
from interplay.checkpoint import Checkpoint
from interplay.engines.base import SearchInterrupted
from interplay.pipeline import select
from interplay.result import Selection
from interplay.saved import load
from interplay.search import max_information_gain
from interplay.shards import Part, merge_parts, search_shard
from interplay.steps.contrast import contrast_variables
from interplay.steps.discrete_codes import discretize, suggest_range
from interplay.steps.few_samples import FewSamplesWarning
from interplay.steps.null_fit import NullFit, fit_null
from interplay.tuple_table import TuplesInterrupted, TupleTable
from interplay.tuples import interesting_tuples

if _TYPE_CHECKING:
    from interplay.selector import MDFSSelector

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
        from interplay.selector import MDFSSelector

        globals()[name] = MDFSSelector
        return MDFSSelector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
