"""MultiDimensional Feature Selection: find the variables that are informative about an outcome, alone or together.

Each name is imported when it is first asked for: the command line must be there to hear Ctrl-C before NumPy is, and
scikit-learn, which only MDFSSelector needs, takes about a second.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from interplay import datasets, genetics, parquet, singlecell, sites
    from interplay.base.arrays import MaxGains
    from interplay.codes.coder import discretize, suggest_range
    from interplay.codes.contrast import contrast_variables
    from interplay.engines.base import SearchInterrupted
    from interplay.gains.call import max_information_gain
    from interplay.interaction.call import interactions
    from interplay.interaction.merge import merge_interactions
    from interplay.planning.call import power
    from interplay.results.combined import Combined
    from interplay.results.interactions import Interactions
    from interplay.results.replicated import Replication
    from interplay.results.saved import load
    from interplay.results.selection import Selection
    from interplay.search.checkpoint import Checkpoint
    from interplay.selection.call import select
    from interplay.selection.part import Part
    from interplay.selection.shards import merge_parts, search_shard
    from interplay.selector.interaction_features import InteractionFeatures
    from interplay.selector.selector import MDFSSelector
    from interplay.sites.combine import combine
    from interplay.statistics.few_samples import FewSamplesWarning
    from interplay.statistics.null_fit import NullFit, fit_null
    from interplay.tuples.call import interesting_tuples
    from interplay.tuples.table import TuplesInterrupted, TupleTable

    __version__: str

__all__ = [
    "Checkpoint",
    "Combined",
    "FewSamplesWarning",
    "InteractionFeatures",
    "Interactions",
    "MDFSSelector",
    "MaxGains",
    "NullFit",
    "Part",
    "Replication",
    "SearchInterrupted",
    "Selection",
    "TupleTable",
    "TuplesInterrupted",
    "combine",
    "contrast_variables",
    "datasets",
    "discretize",
    "fit_null",
    "genetics",
    "interactions",
    "interesting_tuples",
    "load",
    "max_information_gain",
    "merge_interactions",
    "merge_parts",
    "parquet",
    "power",
    "search_shard",
    "select",
    "singlecell",
    "sites",
    "suggest_range",
]


#: Where each name is from; what is not here is a module.
_HOME = {
    "Checkpoint": "interplay.search.checkpoint",
    "Combined": "interplay.results.combined",
    "FewSamplesWarning": "interplay.statistics.few_samples",
    "InteractionFeatures": "interplay.selector.interaction_features",
    "Interactions": "interplay.results.interactions",
    "MDFSSelector": "interplay.selector.selector",
    "MaxGains": "interplay.base.arrays",
    "NullFit": "interplay.statistics.null_fit",
    "Part": "interplay.selection.part",
    "Replication": "interplay.results.replicated",
    "SearchInterrupted": "interplay.engines.base",
    "Selection": "interplay.results.selection",
    "TupleTable": "interplay.tuples.table",
    "TuplesInterrupted": "interplay.tuples.table",
    "combine": "interplay.sites.combine",
    "contrast_variables": "interplay.codes.contrast",
    "discretize": "interplay.codes.coder",
    "fit_null": "interplay.statistics.null_fit",
    "interactions": "interplay.interaction.call",
    "interesting_tuples": "interplay.tuples.call",
    "load": "interplay.results.saved",
    "max_information_gain": "interplay.gains.call",
    "merge_interactions": "interplay.interaction.merge",
    "merge_parts": "interplay.selection.shards",
    "power": "interplay.planning.call",
    "search_shard": "interplay.selection.shards",
    "select": "interplay.selection.call",
    "suggest_range": "interplay.codes.coder",
}


def __getattr__(name: str) -> _Any:
    """Import what is asked for, once."""
    if name == "__version__":
        from importlib.metadata import version

        value: _Any = version("interplay")
    elif name in _HOME:
        value = getattr(_import_module(_HOME[name]), name)
    else:
        try:
            value = _import_module(f"interplay.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"interplay.{name}":  # a module of ours that lacks another
                raise
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
