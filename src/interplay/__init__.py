"""MultiDimensional Feature Selection: which variables tell about a decision, alone or only together."""

from importlib.metadata import version as _version

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

__version__ = _version("interplay")

__all__ = [
    "MaxGains",
    "NullFit",
    "SearchInterrupted",
    "Selection",
    "contrast_variables",
    "datasets",
    "discretize",
    "fit_null",
    "load",
    "max_information_gain",
    "select",
    "suggest_range",
]
