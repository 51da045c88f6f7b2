"""MultiDimensional Feature Selection: find the variables that are informative about an outcome, alone or together.

Each name is imported when it is first asked for: the command line must be there to hear Ctrl-C before NumPy is, and
scikit-learn, which only MDFSSelector needs, takes about a second.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from interplay import datasets, genetics, parquet, singlecell, sites
    from interplay.ask.estimators.interaction_features import InteractionFeatures
    from interplay.ask.estimators.selector import MDFSSelector
    from interplay.ask.gains.call import max_information_gain
    from interplay.ask.interaction.call import interactions
    from interplay.ask.interaction.merge import merge_interactions
    from interplay.ask.planning.call import power
    from interplay.ask.selection.call import select
    from interplay.ask.selection.part import Part
    from interplay.ask.selection.shards import merge_parts, search_shard
    from interplay.ask.tuples.call import interesting_tuples
    from interplay.ask.tuples.table import TuplesInterrupted, TupleTable
    from interplay.base.tuples import MaxGains
    from interplay.data.codes.coder import discretize, suggest_range
    from interplay.data.codes.contrast import contrast_variables
    from interplay.infer.null_fit import FewSamplesWarning, NullFit, fit_null
    from interplay.search.checkpoint import Checkpoint
    from interplay.search.engines.base import SearchInterrupted
    from interplay.show.results.combined import Combined
    from interplay.show.results.interactions import Interactions
    from interplay.show.results.replicated import Replication
    from interplay.show.results.result import Traits
    from interplay.show.results.saved import load
    from interplay.show.results.selection import Selection
    from interplay.sites.combine import combine

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
    "Traits",
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
    "Combined": "interplay.show.results.combined",
    "FewSamplesWarning": "interplay.infer.null_fit",
    "InteractionFeatures": "interplay.ask.estimators.interaction_features",
    "Interactions": "interplay.show.results.interactions",
    "MDFSSelector": "interplay.ask.estimators.selector",
    "MaxGains": "interplay.base.tuples",
    "NullFit": "interplay.infer.null_fit",
    "Part": "interplay.ask.selection.part",
    "Replication": "interplay.show.results.replicated",
    "SearchInterrupted": "interplay.search.engines.base",
    "Selection": "interplay.show.results.selection",
    "Traits": "interplay.show.results.result",
    "TupleTable": "interplay.ask.tuples.table",
    "TuplesInterrupted": "interplay.ask.tuples.table",
    "combine": "interplay.sites.combine",
    "contrast_variables": "interplay.data.codes.contrast",
    "discretize": "interplay.data.codes.coder",
    "fit_null": "interplay.infer.null_fit",
    "interactions": "interplay.ask.interaction.call",
    "interesting_tuples": "interplay.ask.tuples.call",
    "load": "interplay.show.results.saved",
    "max_information_gain": "interplay.ask.gains.call",
    "merge_interactions": "interplay.ask.interaction.merge",
    "merge_parts": "interplay.ask.selection.shards",
    "power": "interplay.ask.planning.call",
    "search_shard": "interplay.ask.selection.shards",
    "select": "interplay.ask.selection.call",
    "suggest_range": "interplay.data.codes.coder",
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
