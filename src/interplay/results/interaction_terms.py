"""Tuples of a result → the lists of interactions that other models take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import check_choice, check_flag

if TYPE_CHECKING:
    from interplay.results.interactions import Interactions

#: Programs whose lists can be written.
TERM_FORMS = ("ebm", "lightgbm", "xgboost", "names")


def interaction_terms(result: Interactions, form: str, *, only_significant: bool) -> list[Any] | str:
    """See `Interactions.terms`."""
    check_choice("form", form, TERM_FORMS)
    found = result.only_significant() if check_flag("only_significant", only_significant) else result
    tuples = [tuple(int(v) for v in members) for members in found.tested.tuples]
    if form == "ebm":
        return tuples
    if form == "names":
        return [tuple(result.names[v] for v in members) for members in tuples]
    # A variable in no list could not be used at all by LightGBM: all others act alone.
    inside = np.unique(found.tested.tuples) if tuples else np.empty(0, dtype=np.int64)
    others = np.setdiff1d(np.arange(len(result.names)), inside)
    constraints = [list(members) for members in tuples] + [[v] for v in others.tolist()]
    # XGBoost reads lists as names, which an array does not have; a text holds column numbers.
    return json.dumps(constraints) if form == "xgboost" else constraints
